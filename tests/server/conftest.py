"""A server for every test: an application over the brass key and the demo, and a real one on a port of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit, urlunsplit

import httpx
import pytest

from stories import brass_key
from understudy.agents import Scripted
from understudy.database.postgres import Postgres
from understudy.formats import read
from understudy.metrics.utterances import UtteranceStore
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.database import APPLICATION_ID
from understudy.server.http_server import ConnectionLimits, ListeningSocket, make_server
from understudy.server.middleware import GuardMiddleware
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads import service
from understudy.story.dialogue import Agent
from understudy.story.storyfile import Story
from uploading import read_in_thread

SCRIPT = [f"This is the line numbered {number}." for number in range(1, 101)]
ADDRESS = "http://127.0.0.1"


@pytest.fixture(scope="session")
def stories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Story]:
    """The two stories that are on: `brass-key` (two acts of two scenes) and `demo`."""
    return {"brass-key": read(brass_key(tmp_path_factory.mktemp("stories") / "brass-key")), "demo": read("demo")}


MakeContext = Callable[..., AppContext]


@pytest.fixture
def make_context(stories: dict[str, Story], tmp_path: Path) -> Iterator[MakeContext]:
    """Makes contexts, each on a database of its own and with a scripted agent that tells its words at once; closed
    when the test ends."""
    contexts: list[AppContext] = []

    def make(
        agent: Agent | Mapping[str, Agent] | None = None,
        concurrency: int | None = None,
        utterances: UtteranceStore | None = None,
        database: str | None = None,
    ) -> AppContext:
        folder = tmp_path / f"server-{len(contexts) + 1}"
        registry = StoryRegistry(stories)
        contexts.append(
            AppContext.open(
                registry,
                agent or Scripted(SCRIPT),
                folder,
                concurrency,
                utterances,
                database_address=database,
                looks_for_people=False,  # nothing goes on once a request is answered
            )
        )
        contexts[-1].chats.pace_s = 0
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def address(postgres: str) -> Iterator[str]:
    """An empty database of a real PostgreSQL."""
    around = Postgres(postgres, APPLICATION_ID, "the test")
    around.rows("ALTER SYSTEM SET fsync = off")  # nor does a test kill the machine
    around.rows("SELECT pg_reload_conf()")
    around.rows("DROP DATABASE IF EXISTS of_a_server WITH (FORCE)")
    around.rows("CREATE DATABASE of_a_server")
    yield urlunsplit(urlsplit(postgres)._replace(path="/of_a_server"))
    around.rows("DROP DATABASE of_a_server WITH (FORCE)")
    around.close()


@pytest.fixture
def context(make_context: MakeContext) -> AppContext:
    return make_context()


@pytest.fixture
def app(context: AppContext) -> GuardMiddleware:
    return make_app(context)


@pytest.fixture
def reading_in_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads need no process to be read: for tests of what becomes of them, not of the process."""
    monkeypatch.setattr(service, "read_in_process", read_in_thread)


@asynccontextmanager
async def visiting(app: GuardMiddleware) -> AsyncIterator[httpx.AsyncClient]:
    """A client within the process, as from a browser on this machine."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
        yield client


Ask = Callable[..., httpx.Response]


@pytest.fixture
def ask(app: GuardMiddleware) -> Ask:
    """One request: ask("GET", "/api/stories", params=...)."""

    def ask(method: str, path: str, **options: object) -> httpx.Response:
        async def send() -> httpx.Response:
            async with visiting(app) as client:
                return await client.request(method, path, **options)  # type: ignore[arg-type]

        return asyncio.run(send())

    return ask


@contextmanager
def serving(app: GuardMiddleware, limits: ConnectionLimits | None = None, is_graceful: bool = True) -> Iterator[str]:
    """The application behind a real server on a free port of the loopback address; gives its URL.

    It stops as it does for its users, who are told their replies to the end, unless that is not wanted.
    """
    with ListeningSocket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = make_server(app, limits=limits)
        started = Thread(target=lambda: asyncio.run(server._serve([listening])), daemon=True)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.listen(128)
        started.start()
        try:
            yield url
        finally:
            server.force_exit = not is_graceful
            server.should_exit = True
            started.join(120)
            assert not started.is_alive(), "the server does not stop"


@pytest.fixture
def served(app: GuardMiddleware) -> Iterator[str]:
    """The URL of a real server."""
    with serving(app) as url:
        yield url
