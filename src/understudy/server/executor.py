"""Lets an agent speak without holding up the server: so many replies at once, first come, first served.

Who has to wait, waits in a queue of bounded length; who goes away while waiting leaves it, and is never answered. What
an agent has begun to say it says to the end, in a thread: a thread cannot be stopped.
"""

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

__all__ = ["AgentExecutor", "Gone"]

WAITING = 1_000
RETRY_AFTER = 2  # seconds
CLIENT_GONE = 499  # a status that nobody is left to read, but the log is

Made = TypeVar("Made")
Gone = Callable[[], Awaitable[None]]
"""Comes back when whoever asked has gone."""


class AgentExecutor:
    """One agent for everybody. Agents hold no conversation, so one instance serves every chat at once."""

    def __init__(self, agent: Agent, at_once: int | None = None, waiting: int = WAITING) -> None:
        self.agent = agent
        self.given = 0
        self._free = at_once or os.cpu_count() or 1
        self._most_waiting = waiting
        self._queue: deque[asyncio.Future[None]] = deque()
        self._threads = ThreadPoolExecutor(self._free, thread_name_prefix="speaking")

    @property
    def waiting(self) -> int:
        return len(self._queue)

    async def reply(self, situation: Situation, history: Sequence[Turn], gone: Gone | None = None) -> Reply:
        """What the agent says, when it is this one's turn. `gone` is waited for while waiting for the turn."""
        reply = await self.run(partial(self.agent.reply, situation, tuple(history)), gone)
        self.given += 1
        return reply

    async def run(self, work: Callable[[], Made], gone: Gone | None = None) -> Made:
        """Other work that keeps a processor busy, in the same queue."""
        if self._free and not self._queue:
            self._free -= 1
        else:
            await self._turn(gone)
        under_way = asyncio.get_running_loop().run_in_executor(self._threads, work)
        under_way.add_done_callback(self._done)
        return await asyncio.shield(under_way)  # who goes away now does not free the thread any sooner

    async def _turn(self, gone: Gone | None) -> None:
        if len(self._queue) >= self._most_waiting:
            raise Refused(
                f"{len(self._queue)} others are waiting for a reply: try again in a moment",
                503,
                code="queue_full",
                retry_after=RETRY_AFTER,
            )
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            if gone is None:
                await turn
            elif not await _before(turn, gone):
                raise Refused("whoever asked has gone", CLIENT_GONE)
        except BaseException:
            self._leave(turn)
            raise

    def _leave(self, turn: asyncio.Future[None]) -> None:
        if turn in self._queue:
            self._queue.remove(turn)
        elif turn.done() and not turn.cancelled():  # its turn came while it was leaving: the next one's, then
            self._next()

    def _done(self, under_way: asyncio.Future[Any]) -> None:
        if not under_way.cancelled():
            under_way.exception()  # told to whoever still waits; nobody may
        self._next()

    def _next(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


async def _before(turn: asyncio.Future[None], gone: Gone) -> bool:
    """Does the turn come before they are gone?"""
    leaving = asyncio.ensure_future(gone())
    try:
        await asyncio.wait((turn, leaving), return_when=asyncio.FIRST_COMPLETED)
        return turn.done()
    finally:
        leaving.cancel()
