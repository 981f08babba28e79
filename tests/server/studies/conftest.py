"""A study server within the process, and requests to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from studyserver import study_store
from understudy.server.access import AccessPolicy
from understudy.server.middleware import GuardMiddleware, RequestLimits
from understudy.server.studies import StudyContext
from understudy.server.studies.routes import make_study_app
from understudy.studies.store import StudyStore

KEY = "a long and quite random key"
AS_ORGANISER = {"Authorization": f"Bearer {KEY}"}
ADDRESS = "http://127.0.0.1"

AskStudy = Callable[..., httpx.Response]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StudyStore]:
    with study_store(tmp_path) as store:
        yield store


def study_app(store: StudyStore, limits: RequestLimits | None = None) -> GuardMiddleware:
    """One that others can reach, and that so needs a key."""
    policy = AccessPolicy.for_host("0.0.0.0", KEY)
    return make_study_app(StudyContext(store), policy, limits or RequestLimits(token_burst=1_000, burst=10_000))


def request(app: GuardMiddleware, method: str, path: str, **options: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


@pytest.fixture
def ask(store: StudyStore) -> AskStudy:
    """One request, as anybody: ask("GET", "/api/studies", headers=AS_ORGANISER)."""
    app = study_app(store)
    return lambda method, path, **options: request(app, method, path, **options)
