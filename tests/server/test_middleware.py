"""Each rule of the guard: hosts, keys, origins, rates and sizes; and what it adds to responses and the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from understudy.errors import InputError
from understudy.server.access import COOKIE, AccessPolicy
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.middleware import GuardMiddleware, RequestLimits

KEY = "a long and quite random key"
CHAT = {"model": "brass-key/Ines", "messages": [{"role": "user", "content": "the secret words"}]}
Visit = Callable[[httpx.AsyncClient], Awaitable[Any]]


def visit(app: GuardMiddleware, doing: Visit, url: str = "http://127.0.0.1", address: str = "127.0.0.1") -> Any:
    async def visiting() -> Any:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url=url) as client:
            return await doing(client)

    return asyncio.run(visiting())


def ask(app: GuardMiddleware, method: str, path: str, url: str = "http://127.0.0.1", **options: Any) -> httpx.Response:
    async def asking(client: httpx.AsyncClient) -> httpx.Response:
        return await client.request(method, path, **options)

    response = visit(app, asking, url)
    assert isinstance(response, httpx.Response)
    return response


def refusal(response: httpx.Response) -> dict[str, Any]:
    document: dict[str, Any] = response.json()
    assert set(document) == {"error"} and set(document["error"]) == {"message", "type", "param", "code"}
    error: dict[str, Any] = document["error"]
    return error


@pytest.fixture
def keyed(context: AppContext) -> GuardMiddleware:
    return make_app(context, AccessPolicy.for_host("0.0.0.0", KEY, ("stage.example",)))


def test_only_the_loopback_address_does_without_a_key() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.2"):
        assert AccessPolicy.for_host(host, None).key is None
    for host in ("0.0.0.0", "::", "192.168.1.5", "stage.example"):
        with pytest.raises(InputError, match="UNDERSTUDY_API_KEY"):
            AccessPolicy.for_host(host, None)
        with pytest.raises(InputError, match="UNDERSTUDY_API_KEY"):
            AccessPolicy.for_host(host, "")
        assert AccessPolicy.for_host(host, KEY).key == KEY
    with pytest.raises(InputError, match="too short"):
        AccessPolicy.for_host("0.0.0.0", "hunter2")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8321", "http://localhost", "http://127.0.0.1:", "http://[::1]:9", "http://LOCALHOST:1"]
)
def test_the_server_is_called_by_its_own_names(app: GuardMiddleware, url: str) -> None:
    assert ask(app, "GET", "/api/stories", url).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8321", "192.168.1.5", "", "[::2]",
        "127.0.0.1:evil.com", "127.0.0.1:80:evil.com", "127.0.0.1:80@evil.com", "127.0.0.1:123456", "[::1]evil.com",
        "[::1].evil.com:80", "[::1]:evil", "[127.0.0.1", "::1", "127.0.0.1/evil.com", "localhost:8321 evil.com",
    ],
)  # fmt: skip
def test_by_another_name_it_does_not_answer(app: GuardMiddleware, host: str) -> None:
    response = ask(app, "GET", "/api/stories", headers={"Host": host})
    assert response.status_code == 421 and refusal(response)["code"] == "host"


def test_a_server_for_all_addresses_goes_by_any_address_and_by_its_names(keyed: GuardMiddleware) -> None:
    for host, status in (("192.168.1.5:8321", 200), ("stage.example", 200), ("other.example", 421)):
        response = ask(keyed, "GET", "/health", headers={"Host": host})
        assert response.status_code == status, host


def test_the_key_opens_and_nothing_else_does(keyed: GuardMiddleware) -> None:
    bearer = {"Authorization": f"Bearer {KEY}"}
    assert ask(keyed, "GET", "/api/stories", headers=bearer).status_code == 200
    for wrong in ({}, {"Authorization": f"Bearer {KEY}x"}, {"Authorization": "Bearer "}, {"Authorization": KEY}):
        response = ask(keyed, "GET", "/api/stories", headers=wrong)
        assert response.status_code == 401 and response.headers["www-authenticate"] == "Bearer"
        assert refusal(response)["type"] == "authentication_error"
        assert KEY not in response.text
    assert ask(keyed, "GET", "/metrics").status_code == 401
    assert ask(keyed, "GET", "/health").status_code == 200


def test_a_person_logs_in_once_and_holds_a_session_not_the_key(keyed: GuardMiddleware) -> None:
    async def logging_in(client: httpx.AsyncClient) -> None:
        page = await client.get("/stories", headers={"Accept": "text/html"})
        assert page.status_code == 303 and page.headers["location"] == "/login?next=%2Fstories"
        form = await client.get(page.headers["location"])
        assert form.status_code == 200 and 'value="/stories"' in form.text
        assert "Brass Key" not in form.text  # strangers are told nothing of what is on
        wrong = await client.post("/login", data={"key": "wrong", "next": "/stories"})
        assert wrong.status_code == 401 and "set-cookie" not in wrong.headers
        right = await client.post("/login", data={"key": KEY, "next": "/stories"})
        assert right.status_code == 303 and right.headers["location"] == "/stories"
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and KEY not in cookie
        assert (await client.get("/api/stories")).status_code == 200
        token = client.cookies[COOKIE]
        await client.post("/logout")
        client.cookies.set(COOKIE, token)
        assert (await client.get("/api/stories")).status_code == 401

    visit(keyed, logging_in)


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example", "evil"])
def test_logging_in_leads_nowhere_else(keyed: GuardMiddleware, elsewhere: str) -> None:
    response = ask(keyed, "POST", "/login", data={"key": KEY, "next": elsewhere})
    assert response.status_code == 303 and response.headers["location"] == "/"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_sites_page_changes_nothing(app: GuardMiddleware, headers: dict[str, str]) -> None:
    for method, path in (("POST", "/v1/chat/completions"), ("POST", "/api/chats"), ("DELETE", "/api/chats/x")):
        response = ask(app, method, path, headers=headers, json=CHAT if method == "POST" else None)
        assert response.status_code == 403 and refusal(response)["code"] == "cross_site"


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": "http://127.0.0.1"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}]
)
def test_the_own_page_and_other_programs_may(app: GuardMiddleware, headers: dict[str, str]) -> None:
    assert ask(app, "POST", "/v1/chat/completions", headers=headers, json=CHAT).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
def test_a_body_must_say_that_it_is_json(app: GuardMiddleware, kind: str) -> None:
    """A form of another site can send text/plain without asking; JSON it cannot."""
    content = b'{"model": "brass-key/Ines", "messages": [{"role": "user", "content": "x"}]}'
    response = ask(app, "POST", "/v1/chat/completions", content=content, headers={"Content-Type": kind})
    assert response.status_code == 415 and refusal(response)["code"] == "content_type"
    good = {"Content-Type": "application/json; charset=utf-8"}
    assert ask(app, "POST", "/v1/chat/completions", content=content, headers=good).status_code == 200


def test_every_answer_tells_the_browser_what_a_page_may_do(app: GuardMiddleware, keyed: GuardMiddleware) -> None:
    answers = [ask(app, "GET", path) for path in ("/", "/api/stories", "/nothing", "/static/site.css", "/docs")]
    answers += [ask(app, "POST", "/api/stories"), ask(keyed, "GET", "/api/stories"), ask(keyed, "GET", "/login")]
    answers.append(ask(app, "POST", "/v1/chat/completions", json={**CHAT, "stream": True}))
    answers.append(ask(app, "GET", "/", headers={"Host": "evil.example"}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in answer.headers


def test_a_body_that_says_it_is_too_long_is_refused(context: AppContext) -> None:
    app = make_app(context, limits=RequestLimits(body_bytes=200))
    assert ask(app, "POST", "/v1/chat/completions", json=CHAT).status_code == 200
    response = ask(app, "POST", "/v1/chat/completions", json={**CHAT, "user": "x" * 200})
    assert response.status_code == 413 and refusal(response)["code"] == "body_too_long"


def test_a_body_that_does_not_say_how_long_it_is_is_counted(context: AppContext) -> None:
    app = make_app(context, limits=RequestLimits(body_bytes=10_000))
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 1000
            yield b" " * 1000

    response = ask(app, "POST", "/v1/chat/completions", content=endless(), headers={"Content-Type": "application/json"})
    assert response.status_code == 413 and refusal(response)["code"] == "body_too_long"
    assert sent <= 12_000


def test_too_many_requests_are_told_when_to_come_back(context: AppContext) -> None:
    app = make_app(context, limits=RequestLimits(per_second=0.5, burst=3))

    async def asking(client: httpx.AsyncClient) -> list[httpx.Response]:
        return [await client.get("/api/stories") for _ in range(5)]

    answers = visit(app, asking)
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert refusal(answers[-1])["type"] == "rate_limit_error" and int(answers[-1].headers["retry-after"]) >= 1
    assert visit(app, asking, address="127.0.0.9")[0].status_code == 200  # another client has its own allowance


def test_strangers_cannot_try_keys_for_long(context: AppContext) -> None:
    app = make_app(
        context, AccessPolicy.for_host("0.0.0.0", KEY), RequestLimits(keyless_per_second=0.001, keyless_burst=3)
    )

    async def guessing(client: httpx.AsyncClient) -> list[int]:
        tries = [await client.get("/api/stories", headers={"Authorization": f"Bearer {n}"}) for n in range(5)]
        tries.append(await client.post("/login", data={"key": "wrong"}))
        tries.append(await client.get("/api/stories", headers={"Authorization": f"Bearer {KEY}"}))
        return [response.status_code for response in tries]

    assert visit(app, guessing) == [401, 401, 401, 429, 429, 429, 200]


def test_one_client_holds_only_so_many_requests_open(context: AppContext) -> None:
    app = make_app(context, limits=RequestLimits(concurrent=2))
    body = b'{"model": "brass-key/Ines", "messages": [{"role": "user", "content": "x"}]}'

    async def crowding(client: httpx.AsyncClient) -> tuple[list[int], int]:
        may = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield body[:10]
            await may.wait()
            yield body[10:]

        async def chat() -> int:
            kind = {"Content-Type": "application/json"}
            return (await client.post("/v1/chat/completions", content=slow(), headers=kind)).status_code

        chats = [asyncio.ensure_future(chat()) for _ in range(2)]
        async with asyncio.timeout(120):
            while (refused := await client.get("/health")).status_code != 429:
                await asyncio.sleep(0)
        assert refusal(refused)["code"] == "too_many_open" and refused.headers["retry-after"]
        may.set()
        done = [await chat for chat in chats]
        return done, (await client.get("/health")).status_code

    assert visit(app, crowding) == ([200, 200], 200)


def test_a_request_leaves_one_line_without_what_was_said(
    app: GuardMiddleware, keyed: GuardMiddleware, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "understudy.server"):
        ask(app, "POST", "/v1/chat/completions?who=me", json=CHAT)
        ask(app, "GET", "/api/stories/brass-key/characters/Ines?at=2.1")
        ask(app, "GET", "/secret/place")
        ask(keyed, "GET", "/api/stories", headers={"Authorization": f"Bearer {KEY}"})
        ask(keyed, "POST", "/login", data={"key": KEY})
    lines = [record.getMessage().rsplit(" ", 2)[0] for record in caplog.records if record.name == "understudy.server"]
    assert lines == [
        "POST /v1/chat/completions 200",
        "GET /api/stories/{story}/characters/{name} 200",
        "GET other 404",
        "GET /api/stories 200",
        "POST /login 303",
    ]
    assert not any(word in caplog.text for word in (KEY, "secret", "Ines", "who=me"))


def test_what_breaks_is_told_without_what_was_said(
    context: AppContext, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret words")

    monkeypatch.setattr(context.executor.agent, "reply", broken)
    with caplog.at_level(logging.INFO, "understudy.server"):
        response = ask(make_app(context), "POST", "/v1/chat/completions", json=CHAT)
    assert response.status_code == 500 and refusal(response)["type"] == "server_error"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "RuntimeError" in caplog.text and "secret" not in caplog.text + response.text


def test_websockets_are_not_taken(app: GuardMiddleware) -> None:
    sent = []

    async def run() -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await app({"type": "websocket", "path": "/", "headers": []}, receive, send)

    asyncio.run(run())
    assert sent == [{"type": "websocket.close", "code": 1008}]
