"""Readers of masked scenes: a transformer with a classifier head for each cast, fine-tuned together.

`prompt_format` has the input, `network` the formula. A scene gets other masks each time it is shown, so that nothing is
learned about the mask P0 itself. Scenes with a single main speaker are learned from too, with the whole cast as
candidates.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.guessing import Guesses, Masking, TrainingScenes
from understudy.guessing.assignment import named
from understudy.guessing.scenes import masks_of
from understudy.model_folder import ModelFolder, read_card, read_tensors, write_tensors
from understudy.persona import Persona
from understudy.story import Scene
from understudy.training.guessing.finetuning import (
    EVERY,
    HELD_BACK,
    Casts,
    Learner,
    check_share,
    finetune,
    held_back,
    read_casts,
)
from understudy.training.guessing.network import (
    HEAD,
    TRUNK,
    LabelledInput,
    Trunk,
    head_start,
    loss_of,
    open_trunk,
    scores_of,
    write_network,
)
from understudy.training.guessing.prompt_format import InputFormat, reader_input
from understudy.training.loop import Loss, Optimization, Progress, no_progress, select_device
from understudy.training.pretrained import Weights
from understudy.training.task import check_output

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["AGENT", "READERS", "ReaderGuesser", "ReaderSettings", "ReaderTask", "open_reader", "train_reader"]

AGENT = "scene-reader"
WEIGHTS = "head.safetensors"


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
        for name in ("epochs", "batch", "rate"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout is a share from 0 to below 1, not {self.dropout}")
        if self.together < 0:
            raise InputError(f"together is at least 0, not {self.together}")
        check_share(self.held_back)

    @property
    def optimization(self) -> Optimization:
        return Optimization(
            self.epochs, self.batch, self.rate, (0.9, 0.98), warmup=0.06, decay=0.01, longest=1.0, new=(HEAD,)
        )


READERS: dict[str, ReaderSettings] = {
    "vanilla": ReaderSettings(InputFormat("vanilla"), epochs=5, batch=64, together=0.0, among_cast=True),
    "multi-row": ReaderSettings(InputFormat("multi-row"), epochs=4, batch=32, together=0.5),
    "scene-pooling": ReaderSettings(InputFormat("scene-pooling"), epochs=5, batch=64, together=0.5),
}
"""What suited scenes held back, with MiniLM. A causal model has learned enough from scenes after two epochs."""


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
    scenes = [(title, scene) for title, lessons in training.items() for scene in _with_masks(lessons)]
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


def _with_masks(lessons: TrainingScenes) -> list[Scene]:
    main = set(lessons.main)
    return [scene for scene in lessons.scenes if any(line.speaker in main for line in scene.lines)]


def _loss(task: ReaderTask, casts: Casts, trunk: Trunk, scenes: Sequence[tuple[str, Scene]]) -> Loss:
    settings = task.settings

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        shown = [scenes[number] for number in batch.tolist()]
        inputs = [_question(title, scene, task, casts, trunk, step) for title, scene in shown]
        scores = scores_of(parameters, [question.encoded for question in inputs], trunk, casts.names, settings.dropout)
        return loss_of(scores, inputs, settings.among_cast, settings.together)

    return loss


def _question(title: str, scene: Scene, task: ReaderTask, casts: Casts, trunk: Trunk, step: int) -> LabelledInput:
    lessons = task.lessons[title]
    masked = Masking(lessons.main, lessons.names, seed=step).masked(scene)
    candidates = masked.candidates if len(masked.answers) > 1 else tuple(sorted(lessons.main))
    encoded = reader_input(masked.scene, candidates, title, task.settings.reading, trunk)
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

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        import torch

        masks, candidates = masks_of(masked), [persona.name for persona in personas]
        if not masks:
            return {}
        encoded = reader_input(masked, sorted(candidates), self._title, self._reading, self._trunk)
        with torch.no_grad():
            scores = scores_of(self._parameters, [encoded], self._trunk, self._casts.names)
        among = scores[:, list(self._casts.classes(self._title, candidates))]
        return named(masks, candidates, among.softmax(dim=1).double().cpu().numpy())


def open_reader(folder: Path, main: Sequence[str], device: str = "auto") -> ReaderGuesser:
    """The reader in a folder, for the cast that these main characters are of."""
    import torch

    card = read_card(folder, AGENT)
    casts = read_casts(card, folder)
    on = select_device(device)
    reading = card.get("settings", {}).get("reading")
    try:
        read = InputFormat(**reading)
    except (TypeError, InputError) as error:
        raise InputError(f"does not say how scenes are read ({error}): train the model again", folder) from error
    trunk = open_trunk(folder, on.type)
    trunk.network.eval()
    tensors, _ = read_tensors(folder / WEIGHTS)
    expected = {name: array.shape for name, array in head_start(trunk, len(casts.names), 0).items()}
    if {name: array.shape for name, array in tensors.items()} != expected:
        raise InputError("its head does not fit its transformer and casts: train the model again", folder)
    head = {name: torch.from_numpy(np.array(array)).to(on) for name, array in tensors.items()}
    return ReaderGuesser(trunk, head, casts, casts.title_of(main), read)
