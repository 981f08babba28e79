"""Readings under way, each in a task of its own: how far they are, and, for a while, which failed and why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from understudy.errors import UnderstudyError
from understudy.server.problems import Refused
from understudy.server.uploads.shelf import room
from understudy.server.uploads.store import SentFile

__all__ = ["Progress", "Readings"]

LOG = logging.getLogger("understudy.server")
MOST_FAILURES = 100  # that are remembered, to be asked about


@dataclass(slots=True)
class Progress:
    """A reading under way, or one that failed."""

    files: tuple[SentFile, ...]
    made: str
    known: bool = False
    """Is it kept already, and only read again?"""
    share: float = 0.0
    error: UnderstudyError | None = None
    task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self.task is not None and not self.task.done()


class Readings:
    def __init__(self) -> None:
        self._progress: dict[str, Progress] = {}

    def of(self, upload: str) -> Progress | None:
        """How far an upload is; None where it is read, or there is none."""
        return self._progress.get(upload)

    def all(self) -> list[tuple[str, Progress]]:
        """Those that run or have failed, newest first."""
        return list(reversed(self._progress.items()))

    def start(self, upload: str, progress: Progress, work: Coroutine[Any, Any, None]) -> None:
        self._progress[upload] = progress
        progress.task = asyncio.create_task(self._watched(upload, progress, work))
        failed = [name for name, one in self._progress.items() if one.error is not None and not one.known]
        for name in failed[:-MOST_FAILURES]:
            del self._progress[name]

    def advance(self, upload: str, share: float) -> None:
        if (progress := self._progress.get(upload)) is not None:
            progress.share = share

    async def wait(self, upload: str) -> None:
        """Until it is read; raises what is wrong with it where it cannot be."""
        progress = self._progress.get(upload)
        if progress is not None and progress.task is not None:
            await asyncio.wait({progress.task})
        if progress is not None and progress.error is not None:
            raise progress.error

    def forget(self, upload: str) -> None:
        self._progress.pop(upload, None)

    async def close(self) -> None:
        tasks = [one.task for one in self._progress.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watched(self, upload: str, progress: Progress, work: Coroutine[Any, Any, None]) -> None:
        try:
            with room():
                await work
            del self._progress[upload]
        except UnderstudyError as error:
            progress.error = error
        except Exception as error:  # its message may hold what somebody sent, so only its kind is written down
            LOG.error("an upload failed: %s", type(error).__name__)
            progress.error = Refused("the server failed to read this: try again", 500)
