"""Readers of masked scenes: a transformer with a classifier head for each cast, fine-tuned together.

`scene_tokens` has the input, `network` the formula. A scene gets other masks each time it is shown, so that nothing is
learned about the mask P0 itself. Scenes with a single main speaker are learned from too, with the whole cast as
candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.guessing.assignment import named
from understudy.guessing.scenes import Guesses, Masking, TrainingScenes, masks_of
from understudy.language.backends.transformer import CAUSAL, MASKED
from understudy.language.model_folder import ModelFolder, read_card, read_tensors, write_tensors
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.guessing import EVERY, HELD_BACK, Casts, Stories, begin, held_back, read_casts, write_figures
from understudy.training.guessing.network import (
    HEAD,
    LONGFORMER,
    TRUNK,
    LabelledInput,
    Trunk,
    head_start,
    loss_of,
    open_trunk,
    reading_of,
    scores_of,
)
from understudy.training.guessing.scene_tokens import (
    InputFormat,
    RecentScenes,
    reader_input,
    scenes_with_history,
    unmasked,
)
from understudy.training.loop import Loss, Optimization, Progress, no_progress, select_device
from understudy.training.pretrained import own_weights, write_network
from understudy.training.run import TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor


AGENT = "scene-reader"
WEIGHTS = "head.safetensors"
NUMBERINGS = 4  # of the masks, over which an answer is averaged


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """What decides a training besides lessons, base and seed.

    `together` is how much whole assignments count. `among_cast` lets everybody of the cast compete and not only those
    in the scene: for `vanilla`, which sees nothing of the scene, that was better; a reader of whole scenes learns from
    it who is in the scene, which is known. Of each story the last scenes are held back, to tell what was learned.
    """

    reading: InputFormat = field(default_factory=InputFormat)
    epochs: int = 2
    batch: int = 16
    rate: float = 1e-4
    dropout: float = 0.1
    together: float = 2.0
    among_cast: bool = False
    held_back: float = HELD_BACK

    def __post_init__(self) -> None:
        check_positive(self, "epochs", "batch", "rate")
        check_shares(self, "dropout", "held_back")
        if self.together < 0:
            raise InputError(f"together is at least 0, not {self.together}")

    @property
    def optimization(self) -> Optimization:
        return Optimization.of_transformer(self, untrained_prefixes=(HEAD,))


READERS: dict[str, ReaderSettings] = {
    "vanilla": ReaderSettings(InputFormat("vanilla"), epochs=5, batch=64, together=0.0, among_cast=True),
    "multi-row": ReaderSettings(InputFormat("multi-row"), epochs=4, batch=32, together=0.5),
    "scene-pooling": ReaderSettings(InputFormat("scene-pooling"), epochs=5, batch=64, together=0.5),
}
"""What suited scenes held back, with MiniLM."""

CAUSAL_READERS: dict[str, ReaderSettings] = {
    **{kind: replace(settings, epochs=2) for kind, settings in READERS.items()},
    "scene-pooling": ReaderSettings(InputFormat("scene-pooling", history=250), epochs=2, batch=16, together=2.0),
}
"""A causal model, which is larger, has learned enough from scenes after two epochs."""

LONG_READERS: dict[str, ReaderSettings] = {
    kind: replace(settings, epochs=20, batch=8, rate=2e-5, reading=replace(settings.reading, longest=2000))
    for kind, settings in READERS.items()
}
"""For a Longformer, as its paper has it: usually nothing more is learned after twenty epochs."""


def default_settings(kind: str, base: str | Path | None = None) -> ReaderSettings:
    """What suits a kind of reader that begins with this base."""
    readers = {CAUSAL: CAUSAL_READERS, LONGFORMER: LONG_READERS, MASKED: READERS}
    return readers[MASKED if base is None else reading_of(base)][kind]


Task = TrainingTask[Stories, ReaderSettings]


def train_reader(task: Task, progress: Progress = no_progress) -> ModelFolder:
    """Train a reader and write its folder: the transformer as Hugging Face lays it out, head and card beside it."""
    run = TrainingRun(task, progress)
    casts = Casts({title: lessons.main for title, lessons in task.data.items()})
    training, held_out = held_back(task.data, task.settings.held_back)
    trunk = open_trunk(task.base, run.device.type)
    scenes = [
        LessonScene(title, scene, before)
        for title, lessons in training.items()
        for scene, before in _with_masks(lessons, title, task.settings.reading, trunk)
    ]
    base = "installed" if task.base is None else Path(task.base).name
    begin(run, AGENT, task.settings.reading.kind, base, casts, training)
    start = {TRUNK + name: array for name, array in own_weights(trunk.network).items()}
    start |= head_start(trunk, len(casts.names), task.seed)
    trunk.network.train()
    learnt = run.fit(start, _loss(task, casts, trunk, scenes), len(scenes), task.settings.optimization, every=EVERY)
    own = {name.removeprefix(TRUNK): array for name, array in learnt.items() if name.startswith(TRUNK)}
    with run.output() as folder:
        write_network(folder, trunk.network, trunk.tokenizer, own)
        write_tensors(folder / WEIGHTS, {name: array for name, array in learnt.items() if name.startswith(HEAD)})
        card = write_figures(run, folder, open_reader, held_out)
    return ModelFolder(card, {}, task.out)


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


def _loss(task: Task, casts: Casts, trunk: Trunk, scenes: Sequence[LessonScene]) -> Loss:
    settings = task.settings

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        inputs = [_question(scenes[number], task, casts, trunk, step) for number in batch.tolist()]
        scores = scores_of(parameters, [question.encoded for question in inputs], trunk, casts.names, settings.dropout)
        return loss_of(scores, inputs, settings.among_cast, settings.together)

    return loss


def _question(shown: LessonScene, task: Task, casts: Casts, trunk: Trunk, step: int) -> LabelledInput:
    title, lessons = shown.title, task.data[shown.title]
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
