"""How long work reports how far it is, and how another thread that waits in it is told to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and out of how much."""


def ignore_progress(_doing: str, _done: int, _total: int) -> None:
    """For callers that do not show progress."""


class Cancellation:
    """A request to stop. Whoever blocks registers how it can be woken: closing a socket, stopping a model.

    cancellation = Cancellation()
    with cancellation.callback(connection.abort):    # in the thread that works
        connection.read()
    cancellation.cancel()                            # in any other thread
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._is_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def cancel(self) -> None:
        """Ask for the work to stop; calling it again does nothing."""
        with self._lock:
            if self._is_cancelled:
                return
            self._is_cancelled = True
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback()

    @contextmanager
    def callback(self, call: Callable[[], None]) -> Iterator[None]:
        """`call` runs on cancellation while inside the block; at once where it was cancelled before."""
        with self._lock:
            already = self._is_cancelled
            self._callbacks.append(call)
        try:
            if already:
                call()
            yield
        finally:
            with self._lock:
                self._callbacks.remove(call)
