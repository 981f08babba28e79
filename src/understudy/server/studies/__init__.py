"""Studies over HTTP: the participant's page behind a token, the organiser's dashboard behind the key (see `routes`).

Here is what their requests can reach: the store, and agreement figures that are not worked out too often.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request

from understudy.database import Database
from understudy.errors import Unreachable
from understudy.server.problems import Refused
from understudy.server.telemetry import Telemetry
from understudy.story.dialogue import Agent
from understudy.studies.results import answers_of
from understudy.studies.status import rows_of
from understudy.studies.store import StoredStudy, StudyStore, UnknownToken

Result = TypeVar("Result")
REPLIES_AT_ONCE = 4
UNCHANGED = 10  # times as long are figures shown where there are as many answers as before


@dataclass(frozen=True, slots=True)
class AgreementSnapshot:
    rows: list[dict[str, Any]]
    answers: int
    """How many answers there were when the rows were worked out."""
    worked_out: float


class AgreementCache:
    """The agreement of each study. Intervals are bootstrapped, so it is worked out at most once in `every_s` seconds
    for each study, and by one thread at a time; meanwhile the last figures are shown. What a kind reports of its own is
    left out: it names agents, and a study that still runs stays blind."""

    def __init__(self, every_s: float = 30.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._every_s, self._clock = every_s, clock
        self._snapshots: dict[int, AgreementSnapshot] = {}
        self._lock = Lock()

    def rows_of(self, store: StudyStore, stored: StoredStudy, answers: int) -> AgreementSnapshot:
        """`answers` is how many there are now; they are loaded only where the figures are worked out."""
        last = self._snapshots.get(stored.id)
        # Answers that were taken back and given anew leave their number as it was.
        wait_s = self._every_s if last is None or last.answers != answers else UNCHANGED * self._every_s
        if last is not None and self._clock() - last.worked_out < wait_s:
            return last
        if not self._lock.acquire(blocking=last is None):
            assert last is not None
            return last
        try:
            rows = rows_of(stored.study, answers_of(store, stored))
            snapshot = AgreementSnapshot(rows, answers, self._clock())
            self._snapshots[stored.id] = snapshot
            return snapshot
        finally:
            self._lock.release()


@dataclass(frozen=True, slots=True)
class StudyContext:
    store: StudyStore
    """Closed by its opener."""
    telemetry: Telemetry = field(default_factory=Telemetry)
    agreement: AgreementCache = field(default_factory=AgreementCache)
    agents: Mapping[str, Agent] = field(default_factory=dict)
    """Those that people may talk with, by the names that studies have for them."""
    replies: set[asyncio.Task[None]] = field(default_factory=set)
    """Of agents, being made: asyncio itself keeps only weak references to tasks."""
    reply_limiter: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(REPLIES_AT_ONCE))
    """Slow agents take threads of their own, not those in which people's answers are stored."""
    is_stopping: Event = field(default_factory=Event)
    """Set when the server stops: whoever waits for news is answered without."""


def study_context_of(request: Request) -> StudyContext:
    context = request.app.state.context
    assert isinstance(context, StudyContext)
    return context


async def use_store(request: Request, work: Callable[..., Result], *arguments: Any) -> Result:
    """Run `work(store, *arguments)` in a thread."""
    return await _in_thread(work, study_context_of(request).store, *arguments)


@dataclass(frozen=True, slots=True)
class LoginDatabase:
    """The study database as the organiser's logins use it, so that all processes on it know them."""

    store: StudyStore

    async def run(self, work: Callable[[Database], Result]) -> Result:
        return await _in_thread(self._within, self.store.database.transaction, work)

    async def read(self, work: Callable[[Database], Result]) -> Result:
        return await _in_thread(self._within, self.store.database.snapshot, work)

    def _within(
        self, context: Callable[[], AbstractContextManager[None]], work: Callable[[Database], Result]
    ) -> Result:
        with context():
            return work(self.store.database)


async def _in_thread(work: Callable[..., Result], *arguments: Any) -> Result:
    try:
        return await to_thread.run_sync(partial(work, *arguments))
    except UnknownToken as error:
        raise Refused(str(error), 404, code="unknown_token") from error
    except Unreachable as error:
        raise Refused(str(error), 507) from error
