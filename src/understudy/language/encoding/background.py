"""Many texts as vectors, encoded in a background thread, so that a long story does not delay a reply.

    few texts (or few that are not in the cache)   encoded at once
    many                                           a thread encodes them, batch by batch; whoever needs some of them
                                                   before it is done gets those encoded for it

One thread serves the whole process. It stands back while a reply is being made (`BACKGROUND.paused()`), ends when
there is nothing left to do, and is stopped between two batches when the program ends: what it has encoded by then is
in the cache. Who compares results, as a bench does, encodes everything first (`encoding_at_once()`).
"""

from __future__ import annotations

import atexit
import logging
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Thread

import numpy as np
from numpy.typing import NDArray

from understudy.language.encoding.sequences import Encoder, Floats

__all__ = ["AT_ONCE", "BACKGROUND", "BackgroundQueue", "TextVectors", "encoding_at_once"]

AT_ONCE = 512  # texts that are not worth a thread
BATCH = 128  # texts between two checks whether to pause or to stop

Step = Callable[[], bool]
"""Does a part of a job; False when nothing is left to do."""


class BackgroundQueue:
    """Runs jobs one after the other, step by step, in a thread that is there only while there are some."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._jobs: deque[Step] = deque()
        self._thread: Thread | None = None
        self._pauses = 0
        self.is_stopped = False

    def submit(self, step: Step) -> None:
        with self._condition:
            self._jobs.append(step)
            self._start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No step begins inside the block."""
        with self._condition:
            self._pauses += 1
        try:
            yield
        finally:
            with self._condition:
                self._pauses -= 1
                self._start()
                self._condition.notify_all()

    def stop(self) -> None:
        """Finish the step that is being done, and do no more."""
        with self._condition:
            self.is_stopped = True
            self._condition.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def after_fork(self) -> None:
        """A forked child has the jobs but not the thread; the lock may have been held by it."""
        self._condition, self._thread, self._pauses = Condition(), None, 0

    def _start(self) -> None:
        if self._thread is None and self._jobs and not self._pauses and not self.is_stopped:
            # a daemon, for Python would wait for another kind before it calls `stop`
            self._thread = Thread(target=self._run, name="understudy-background", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: not self._pauses or self.is_stopped)
                if self.is_stopped or not self._jobs:
                    self._thread = None
                    return
                step = self._jobs[0]
            try:
                is_more = step()
            except Exception:  # the caller that needs the result encodes it itself, and gets the error
                logging.getLogger(__name__).warning("a job in the background failed", exc_info=True)
                is_more = False
            with self._condition:
                if not is_more:
                    self._jobs.popleft()
            del step


BACKGROUND = BackgroundQueue()
atexit.register(BACKGROUND.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BACKGROUND.after_fork)

_at_once = 0


@contextmanager
def encoding_at_once() -> Iterator[None]:
    """Inside the block nothing is encoded in the background, so that replies are deterministic."""
    global _at_once
    _at_once += 1
    try:
        yield
    finally:
        _at_once -= 1


class TextVectors:
    """The vectors of texts, by their index; `is_complete` once all are there."""

    def __init__(self, texts: Sequence[str], encoder: Encoder) -> None:
        distinct = list(dict.fromkeys(texts))
        rows = {text: row for row, text in enumerate(distinct)}
        self._rows = np.array([rows[text] for text in texts], np.intp)
        self._texts, self._encoder = distinct, encoder
        self._vectors, self._present = encoder.cached(distinct)
        if _at_once or np.count_nonzero(~self._present) <= AT_ONCE:
            self._encode(np.flatnonzero(~self._present))
        else:
            BACKGROUND.submit(_step_of(self))

    @property
    def is_complete(self) -> bool:
        return bool(self._present.all())

    def complete(self) -> None:
        """Encode all that is missing, now."""
        self._encode(np.flatnonzero(~self._present))

    def of(self, indices: NDArray[np.intp]) -> Floats:
        """The vectors of the texts at these indices; missing ones are encoded."""
        rows = self._rows[indices]
        missing = np.unique(rows[~self._present[rows]])
        if len(missing):
            self._encode(missing)
        return np.asarray(self._vectors[rows])

    def step(self) -> bool:
        """Encode the next batch; the newest first, which are the likeliest to be asked for."""
        missing = np.flatnonzero(~self._present)
        self._encode(missing[-BATCH:])
        return len(missing) > BATCH

    def _encode(self, rows: NDArray[np.intp]) -> None:
        """Two threads may encode the same text, and get the same vector."""
        if len(rows):
            self._vectors[rows] = self._encoder.encode([self._texts[row] for row in rows.tolist()])
            self._present[rows] = True


def _step_of(vectors: TextVectors) -> Step:
    """The job of encoding them, which ends early once they are garbage-collected."""
    reference = weakref.ref(vectors)

    def step() -> bool:
        waiting = reference()
        return waiting is not None and waiting.step()

    return step
