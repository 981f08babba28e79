"""From weights to begin with and a loss to a model folder: what training has in common for every kind of guesser."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.dialogue import Guesser
from understudy.guessing import Lessons
from understudy.model_folder import ModelFolder, atomic_folder, write_card
from understudy.story import Scene
from understudy.training.checkpoint import Checkpoint, place_of
from understudy.training.course import about
from understudy.training.guessing.casts import Casts
from understudy.training.guessing.heldback import figures_of, learned
from understudy.training.loop import Loss, Progress, fit

if TYPE_CHECKING:
    from torch import device

__all__ = ["EVERY", "Arrays", "Learner", "finished"]

EVERY = 500  # steps between checkpoints, which hold a whole transformer three times
Arrays = Mapping[str, NDArray[np.float32]]


class Task(Protocol):
    """What is to be trained; `settings` say how, and have a `descent`."""

    @property
    def lessons(self) -> Mapping[str, Lessons]: ...
    @property
    def out(self) -> Path: ...
    @property
    def settings(self) -> Any: ...
    @property
    def seed(self) -> int: ...
    @property
    def fresh(self) -> bool: ...
    @property
    def every(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Learner:
    """What one kind of guesser brings: its weights, what is made small over `size` questions, and its files."""

    agent: str
    what: str
    base: str
    start: Arrays
    loss: Loss
    size: int
    write: Callable[[Path, Arrays], None]
    opened: Callable[[Path, Sequence[str], str], Guesser]


def finished(
    task: Task, learner: Learner, casts: Casts, taught: Mapping[str, Lessons],
    held: Mapping[str, Sequence[Scene]], on: device, begun: float, progress: Progress,
) -> ModelFolder:  # fmt: skip
    """Train to the end, from where it was stopped if it was, and write the folder with its card and figures."""
    plan: dict[str, Any] = {
        "agent": learner.agent,
        "what": f"Guesses who is speaking: {learner.what}",
        "base": learner.base,
        "casts": casts.told(),
        "data": learned(taught),
        "note": "Learned from scripts, and belongs to them: share it only if you may share them.",
        "settings": asdict(task.settings),
        "seed": task.seed,
    }
    checkpoint = Checkpoint(place_of(task.out), plan)  # not bound to a device: it may be finished on another machine
    if task.fresh:
        checkpoint.clear()
    learnt = fit(
        learner.start, learner.loss, learner.size, task.settings.descent, task.seed, on, checkpoint, progress,
        task.every,
    )  # fmt: skip
    card = {**plan, "device": on.type, **about(time.perf_counter() - begun)}
    with atomic_folder(task.out) as folder:
        learner.write(folder, learnt)
        write_card(folder, card)
        card["figures"] = figures_of(lambda main: learner.opened(folder, main, on.type), task.lessons, held)
        write_card(folder, card)
    checkpoint.clear()
    return ModelFolder(card, {}, task.out)
