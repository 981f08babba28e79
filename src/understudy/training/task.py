"""A training task, its checkpoint, and the model folder it ends with: what all trainers share around their formula.

A checkpoint is one file: weights, the optimizer's state, and the number of steps made. The order of the examples
follows from seed and epoch, so the step number determines all that is drawn at random. The file is replaced atomically
every so many steps: a training that is killed resumes from the last one and ends with the same weights, bit for bit, on
the same processor.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from understudy import __version__
from understudy.errors import InputError
from understudy.language.model_folder import (
    CARD,
    FORMAT,
    ModelFolder,
    Tensors,
    read_tensors,
    write_model,
    write_tensors,
)

__all__ = [
    "CHECKPOINT_EVERY",
    "Checkpoint",
    "TrainingTask",
    "check_output",
    "check_positive",
    "check_shares",
    "checkpoint_folder",
    "provenance",
    "write_trained_model",
]

CHECKPOINT_EVERY = 50  # steps
FILE = "checkpoint.safetensors"

S = TypeVar("S")
Plan = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrainingTask(Generic[S]):
    """What to train on, how, and where to put it. `origin` is a model to take from, `base` the initial weights,
    `pairs` a folder of labelled pairs of sentences."""

    data: Path
    out: Path
    settings: S
    personas: str = "original"
    condition: str = "self"
    seed: int = 0
    device: str = "auto"
    origin: Path | None = None
    base: Path | None = None
    embeddings: Path | None = None
    fresh: bool = False
    every: int = CHECKPOINT_EVERY
    novels: Path | None = None
    pairs: Path | None = None


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


def write_trained_model(
    out: Path, card: Mapping[str, Any], tensors: Tensors, checkpoint: Checkpoint | None, seconds: float
) -> ModelFolder:
    """Write the model; only then is its checkpoint no longer needed."""
    model = write_model(out, {**card, **provenance(seconds)}, tensors)
    if checkpoint is not None:
        checkpoint.clear()
    return model


def provenance(seconds: float) -> dict[str, Any]:
    """What every card says of its making."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {"format": FORMAT, "understudy": __version__, "created": created, "seconds": round(seconds, 1)}
