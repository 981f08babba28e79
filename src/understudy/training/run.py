"""A training from its task to the model folder it ends with: what all trainers share around their formula.

    run = TrainingRun(task, progress)         the output can be written, the device is there; the clock starts
    run.begin(plan)                           what decides the result, and how far a stopped training has come
    learnt = run.fit(start, loss, size, optimization)
    with run.output() as folder:              the folder appears whole; only then is the checkpoint cleared
        ...

A checkpoint is one file: weights, the optimizer's state, and the number of steps made. The order of the examples
follows from seed and epoch, so the step number determines all that is drawn at random. The file is replaced atomically
every so many steps: a training that is killed resumes from the last one and ends with the same weights, bit for bit, on
the same processor.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from understudy import __version__
from understudy.errors import InputError
from understudy.language.model_folder import (
    CARD,
    FORMAT,
    ModelFolder,
    Tensors,
    atomic_folder,
    read_tensors,
    write_model,
    write_tensors,
)
from understudy.training.loop import (
    ALONE,
    Loss,
    Optimization,
    Progress,
    Workers,
    fit,
    no_progress,
    on_device,
    select_device,
)

if TYPE_CHECKING:
    from torch import Tensor, device


CHECKPOINT_EVERY = 50  # steps
FILE = "checkpoint.safetensors"
LOSSES = "held_back_losses"  # epoch by epoch, from before the first

Data = TypeVar("Data", covariant=True)
Settings = TypeVar("Settings", covariant=True)
Plan = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrainingTask(Generic[Data, Settings]):
    """What to learn from, how, and where the model goes.

    `data` is a folder, or what else the trainer learns from. `base` are the initial weights (a folder, a file, a name
    at Hugging Face), `origin` another model to take from. `personas` are those of PersonaChat's training file to show,
    `condition` whose ('none', 'self', 'their', 'both'). `embeddings` is a file of initial word vectors, `pairs` a
    folder of labelled pairs of sentences, `tokenizer` a folder with another than the base's. `merged` writes an
    adapter's sum with its base. `fresh` starts over and replaces what is there. A checkpoint is saved `every` so many
    steps; without a number, as often as suits its size.
    """

    data: Data
    out: Path
    settings: Settings
    base: str | Path | None = None
    personas: str = "original"
    condition: str = "self"
    seed: int = 0
    device: str = "auto"
    origin: Path | None = None
    embeddings: Path | None = None
    pairs: Path | None = None
    tokenizer: Path | None = None
    merged: bool = False
    fresh: bool = False
    every: int | None = None

    @property
    def base_folder(self) -> Path | None:
        return None if self.base is None else Path(self.base)


def check_positive(settings: object, *names: str) -> None:
    """Settings of these names must be above 0."""
    for name in names:
        if not getattr(settings, name) > 0:
            raise InputError(f"{name} must be above 0, not {getattr(settings, name)}")


def check_shares(settings: object, *names: str) -> None:
    """Settings of these names must be shares, from 0 to below 1."""
    for name in names:
        if not 0 <= getattr(settings, name) < 1:
            raise InputError(f"{name} is a share from 0 to below 1, not {getattr(settings, name)}")


def check_output(out: Path, fresh: bool) -> None:
    """An existing model is replaced only if asked (`fresh`), and anything that is not a model never."""
    if out.exists() and not fresh:
        raise InputError("is there already: choose another --out, or say --fresh to replace it", out)
    if out.exists() and not (out / CARD).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is there already and is no model folder: choose another --out", out)


def checkpoint_folder(out: Path) -> Path:
    """The folder beside a model-to-be that holds its checkpoint."""
    return out.with_name(f"{out.name}.partial")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint of one training; `plan` is all that decides its result."""

    folder: Path
    plan: Plan

    def part(self, name: str, **more: Any) -> Checkpoint:
        """The checkpoint of a part of the training."""
        return Checkpoint(self.folder / name, {**self.plan, **more})

    def load(self) -> tuple[int, Tensors] | None:
        """(steps made, state) of a training that was stopped; None where there is none."""
        path = self.folder / FILE
        if not path.is_file():
            return None
        tensors, metadata = read_tensors(path)
        try:
            steps, plan = int(metadata["steps"]), json.loads(metadata["plan"])
        except (KeyError, ValueError) as error:
            raise InputError("is not a checkpoint: say --fresh to start over", path) from error
        wanted = json.loads(json.dumps(self.plan))
        if plan != wanted:
            differences = ", ".join(_differences(plan if isinstance(plan, dict) else {}, wanted))
            raise InputError(
                f"belongs to another training ({differences}): say --fresh to start over, or choose another --out", path
            )
        return steps, tensors

    def save(self, steps: int, state: Tensors) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        metadata = {"steps": str(steps), "plan": json.dumps(self.plan, ensure_ascii=False)}
        write_tensors(self.folder / FILE, state, metadata)

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _differences(was: Mapping[str, Any], wanted: Mapping[str, Any], within: str = "") -> list[str]:
    differences: list[str] = []
    for name in sorted({*was, *wanted}):
        before, now = was.get(name), wanted.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            differences += _differences(before, now, f"{name} ")
        elif before != now:
            differences.append(f"{within}{name} was {before}, now {now}")
    return differences


