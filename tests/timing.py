"""How the time of a piece of work grows with its size, on whatever machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

__all__ = ["PATIENCE_S", "cpu_seconds", "growth", "until"]


FACTOR = 8
MEASURABLE_S = 0.02
"""Below this, what is measured is the clock and the allocator."""


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """CPU seconds of this process, the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times longer `work` takes for eight times the size: about 8 if it is linear, 64 if it is quadratic.

    Smaller sizes are raised until a run takes long enough to be measured.
    """
    small = cpu_seconds(partial(work, size))
    while small < MEASURABLE_S:
        size *= 2
        small = cpu_seconds(partial(work, size))
    return cpu_seconds(partial(work, FACTOR * size), 2) / small


# Waiting for what other threads and processes do, for as long as the slowest machine may take.


PATIENCE_S = 120
LOOK_EVERY_S = 0.01

Result = TypeVar("Result")


def until(condition: Callable[[], Result]) -> Result:
    """What the condition gives once that is true or not empty."""
    end = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(LOOK_EVERY_S)
    return result
