"""Where a training stands, in one file: weights, the optimizer's memory, and how many steps were made.

The order of the questions follows from seed and epoch, so the position says what chance has in store. The file is
replaced as a whole after every so many steps: whenever a training is killed, it goes on from the last one and ends with
the same weights, bit for bit, on the same processor.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.model_folder import Tensors, read_tensors, write_tensors

__all__ = ["Checkpoint", "place_of"]

FILE = "checkpoint.safetensors"

Plan = Mapping[str, Any]


def place_of(out: Path) -> Path:
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
        tensors, about = read_tensors(path)
        try:
            steps, plan = int(about["steps"]), json.loads(about["plan"])
        except (KeyError, ValueError) as error:
            raise InputError("is not a checkpoint: say --fresh to start over", path) from error
        wanted = json.loads(json.dumps(self.plan))
        if plan != wanted:
            told = ", ".join(_differences(plan if isinstance(plan, dict) else {}, wanted))
            raise InputError(
                f"belongs to another training ({told}): say --fresh to start over, or choose another --out", path
            )
        return steps, tensors

    def save(self, steps: int, state: Tensors) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {"steps": str(steps), "plan": json.dumps(self.plan, ensure_ascii=False)}
        write_tensors(self.folder / FILE, state, about)

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _differences(was: Mapping[str, Any], wanted: Mapping[str, Any], within: str = "") -> list[str]:
    told: list[str] = []
    for name in sorted({*was, *wanted}):
        before, now = was.get(name), wanted.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            told += _differences(before, now, f"{name} ")
        elif before != now:
            told.append(f"{within}{name} was {before}, now {now}")
    return told
