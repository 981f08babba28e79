"""Threads behind a bounded FIFO queue, for work that would block the event loop."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from understudy.server.problems import Refused

__all__ = ["CLIENT_CLOSED_REQUEST", "MAX_THREADS", "RETRY_AFTER_S", "Disconnected", "WorkerPool"]

MAX_THREADS = 128
RETRY_AFTER_S = 2
CLIENT_CLOSED_REQUEST = 499  # nginx's status for a client that left; only the log shows it
TICK_S = 0.02  # interval at which a queue without progress is checked
CLOSE_S = 5.0  # how long work that nobody waits for any more may go on when the pool is closed
IDLE_CPU = 0.5  # processors in use, below which the running work is taken to wait for something

Result = TypeVar("Result")
Disconnected = Callable[[], Awaitable[None]]
"""Returns when the client has disconnected."""


class WorkerPool:
    """Runs `concurrency` jobs at once in FIFO order; a client that disconnects leaves the queue.

    Where `max_concurrency` is larger, more are started for as long as those that run leave the processors idle: they
    wait for a network, so the queue need not wait for them.
    """

    def __init__(self, concurrency: int, max_queue: int, max_concurrency: int | None = None) -> None:
        self._concurrency = self._limit = concurrency
        self._max_concurrency = max(concurrency, max_concurrency or concurrency)
        self._max_queue = max_queue
        self._running = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._working: set[Future[Any]] = set()
        self._threads = ThreadPoolExecutor(self._max_concurrency, thread_name_prefix="agent")

    @property
    def queue_length(self) -> int:
        return len(self._queue)

    async def run(self, work: Callable[[], Result], disconnected: Disconnected | None = None) -> Result:
        """`disconnected` is awaited only while the work is queued."""
        future = await self.start(work, disconnected)
        return await asyncio.shield(future)  # cancelling the caller does not free the thread any sooner

    async def start(
        self, work: Callable[[], Result], disconnected: Disconnected | None = None
    ) -> asyncio.Future[Result]:
        """The future of work that has begun, once a thread is free for it."""
        if self._running < self._limit and not self._queue:
            self._running += 1
        else:
            await self._wait_for_thread(disconnected)
        working = self._threads.submit(work)
        self._working.add(working)
        working.add_done_callback(self._working.discard)
        future = asyncio.wrap_future(working)
        future.add_done_callback(self._finish)
        return future

    async def _wait_for_thread(self, disconnected: Disconnected | None) -> None:
        if len(self._queue) >= self._max_queue:
            raise Refused(
                f"{len(self._queue)} others are waiting for a reply: try again in a moment",
                503,
                code="queue_full",
                retry_after=RETRY_AFTER_S,
            )
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._watch()
        try:
            if disconnected is None:
                await turn
            elif not await _comes_before(turn, disconnected):
                raise Refused("the client has disconnected", CLIENT_CLOSED_REQUEST)
        except BaseException:
            self._leave(turn)
            raise

    def _leave(self, turn: asyncio.Future[None]) -> None:
        if turn in self._queue:
            self._queue.remove(turn)
        elif turn.done() and not turn.cancelled():  # it got a thread while it was leaving: pass the thread on
            self._release()

    def _finish(self, future: asyncio.Future[Any]) -> None:
        if not future.cancelled():
            future.exception()  # marks it as retrieved: the caller may have been cancelled
        self._release()

    def _release(self) -> None:
        self._running -= 1
        self._admit()
        if self._running <= self._concurrency:
            self._limit = self._concurrency

    def _admit(self) -> None:
        while self._queue and self._running < self._limit:
            turn = self._queue.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def _watch(self) -> None:
        """Check again soon whether the running jobs leave the processors idle."""
        if self._timer is None and self._limit < self._max_concurrency:
            loop, now = asyncio.get_running_loop(), time.monotonic()
            self._timer = loop.call_later(TICK_S, self._widen, now, time.process_time())

    def _widen(self, since: float, cpu_since: float) -> None:
        self._timer = None
        if not self._queue:
            return
        cpu = (time.process_time() - cpu_since) / max(time.monotonic() - since, TICK_S)
        if cpu < IDLE_CPU:
            self._limit = min(2 * self._limit, self._max_concurrency)
            self._admit()
        if self._queue:
            self._watch()

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Work that cannot be stopped is left to its thread after `timeout_s`: it must not keep the server up."""
        if self._timer is not None:
            self._timer.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
        wait(tuple(self._working), timeout_s)


async def _comes_before(turn: asyncio.Future[None], disconnected: Disconnected) -> bool:
    """Whether the job gets a thread before the client disconnects."""
    leaving = asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait((turn, leaving), return_when=asyncio.FIRST_COMPLETED)
        return turn.done()
    finally:
        leaving.cancel()