class EarlyStopping:
    """Keeps the weights of the epoch with the lowest loss on held-back data, beside the checkpoint.

    Called after each epoch (0: before the first): whether the loss has not fallen for `patience` epochs. A resumed
    training may evaluate an epoch a second time, with the same result.
    """

    def __init__(self, measure: Callable[[Mapping[str, Tensor]], float], checkpoint: Checkpoint, patience: int) -> None:
        self._measure, self._checkpoint, self._patience = measure, checkpoint, patience
        _, state = checkpoint.load() or (0, {})
        self.losses: list[float] = [float(value) for value in state.get(LOSSES, ())]
        self.parameters: Tensors = {name: np.array(tensor) for name, tensor in state.items() if name != LOSSES}

    def __call__(self, parameters: Mapping[str, Tensor], epoch: int) -> bool:
        loss = self._measure(parameters)
        self.losses = [*self.losses[:epoch], loss if np.isfinite(loss) else np.inf]  # a training may diverge
        if self.losses[-1] == min(self.losses):
            self.parameters = {name: tensor.detach().cpu().numpy().copy() for name, tensor in parameters.items()}
        self._checkpoint.save(epoch, {**self.parameters, LOSSES: np.array(self.losses)})
        return self.is_over

    @property
    def best_epoch(self) -> int:
        return int(np.argmin(self.losses))

    @property
    def is_over(self) -> bool:
        return bool(self.losses) and len(self.losses) - 1 - self.best_epoch >= self._patience


class TrainingRun:
    """One run of a task (in one process of several, where there are several); the module's docstring has its course."""

    def __init__(
        self,
        task: TrainingTask[Any, Any],
        progress: Progress = no_progress,
        *,
        uses_torch: bool = True,
        workers: Workers = ALONE,
    ) -> None:
        check_output(task.out, task.fresh)
        self.task, self.progress, self.workers = task, progress, workers
        self._uses_torch = uses_torch
        if uses_torch:
            self.device: device = select_device(task.device) if workers.device is None else workers.device
        self._begun = time.perf_counter()

    def begin(self, plan: Plan) -> None:
        """`plan` is all that decides the result beside settings and seed; a checkpoint with another is refused.

        It names the device only where a training cannot be finished on another machine.
        """
        decided = {"settings": asdict(self.task.settings), "seed": self.task.seed}
        self.plan: Plan = {**plan, **{name: value for name, value in decided.items() if name not in plan}}
        self.checkpoint = Checkpoint(checkpoint_folder(self.task.out), self.plan)
        self.workers.wait()  # all have looked at what is there before the first one changes it
        if self.task.fresh and self.workers.is_first:
            self.checkpoint.clear()
        self.workers.wait()

    def early_stopping(self, measure: Callable[[Mapping[str, Tensor]], float], patience: int) -> EarlyStopping:
        """To be handed to `fit`; `measure` gives the loss on held-back data."""
        return EarlyStopping(measure, self.checkpoint.part("best"), patience)

    def fit(
        self,
        start: Tensors,
        loss: Loss,
        size: int,
        optimization: Optimization,
        *,
        checkpoint: Checkpoint | None = None,
        progress: Progress | None = None,
        seed: int | None = None,
        every: int = CHECKPOINT_EVERY,
        best: EarlyStopping | None = None,
    ) -> Tensors:
        """The weights that minimise the loss over `size` examples; with `best`, those of the best epoch.

        A part of a training has a checkpoint, progress and seed of its own. Checkpoints are `every` so many steps,
        unless the task says otherwise.
        """
        if best is not None and not best.losses:
            best({name: on_device(tensor, self.device) for name, tensor in start.items()}, 0)
        if best is not None and best.is_over:
            return best.parameters
        learnt = fit(
            start, loss, size, optimization, self.task.seed if seed is None else seed, self.device,
            checkpoint or self.checkpoint, progress or self.progress, self.task.every or every, best, self.workers,
        )  # fmt: skip
        return learnt if best is None else best.parameters

    def card(self, **more: Any) -> dict[str, Any]:
        """The plan, what came of it, and what every card says of its making."""
        created = datetime.now(UTC).isoformat(timespec="seconds")
        seconds = round(time.perf_counter() - self._begun, 1)
        made = {"format": FORMAT, "understudy": __version__, "created": created, "seconds": seconds}
        device = {"device": self.device.type} if self._uses_torch else {}
        return {**self.plan, **device, **more, **made}

    @contextmanager
    def output(self) -> Iterator[Path]:
        """The model folder, to be filled; only when it is in its place the checkpoint is no longer needed."""
        with atomic_folder(self.task.out) as folder:
            yield folder
        self.checkpoint.clear()

    def write(self, card: Mapping[str, Any], tensors: Tensors) -> ModelFolder:
        """Write a model of a card and weights."""
        model = write_model(self.task.out, card, tensors)
        self.checkpoint.clear()
        return model
