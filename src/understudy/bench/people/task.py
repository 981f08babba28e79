"""What a task of `bench people` is, is given, and returns.

A row is {task, metric, value, low, high, n, paper}, with further keys that say what was judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.bench.run import Row, figure_row
from understudy.metrics.statistics import Interval
from understudy.progress import Progress, ignore_progress

__all__ = ["BenchInputs", "Row", "Task", "missing", "row"]


@dataclass(frozen=True, slots=True)
class BenchInputs:
    """What a task is given."""

    data: Path
    judge: Path | None = None
    """Data of one's own in the same layout: judged in the place of the one in `data`, never learned from."""
    limit: int | None = None
    """How many items of a task to judge at most: a sample drawn with the seed."""
    seed: int = 0
    progress: Progress = ignore_progress

    @property
    def judged(self) -> Path:
        return self.data if self.judge is None else self.judge


@dataclass(frozen=True, slots=True)
class Task:
    """A task, and the files under the data folder that it reads, as glob patterns."""

    run: Callable[[BenchInputs], list[Row]]
    files: tuple[str, ...] = ()


def row(task: str, metric: str, figure: Interval | float, n: int, **judged: Any) -> Row:
    """A figure, with its interval where it has one; the keys of `judged` say of what, with which model."""
    return figure_row({"task": task, **judged}, metric, (figure, n))


def missing(task: str, metric: str, reason: str, **judged: Any) -> Row:
    """A figure that could not be had, and why."""
    return figure_row({"task": task, **judged}, metric, reason)
