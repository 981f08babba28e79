"""A number of tokens that several requests share."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from understudy.cancellation import Cancellation

__all__ = ["TokenBudget"]


class TokenBudget:
    """Grants tokens first come, first served: a large request is not starved by small ones behind it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = self._free = capacity
        self._changed = Condition()
        self._queue: deque[object] = deque()

    @contextmanager
    def reserve(self, tokens: int, cancellation: Cancellation) -> Iterator[bool]:
        """Wait for that many tokens, all of them if there are no more; False where it was cancelled meanwhile."""
        tokens = min(tokens, self._capacity)
        ticket = object()
        with cancellation.callback(self._wake), self._changed:
            self._queue.append(ticket)
            self._changed.wait_for(
                lambda: cancellation.is_cancelled or (self._queue[0] is ticket and self._free >= tokens)
            )
            self._queue.remove(ticket)
            is_granted = not cancellation.is_cancelled
            if is_granted:
                self._free -= tokens
            self._changed.notify_all()
        try:
            yield is_granted
        finally:
            if is_granted:
                with self._changed:
                    self._free += tokens
                    self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
