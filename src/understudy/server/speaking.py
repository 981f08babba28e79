"""Lets an agent speak without holding up the server: so many replies at once, first come, first served."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from understudy.dialogue import Agent, Reply, Situation, Turn

__all__ = ["Speaking"]


class Speaking:
    """One agent for everybody. Agents hold no conversation, so one instance serves every chat at once."""

    def __init__(self, agent: Agent, at_once: int | None = None) -> None:
        self.agent = agent
        self._threads = ThreadPoolExecutor(at_once or os.cpu_count() or 1, thread_name_prefix="speaking")

    async def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self.agent.reply, situation, tuple(history)
        )

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
