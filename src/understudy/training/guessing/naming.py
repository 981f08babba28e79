"""`naming`: under which names is the scene likeliest? A causal model that has learned the scenes with their names.

    score(a)    = sum over the scene's tokens t of ln P(t | what stands before it), the masks named by a
    P(a)        ~ exp(TEMPER score(a))

What stands before it is also what happened just before in the same chapter. Where there are too many namings to score
each, `likely` says which.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.guessing import Guesses, Lessons
from understudy.guessing.assignment import spread_over
from understudy.guessing.learning import named
from understudy.guessing.pieces import masks_of
from understudy.lexical.rows import Ints, Reals
from understudy.metrics.neural import CAUSAL, Transformer, open_transformer
from understudy.model_folder import ModelFolder, read_card
from understudy.persona import Persona
from understudy.story import Scene
from understudy.training.bert import precision
from understudy.training.course import must_be_free
from understudy.training.guessing.casts import Casts, read_casts
from understudy.training.guessing.finishing import EVERY, Learner, finished
from understudy.training.guessing.heldback import HELD_BACK, held_back, share_checked
from understudy.training.guessing.likely import namings_scored
from understudy.training.guessing.told import chunks, told, unmasked
from understudy.training.guessing.trunk import Words, alike, write_network
from understudy.training.loop import Descent, Loss, Progress, device_named, unwatched

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["AGENT", "NamingGuesser", "NamingSettings", "NamingTask", "open_naming", "train_naming"]

AGENT = "naming"
ROOM = 1 << 13  # tokens that go through the network at once
TEMPER = 0.3  # the model is too sure of itself: what suited scenes held back


@dataclass(frozen=True, slots=True)
class NamingSettings:
    """What decides a training besides lessons, base and seed; `history` is how many tokens of the past are read.

    Of each story the last scenes are held back, to tell what was learned.
    """

    epochs: int = 2
    batch: int = 8
    rate: float = 2e-4
    window: int = 1600
    history: int = 400
    held_back: float = HELD_BACK

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "rate", "window"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.history < 0:
            raise InputError(f"history is at least 0, not {self.history}")
        share_checked(self.held_back)

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.batch, self.rate, (0.9, 0.98), warmup=0.06, decay=0.01, longest=1.0)


@dataclass(frozen=True, slots=True)
class NamingTask:
    """Lessons by the title of their story, the causal model to begin with, and where the trained one goes."""

    lessons: Mapping[str, Lessons]
    base: str | Path
    out: Path
    settings: NamingSettings
    seed: int = 0
    device: str = "auto"
    fresh: bool = False
    every: int = EVERY


def train_naming(task: NamingTask, progress: Progress = unwatched) -> ModelFolder:
    """Teach a causal model the lessons, and write its folder as Hugging Face lays it out, with a card beside."""
    must_be_free(task.out, task.fresh)
    on = device_named(task.device)
    begun = time.perf_counter()
    casts = Casts({title: lessons.main for title, lessons in task.lessons.items()})
    taught, held = held_back(task.lessons, task.settings.held_back)
    model = open_transformer(task.base, on.type)
    if model.kind != CAUSAL:
        raise InputError("is no causal language model, and namings are scored by one: choose another base", task.base)
    words = Words(model.tokenizer, model.network.config)
    window = min(task.settings.window, words.longest)
    shown = [
        chunk
        for title, lessons in taught.items()
        for chunk in chunks(lessons.scenes, lessons.main, title, words, window)
    ]
    model.network.train()
    learner = Learner(
        AGENT,
        "a language model of scenes with their names",
        Path(task.base).name,
        {name: tensor.detach().cpu().numpy().copy() for name, tensor in model.network.named_parameters()},
        _loss(model, shown),
        len(shown),
        lambda folder, learnt: write_network(folder, model.network, model.tokenizer, learnt),
        open_naming,
    )
    return finished(task, learner, casts, taught, held, on, begun, progress)


def _loss(model: Transformer, shown: Sequence[Sequence[int]]) -> Loss:
    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        from torch.func import functional_call
        from torch.nn.functional import cross_entropy

        given = model.batch([shown[number] for number in batch.tolist()])
        with precision(given["input_ids"].device):
            logits = functional_call(model.network, dict(parameters), (), given).logits[:, :-1]
        real = given["attention_mask"][:, 1:] == 1
        return cross_entropy(logits[real].float(), given["input_ids"][:, 1:][real])

    return loss


class NamingGuesser:
    """A trained model, asked about one cast of those it was taught; it remembers what was told of the chapter."""

    def __init__(self, model: Transformer, title: str, main: Sequence[str], settings: NamingSettings) -> None:
        self._model, self._title, self._main = model, title, tuple(main)
        self._words = Words(model.tokenizer, model.network.config)
        self._history = min(settings.history, self._words.longest // 2)
        self._window = min(settings.window, self._words.longest - self._history)
        self._past: list[int] = []
        self._chapter: tuple[int, ...] = ()

    def remember(self, scene: Scene) -> None:
        self._turned(scene)
        speaking = {line.speaker for line in scene.lines}
        cast = [who for who in self._main if who in speaking]
        for tokens, _ in told(scene, cast, self._title, self._words, self._window):
            self._past += tokens
        if len(self._past) > self._history:
            cut = len(self._past) - self._history
            line_end = self._words.split[-1]
            begin = next((at + 1 for at in range(cut, len(self._past)) if self._past[at] == line_end), len(self._past))
            self._past = self._past[begin:]

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        self._turned(masked)
        masks, candidates = masks_of(masked), [persona.name for persona in personas]
        if not masks:
            return {}

        def scored(ways: Ints) -> Reals:
            namings = [dict(zip(masks, (candidates[at] for at in way))) for way in ways]
            return self._scores([_named(masked, names) for names in namings], candidates)

        ways, scores = namings_scored(len(masks), len(candidates), scored)
        raised = np.exp(TEMPER * (scores - scores.max()))
        return named(masks, candidates, spread_over(ways, raised / raised.sum(), len(candidates)))

    def _turned(self, scene: Scene) -> None:
        """Another chapter begins: what was said in the last one is not said just before."""
        if scene.moment.numbers[:2] != self._chapter:
            self._past, self._chapter = [], scene.moment.numbers[:2]

    def _scores(self, scenes: Sequence[Scene], candidates: Sequence[str]) -> Reals:
        before = [self._words.first, *self._past]
        asked = [
            (number, before + tokens, len(before) + heading)
            for number, scene in enumerate(scenes)
            for tokens, heading in told(scene, candidates, self._title, self._words, self._window)
        ]
        found = np.zeros(len(scenes))
        for rows in alike([len(tokens) for _, tokens, _ in asked], ROOM):
            values = self._log_probs([asked[row][1:] for row in rows])
            for row, value in zip(rows, values):
                found[asked[row][0]] += value
        return found

    def _log_probs(self, asked: Sequence[tuple[list[int], int]]) -> list[float]:
        """The log-probability of each sequence's tokens from a place on."""
        import torch

        given = self._model.batch([tokens for tokens, _ in asked])
        with torch.no_grad(), precision(given["input_ids"].device):
            logs = self._model.network(**given).logits[:, :-1].float().log_softmax(-1)
        own = logs.gather(-1, given["input_ids"][:, 1:, None])[..., 0]
        return [float(own[row, begin - 1 : len(tokens) - 1].sum()) for row, (tokens, begin) in enumerate(asked)]


def _named(scene: Scene, names: Mapping[str, str]) -> Scene:
    lines = tuple(replace(line, speaker=who) for line, who in zip(scene.lines, unmasked(scene, names)))
    return replace(scene, lines=lines)


def open_naming(folder: Path, main: Sequence[str], device: str = "auto") -> NamingGuesser:
    """The model in a folder, for the cast that these main characters are of."""
    card = read_card(folder, AGENT)
    casts = read_casts(card, folder)
    try:
        settings = NamingSettings(**card.get("settings", {}))
    except (TypeError, InputError) as error:
        raise InputError(f"does not say how it reads ({error}): train the model again", folder) from error
    title = casts.title_of(main)
    return NamingGuesser(open_transformer(folder, device_named(device).type), title, casts.told()[title], settings)
