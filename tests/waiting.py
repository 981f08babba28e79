"""Waiting for what other threads and processes do, for as long as the slowest machine may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["PATIENCE_S", "until"]

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
