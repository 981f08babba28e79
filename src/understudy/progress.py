"""How long work reports how far it is."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "ignore_progress"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and out of how much."""


def ignore_progress(_doing: str, _done: int, _total: int) -> None:
    """For callers that do not show progress."""
