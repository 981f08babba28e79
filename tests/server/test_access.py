"""The second key: with it one talks and reads, and every other operation and page is refused."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from starlette.routing import Route

from server.conftest import MakeContext, visiting
from server.test_middleware import KEY, ask, visit
from studyserver import filled as lines_to_review
from understudy.errors import InputError
from understudy.server.access import (
    COOKIE,
    READER_MAY,
    SESSION_S,
    AccessPolicy,
    AccessRole,
    Sessions,
    login_routes,
    session_token,
)
from understudy.server.app import OPERATIONS, PAGES, make_app
from understudy.server.middleware import GuardMiddleware

READERS = "another long and random key"
LOGIN = login_routes(Sessions(cast(Any, None), AccessPolicy()))
ROUTES = [
    *(operation.route() for operation in OPERATIONS),
    *PAGES,
    *login_routes(Sessions(cast(Any, None), AccessPolicy())),
]
ENDPOINTS = sorted({(method, route.path) for route in ROUTES for method in route.methods or () if method != "HEAD"})
PARAMETERS = {"story": "brass-key", "name": "Ines", "model": "brass-key/Ines"}
AS_READER = {"Authorization": f"Bearer {READERS}"}
AS_AUTHOR = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture
def app(make_context: MakeContext, tmp_path: Path) -> Iterator[GuardMiddleware]:
    with closing(lines_to_review(tmp_path / "lines.db")) as lines:
        yield make_app(make_context(utterances=lines), AccessPolicy.for_host("0.0.0.0", KEY, reader_key=READERS))


def filled(path: str) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda match: PARAMETERS.get(match[1], "1"), path)


def refused(response: httpx.Response) -> bool:
    return response.status_code == 403 and response.json()["error"]["code"] == "authors_only"


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_a_reader_may_do_what_is_listed_and_nothing_else(app: GuardMiddleware, method: str, path: str) -> None:
    answer = ask(app, method, filled(path), headers=AS_READER)
    assert refused(answer) == ((method, path) not in READER_MAY)
    assert not refused(ask(app, method, filled(path), headers=AS_AUTHOR))
    if method == "GET":
        head = ask(app, "HEAD", filled(path), headers=AS_READER)
        assert (head.status_code == 403) == ((method, path) not in READER_MAY)


def test_everything_listed_is_there_and_what_authors_do_is_not_listed() -> None:
    assert set(ENDPOINTS) >= READER_MAY
    for method, path in set(ENDPOINTS) - READER_MAY:
        assert not path.startswith(("/v1/chat", "/v1/models", "/api/stories", "/character", "/static")), (method, path)
    for word in ("upload", "utterances", "review", "metrics"):
        assert not any(word in path for _, path in READER_MAY)
    assert ("GET", "/api/chats") not in READER_MAY  # other people's


def test_a_route_that_nobody_has_thought_of_is_refused(app: GuardMiddleware) -> None:
    async def endpoint(_: Any) -> None: ...

    app._routes = [*app._routes, Route("/new", endpoint)]
    assert refused(ask(app, "GET", "/new", headers=AS_READER))
    assert ask(app, "GET", "/nowhere", headers=AS_READER).status_code == 404
    assert ask(app, "PUT", "/api/stories", headers=AS_READER).status_code == 405
    assert ask(app, "GET", "/static/site.css", headers=AS_READER).status_code == 200


@pytest.mark.parametrize("path", ["/api//uploads", "/api/uploads/", "/API/uploads", "/api/%75ploads", "/stories/1/"])
def test_no_other_spelling_leads_there(app: GuardMiddleware, path: str) -> None:
    assert ask(app, "GET", path, headers=AS_READER).status_code in (403, 404)


def test_a_reader_talks_and_reads_from_the_login_on(app: GuardMiddleware) -> None:
    async def visiting(client: httpx.AsyncClient) -> None:
        answer = await client.post("/login", data={"key": READERS, "next": "/"})
        assert answer.status_code == 303
        page = (await client.get("/")).text
        assert "Add a story" not in page and 'href="/review"' not in page and "Log out" in page
        begun = {"story": "brass-key", "characters": ["Ines Vale"], "at": "2.1"}
        chat = (await client.post("/api/chats", json=begun)).json()["id"]
        said = await client.post(f"/api/chats/{chat}/messages", json={"text": "Who are you?"})
        assert "event: end" in said.text
        assert (await client.get(f"/chats/{chat}")).status_code == 200
        assert (await client.get(f"/api/chats/{chat}/export")).status_code == 200
        stories = (await client.get("/stories")).text
        assert "Brass Key" in stories and 'type="file"' not in stories and "/api/uploads" not in stories
        refusal = await client.get("/review", headers={"Accept": "text/html"})
        assert refusal.status_code == 403 and "text/html" in refusal.headers["content-type"]
        assert "authors" in refusal.text and "Brass Key" not in refusal.text
        await client.post("/logout")
        assert (await client.get("/api/stories")).status_code == 401

    visit(app, visiting)


def test_a_reader_is_not_shown_other_peoples_chats(app: GuardMiddleware) -> None:
    async def visiting(client: httpx.AsyncClient) -> None:
        begun = {"story": "brass-key", "characters": ["Ines Vale"], "at": "2.1"}
        chats = [(await client.post("/api/chats", json=begun, headers=AS_AUTHOR)).json()["id"] for _ in range(2)]
        authors, readers = [(await client.get("/", headers=headers)).text for headers in (AS_AUTHOR, AS_READER)]
        assert all(chat in authors for chat in chats) and not any(chat in readers for chat in chats)
        own = (await client.get(f"/chats/{chats[0]}", headers=AS_READER)).text
        assert chats[0] in own and chats[1] not in own

    visit(app, visiting)


def test_an_author_is_shown_what_an_author_may_do(app: GuardMiddleware) -> None:
    page = ask(app, "GET", "/", headers=AS_AUTHOR).text
    assert "Add a story" in page and 'href="/review"' in page and "Log out" not in page  # no session to end
    assert 'type="file"' in ask(app, "GET", "/stories", headers=AS_AUTHOR).text


def test_the_keys_are_two_and_both_are_long() -> None:
    with pytest.raises(InputError, match="authors need one too"):
        AccessPolicy.for_host("127.0.0.1", None, reader_key=READERS)
    with pytest.raises(InputError, match="another one"):
        AccessPolicy.for_host("127.0.0.1", KEY, reader_key=KEY)
    with pytest.raises(InputError, match="UNDERSTUDY_READER_KEY is too short"):
        AccessPolicy.for_host("127.0.0.1", KEY, reader_key="short")
    assert AccessPolicy.for_host("127.0.0.1", KEY).role_of("") is None


def test_a_login_counts_for_every_process_until_logout_or_another_key(make_context: MakeContext, address: str) -> None:
    def process(key: str = KEY) -> GuardMiddleware:
        context = make_context(database=address)
        policy = AccessPolicy.for_host("0.0.0.0", key, reader_key=READERS)
        return make_app(context, policy)

    apps = {"here": process(), "there": process(), "of another key": process("yet another random key")}

    async def scenario() -> None:
        async with AsyncExitStack() as stack:
            clients = {name: await stack.enter_async_context(visiting(app)) for name, app in apps.items()}

            async def statuses() -> dict[str, int]:
                return {name: (await client.get("/api/stories")).status_code for name, client in clients.items()}

            assert set((await statuses()).values()) == {401}
            for key, all_chats in ((KEY, 200), (READERS, 403)):
                entered = await clients["here"].post("/login", data={"key": key, "next": "/"})
                token = session_token(entered.headers["set-cookie"])
                for client in clients.values():
                    client.cookies.set(COOKIE, token)
                readers_too = 200 if key == READERS else 401  # their key has stayed the same
                assert await statuses() == {"here": 200, "there": 200, "of another key": readers_too}
                assert (await clients["there"].get("/api/chats")).status_code == all_chats
                await clients["there"].post("/logout")
                clients["there"].cookies.set(COOKIE, token)
                assert set((await statuses()).values()) == {401}

    asyncio.run(scenario())


def test_a_token_is_not_in_the_database(make_context: MakeContext, address: str) -> None:
    database = make_context(database=address).database
    sessions = Sessions(database, AccessPolicy.for_host("0.0.0.0", KEY))

    async def scenario() -> None:
        token = await sessions.start(AccessRole.AUTHOR)
        assert await sessions.role_of(token) is AccessRole.AUTHOR
        ((stored, role, expires),) = await database.read(lambda db: db.rows("SELECT * FROM sessions"))
        assert token not in stored and role == "author" and expires > time.time() + SESSION_S - 60
        assert await sessions.role_of(stored) is None
        await database.run(lambda db: db.rows("UPDATE sessions SET expires = ?", (time.time() - 1,)))
        assert await sessions.role_of(token) is None

    asyncio.run(scenario())
