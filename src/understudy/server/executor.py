"""Runs agents off the event loop: a thread pool with a bounded FIFO queue. A disconnected client leaves the queue; a
running reply cannot be cancelled."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from understudy.dialogue import Agent, Reply, Situation, Turn
from understudy.server.problems import Refused

__all__ = ["CLIENT_CLOSED_REQUEST", "RETRY_AFTER_S", "AgentExecutor", "Disconnected"]

MAX_QUEUE = 1_000
RETRY_AFTER_S = 2
CLIENT_CLOSED_REQUEST = 499  # nginx's status for a client that left; only the log shows it

Result = TypeVar("Result")
Disconnected = Callable[[], Awaitable[None]]
"""Returns when the client has disconnected."""


class AgentExecutor:
    """One agent for all clients. Agents hold no conversation, so one instance serves every chat at once.

    `concurrency` is the number of threads, by default one per processor.
    """

    def __init__(self, agent: Agent, concurrency: int | None = None, max_queue: int = MAX_QUEUE) -> None:
        self.agent = agent
        self.replies_total = 0
        self._idle = concurrency or os.cpu_count() or 1
        self._max_queue = max_queue
        self._queue: deque[asyncio.Future[None]] = deque()
        self._threads = ThreadPoolExecutor(self._idle, thread_name_prefix="agent")

    @property
    def queue_length(self) -> int:
        return len(self._queue)

    async def reply(
        self, situation: Situation, history: Sequence[Turn], disconnected: Disconnected | None = None
    ) -> Reply:
        """The agent's reply. `disconnected` is awaited only while the request is queued."""
        reply = await self.run(partial(self.agent.reply, situation, tuple(history)), disconnected)
        self.replies_total += 1
        return reply

    async def run(self, work: Callable[[], Result], disconnected: Disconnected | None = None) -> Result:
        """Run other CPU-bound work in the same queue."""
        if self._idle and not self._queue:
            self._idle -= 1
        else:
            await self._wait_for_thread(disconnected)
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(self._finish)
        return await asyncio.shield(future)  # cancelling the caller does not free the thread any sooner

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
            self._release_thread()

    def _finish(self, future: asyncio.Future[Any]) -> None:
        if not future.cancelled():
            future.exception()  # marks it as retrieved: the caller may have been cancelled
        self._release_thread()

    def _release_thread(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._idle += 1

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


async def _comes_before(turn: asyncio.Future[None], disconnected: Disconnected) -> bool:
    """Whether the turn comes before the client disconnects."""
    leaving = asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait((turn, leaving), return_when=asyncio.FIRST_COMPLETED)
        return turn.done()
    finally:
        leaving.cancel()
