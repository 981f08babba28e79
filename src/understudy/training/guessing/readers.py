"""Readers of masked scenes: a transformer with a classifier head for each cast, fine-tuned together.

`reader_input` has the input, `network` the formula. A scene gets other masks each time it is shown, so that nothing is
learned about the mask P0 itself. Scenes with a single main speaker are learned from too, with the whole cast as
candidates.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.guessing import Guesses, Masking, TrainingScenes
from understudy.guessing.assignment import named
from understudy.guessing.scenes import masks_of
from understudy.language.model_folder import ModelFolder, read_card, read_tensors, write_tensors
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.guessing.finetuning import EVERY, Casts, Learner, finetune, held_back, read_casts
from understudy.training.guessing.network import HEAD, LabelledInput, head_start, loss_of, scores_of
from understudy.training.guessing.prompt_format import unmasked
from understudy.training.guessing.reader_input import InputFormat, reader_input
from understudy.training.guessing.reader_settings import ReaderSettings
from understudy.training.guessing.recent_scenes import RecentScenes, scenes_with_history
from understudy.training.guessing.trunk import TRUNK, Trunk, open_trunk, write_network
from understudy.training.loop import Loss, Progress, no_progress, select_device
from understudy.training.pretrained import Weights
from understudy.training.task import check_output

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["AGENT", "ReaderGuesser", "ReaderTask", "open_reader", "reading_format", "train_reader"]

AGENT = "scene-reader"
WEIGHTS = "head.safetensors"
NUMBERINGS = 4  # of the masks, over which an answer is averaged


@dataclass(frozen=True, slots=True)
class ReaderTask:
    """TrainingScenes by the title of their story, and where the model goes; without a base it begins with MiniLM."""

    lessons: Mapping[str, TrainingScenes]
    out: Path
    settings: ReaderSettings
    base: str | Path | None = None
    seed: int = 0
    device: str = "auto"
    fresh: bool = False
    every: int = EVERY


def train_reader(task: ReaderTask, progress: Progress = no_progress) -> ModelFolder:
    """Train a reader and write its folder: the transformer as Hugging Face lays it out, head and card beside it."""
    check_output(task.out, task.fresh)
    on = select_device(task.device)
    begun = time.perf_counter()
    casts = Casts({title: lessons.main for title, lessons in task.lessons.items()})
    training, held_out = held_back(task.lessons, task.settings.held_back)
    trunk = open_trunk(task.base, on.type)
    scenes = [
        LessonScene(title, scene, before)
        for title, lessons in training.items()
        for scene, before in _with_masks(lessons, title, task.settings.reading, trunk)
    ]
    start = {name: tensor.detach().cpu().numpy().copy() for name, tensor in trunk.parameters().items()}
    trunk.network.train()

    def write(folder: Path, learnt: Weights) -> None:
        own = {name.removeprefix(TRUNK): array for name, array in learnt.items() if name.startswith(TRUNK)}
        write_network(folder, trunk.network, trunk.tokenizer, own)
        write_tensors(folder / WEIGHTS, {name: array for name, array in learnt.items() if name.startswith(HEAD)})

    learner = Learner(
        AGENT,
        task.settings.reading.kind,
        "installed" if task.base is None else Path(task.base).name,
        start | head_start(trunk, len(casts.names), task.seed),
        _loss(task, casts, trunk, scenes),
        len(scenes),
        write,
        open_reader,
    )
    return finetune(task, learner, casts, training, held_out, on, begun, progress)


@dataclass(frozen=True, slots=True)
class LessonScene:
    """A scene with names, the title of its story, and the tokens of what happened just before it."""

    title: str
    scene: Scene
    before: Sequence[int]


def _with_masks(
    lessons: TrainingScenes, title: str, reading: InputFormat, trunk: Trunk
) -> Iterator[tuple[Scene, list[int]]]:
    """The scenes that somebody can be masked in, each with what happened just before."""
    main = set(lessons.main)
    for scene, before in scenes_with_history(lessons.scenes, _recent_scenes(trunk, lessons.main, title, reading)):
        if any(line.speaker in main for line in scene.lines):
            yield scene, before


def _recent_scenes(trunk: Trunk, main: Sequence[str], title: str, reading: InputFormat) -> RecentScenes:
    return RecentScenes(trunk, main, title, min(reading.window, trunk.longest), reading.history)


def _loss(task: ReaderTask, casts: Casts, trunk: Trunk, scenes: Sequence[LessonScene]) -> Loss:
    settings = task.settings

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        inputs = [_question(scenes[number], task, casts, trunk, step) for number in batch.tolist()]
        scores = scores_of(parameters, [question.encoded for question in inputs], trunk, casts.names, settings.dropout)
        return loss_of(scores, inputs, settings.among_cast, settings.together)

    return loss


def _question(shown: LessonScene, task: ReaderTask, casts: Casts, trunk: Trunk, step: int) -> LabelledInput:
    title, lessons = shown.title, task.lessons[shown.title]
    masked = Masking(lessons.main, lessons.names, seed=step).masked(shown.scene)
    candidates = masked.candidates if len(masked.answers) > 1 else tuple(sorted(lessons.main))
    encoded = reader_input(masked.scene, candidates, title, task.settings.reading, trunk, shown.before)
    return LabelledInput(
        encoded,
        casts.classes(title, candidates),
        casts.classes(title, [masked.answers[mask] for mask in encoded.masks]),
        casts.classes(title, lessons.main),
    )


class ReaderGuesser:
    """A trained reader, asked about one cast of those it was taught."""

    def __init__(
        self, trunk: Trunk, head: Mapping[str, Tensor], casts: Casts, title: str, reading: InputFormat
    ) -> None:
        self._trunk, self._casts, self._title, self._reading = trunk, casts, title, reading
        self._parameters = {**trunk.parameters(), **head}
        self._recent = _recent_scenes(trunk, casts.to_json()[title], title, reading)

    def remember(self, scene: Scene) -> None:
        self._recent.remember(scene)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        import torch

        masks, candidates = masks_of(masked), [persona.name for persona in personas]
        if not masks:
            return {}
        before, names = self._recent.before(masked), sorted(candidates)
        batch = [
            reader_input(renumbered, names, self._title, self._reading, self._trunk, before)
            for renumbered in _renumberings(masked, masks, self._reading)
        ]
        with torch.no_grad():
            scores = scores_of(self._parameters, batch, self._trunk, self._casts.names)
        among = scores[:, list(self._casts.classes(self._title, candidates))].log_softmax(dim=1)
        mean = among.reshape(len(batch), len(masks), len(candidates)).mean(dim=0)
        return named(masks, candidates, mean.softmax(dim=1).double().cpu().numpy())


def _renumberings(scene: Scene, masks: Sequence[str], reading: InputFormat) -> Iterator[Scene]:
    """The scene under some numberings of its masks. Numbers mean nothing, yet a model may heed them a little.

    The order in which masks first speak stays the same. `vanilla` never reads them.
    """
    yield scene
    for shift in range(1, 1 if reading.kind == "vanilla" else min(len(masks), NUMBERINGS)):
        renamed = {mask: masks[(number + shift) % len(masks)] for number, mask in enumerate(masks)}
        lines = tuple(replace(line, speaker=who) for line, who in zip(scene.lines, unmasked(scene, renamed)))
        yield replace(scene, lines=lines)


def reading_format(card: Mapping[str, Any], folder: Path) -> InputFormat:
    """How the reader with this card reads scenes."""
    try:
        return InputFormat(**card.get("settings", {}).get("reading"))
    except (TypeError, InputError) as error:
        raise InputError(f"does not say how scenes are read ({error}): train the model again", folder) from error


def open_reader(folder: Path, main: Sequence[str], device: str = "auto") -> ReaderGuesser:
    """The reader in a folder, for the cast that these main characters are of."""
    import torch

    card = read_card(folder, AGENT)
    casts = read_casts(card, folder)
    on = select_device(device)
    read = reading_format(card, folder)
    trunk = open_trunk(folder, on.type)
    trunk.network.eval()
    tensors, _ = read_tensors(folder / WEIGHTS)
    expected = {name: array.shape for name, array in head_start(trunk, len(casts.names), 0).items()}
    if {name: array.shape for name, array in tensors.items()} != expected:
        raise InputError("its head does not fit its transformer and casts: train the model again", folder)
    head = {name: torch.from_numpy(np.array(array)).to(on) for name, array in tensors.items()}
    return ReaderGuesser(trunk, head, casts, casts.title_of(main), read)
