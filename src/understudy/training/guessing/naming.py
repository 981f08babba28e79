"""The guesser `naming`: a causal model of scenes with their names says under which assignment a scene is likeliest.

    score(a)    = sum over the scene's tokens t of ln P(t | tokens before it), the masks named by assignment a
    P(a)        ~ exp(TEMPERATURE score(a))

The context includes what happened just before in the same chapter. `score_assignments` chooses those that
are scored.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.guessing.assignment import all_assignments, best_assignment, named, spread_over
from understudy.guessing.scenes import Guesses, TrainingScenes, masks_of
from understudy.language.backends.transformer import CAUSAL, Transformer, length_batches, open_transformer
from understudy.language.lexical.rows import Ints, Reals
from understudy.language.model_folder import ModelFolder, read_card
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.bert import precision
from understudy.training.guessing import EVERY, HELD_BACK, Casts, Stories, begin, held_back, read_casts, write_figures
from understudy.training.guessing.network import fits, half_precision
from understudy.training.guessing.scene_tokens import RecentScenes, SceneTokenizer, chunks, scene_prompts, unmasked
from understudy.training.loop import Loss, Optimization, Progress, no_progress, select_device
from understudy.training.pretrained import own_weights, write_network
from understudy.training.run import TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor


AGENT = "naming"
IGNORED = -100  # padding, which nothing is learned from
ROOM = 1 << 13  # tokens whose namings are scored at once: each has a logit for every word
TEMPERATURE = 0.3  # the model is overconfident; chosen on held-back scenes


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
        check_positive(self, "epochs", "batch", "rate", "window")
        if self.history < 0:
            raise InputError(f"history is at least 0, not {self.history}")
        check_shares(self, "held_back")

    @property
    def optimization(self) -> Optimization:
        return Optimization.of_transformer(self)


Task = TrainingTask[Stories, NamingSettings]


def train_naming(task: Task, progress: Progress = no_progress) -> ModelFolder:
    """Teach a causal model the lessons, and write its folder as Hugging Face lays it out, with a card beside."""
    run = TrainingRun(task, progress)
    base, casts = str(task.base), Casts({title: lessons.main for title, lessons in task.data.items()})
    training, held_out = held_back(task.data, task.settings.held_back)
    model = open_transformer(base, run.device.type)
    if model.kind != CAUSAL:
        raise InputError("is no causal language model, and namings are scored by one: choose another base", base)
    words = SceneTokenizer(model.tokenizer, model.network.config)
    window = min(task.settings.window, words.longest)
    shown = [
        chunk
        for title, lessons in training.items()
        for chunk in chunks(_with_somebody(lessons), lessons.main, title, words, window)
    ]
    begin(run, AGENT, "a language model of scenes with their names", Path(base).name, casts, training)
    model.network.train()
    start = own_weights(model.network)
    learnt = run.fit(start, _loss(model, shown), len(shown), task.settings.optimization, every=EVERY)
    with run.output() as folder:
        write_network(folder, model.network, model.tokenizer, learnt)
        card = write_figures(run, folder, open_naming, held_out)
    return ModelFolder(card, {}, task.out)


def _with_somebody(lessons: TrainingScenes) -> list[Scene]:
    """The scenes in which somebody of the cast speaks: others teach nothing of them."""
    main = set(lessons.main)
    return [scene for scene in lessons.scenes if any(line.speaker in main for line in scene.lines)]


def _loss(model: Transformer, shown: Sequence[Sequence[int]]) -> Loss:
    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        from torch.func import functional_call
        from torch.nn.functional import cross_entropy

        texts = [shown[number] for number in batch.tolist()]
        own = half_precision(parameters)
        total: Any = 0.0
        for rows in length_batches([len(text) for text in texts], fits):
            inputs = model.batch([texts[row] for row in rows])
            ids, real = inputs["input_ids"], inputs["attention_mask"]
            # padding stands at the end, where a causal model has nothing more to read: it needs no attention mask
            logits = functional_call(model.network, own, (), {"input_ids": ids}).logits[:, :-1]
            wanted = ids[:, 1:].masked_fill(real[:, 1:] == 0, IGNORED)
            total = total + cross_entropy(
                logits.flatten(0, 1).float(), wanted.flatten(), ignore_index=IGNORED, reduction="sum"
            )
        mean: Tensor = total / sum(len(text) - 1 for text in texts)
        return mean

    return loss


class NamingGuesser:
    """A trained model for one of the casts it has learned; it keeps the scenes of the current chapter as context."""

    def __init__(self, model: Transformer, title: str, main: Sequence[str], settings: NamingSettings) -> None:
        self._model, self._title = model, title
        self._words = SceneTokenizer(model.tokenizer, model.network.config)
        history = min(settings.history, self._words.longest // 2)
        self._window = min(settings.window, self._words.longest - history)
        self._recent = RecentScenes(self._words, main, title, self._window, history)

    def remember(self, scene: Scene) -> None:
        self._recent.remember(scene)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        before = [self._words.first, *self._recent.before(masked)]
        masks, candidates = masks_of(masked), [persona.name for persona in personas]
        if not masks:
            return {}

        def scored(ways: Ints) -> Reals:
            namings = [dict(zip(masks, (candidates[at] for at in assignment))) for assignment in ways]
            return self._scores(before, [_named(masked, names) for names in namings], candidates)

        ways, scores = score_assignments(len(masks), len(candidates), scored)
        raised = np.exp(TEMPERATURE * (scores - scores.max()))
        return named(masks, candidates, spread_over(ways, raised / raised.sum(), len(candidates)))

    def _scores(self, before: list[int], scenes: Sequence[Scene], candidates: Sequence[str]) -> Reals:
        prompts = [
            (number, *part)
            for number, scene in enumerate(scenes)
            for part in scene_prompts(scene, candidates, self._title, self._words, self._window)
        ]
        _, tokens, heading = prompts[0]
        past = _ReadTokens(self._model.network, before + tokens[:heading])  # read once for all namings
        continuations = [prompt[begin:] for _, prompt, begin in prompts]
        scores = np.zeros(len(scenes))
        lengths = [len(past.tokens) + len(continuation) for continuation in continuations]
        for rows in length_batches(lengths, lambda count, longest: count * longest <= ROOM):
            inputs = self._model.batch([continuations[row] for row in rows])
            for row, value in zip(rows, past.log_probs(inputs["input_ids"], inputs["attention_mask"])):
                scores[prompts[row][0]] += value
        return scores


class _ReadTokens:
    """Tokens that a causal model has read, to go on from."""

    def __init__(self, network: Any, tokens: list[int]) -> None:
        import torch

        self.tokens, self._network = tokens, network
        ids = torch.tensor([tokens], device=network.device)
        with torch.no_grad(), precision(ids.device):
            read = network(input_ids=ids, use_cache=True)
        self._cache, self._last = read.past_key_values, read.logits[:, -1:].float()

    def log_probs(self, ids: Tensor, real: Tensor) -> list[float]:
        """The log-probability of each of these continuations, which are padded at their ends."""
        import torch

        cache = copy.deepcopy(self._cache)
        cache.batch_repeat_interleave(len(ids))
        with torch.no_grad(), precision(ids.device):
            # padding stands at the end, where a causal model has nothing more to read: it needs no attention mask
            logits = self._network(input_ids=ids, past_key_values=cache, use_cache=True).logits[:, :-1].float()
        logs = torch.cat([self._last.expand(len(ids), -1, -1), logits], dim=1).log_softmax(-1)
        values: list[float] = (logs.gather(-1, ids[..., None])[..., 0] * real).sum(dim=1).tolist()
        return values


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
    return NamingGuesser(open_transformer(folder, select_device(device).type), title, casts.to_json()[title], settings)


# The likeliest of many assignments, where scoring one is costly.
#
# Up to four candidates all assignments are scored. Beyond that some are drawn at random; ridge regression on their
# scores estimates what each pair of mask and candidate adds, and the assignments that are best by that, without and
# with noise, are scored too.

FEW = 4  # candidates whose assignments are all scored
DRAWN = 48
RIDGE = 1.0


def score_assignments(masks: int, candidates: int, scored: Callable[[Ints], Reals]) -> tuple[Ints, Reals]:
    """Assignments that matter, a row each, and their scores; all of them where they are few."""
    if candidates <= FEW:
        assignments = all_assignments(masks, candidates)
        return assignments, scored(assignments)
    rng = np.random.default_rng(masks)
    drawn = np.unique([rng.permutation(candidates)[:masks] for _ in range(DRAWN)], axis=0)
    scores = scored(drawn)
    shares = _shares(drawn, scores, candidates)
    noise = rng.gumbel(scale=max(float(shares.std()), 1e-6), size=(DRAWN, *shares.shape))
    noise[0] = 0
    likely = np.unique([best_assignment(shares + more) for more in noise], axis=0)
    known = {tuple(assignment) for assignment in drawn.tolist()}
    fresh = np.array(
        [assignment for assignment in likely.tolist() if tuple(assignment) not in known], dtype=np.int64
    ).reshape(-1, masks)
    if not len(fresh):
        return drawn, scores
    return np.concatenate((drawn, fresh)), np.concatenate((scores, scored(fresh)))


def _shares(assignments: Ints, scores: Reals, candidates: int) -> Reals:
    """How much each pair of mask and candidate adds to a score, as far as some namings tell (ridge regression)."""
    masks = assignments.shape[1]
    features = np.full((len(assignments), masks * candidates), -1.0 / candidates)
    features[np.arange(len(assignments))[:, None], np.arange(masks) * candidates + assignments] += 1
    regularized = features.T @ features + RIDGE * np.eye(features.shape[1])
    shares: Reals = np.linalg.solve(regularized, features.T @ (scores - scores.mean())).reshape(masks, candidates)
    return shares
