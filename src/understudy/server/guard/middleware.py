"""The guard itself, around the whole application: one look at a request's headers, then in or out.

It also writes what every answer carries (which scripts a page may run, who may frame it) and the one line a request
leaves in the log: method, the route's template, status and time; nothing of what was asked or said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.server.guard.door import Door
from understudy.server.guard.limits import Allowances, Limits, Places
from understudy.server.guard.roles import Role, allowed
from understudy.server.pages import bare_page
from understudy.server.problems import Refused, problem_response
from understudy.server.telemetry import LOG, Telemetry, places_of

__all__ = ["COOKIE", "Guard", "session_of"]

COOKIE = "understudy_session"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OPEN = frozenset({"/health", "/login"})
"""Where one may go without the key."""
OPEN_UNDER = "/static/"
BRINGS_STORIES = "/api/uploads"
OWN_SITE = frozenset({"same-origin", "none"})

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
EVERY_ANSWER = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
NOT_KEPT = (b"cache-control", b"no-store")
LOOKED_AT = frozenset(
    {b"host", b"origin", b"sec-fetch-site", b"authorization", b"cookie", b"content-length", b"accept"}
)
CLOSED = 499  # whoever asked had gone before an answer began


class Guard:
    """`routes` are the application's; `templates` gives each endpoint's path as it was written, for the log and the
    metrics."""

    def __init__(
        self,
        app: ASGIApp,
        door: Door,
        limits: Limits,
        telemetry: Telemetry,
        templates: Mapping[Any, str],
        routes: Sequence[BaseRoute],
    ) -> None:
        self.app, self._routes = app, routes
        self.door, self.limits = door, limits
        self._telemetry, self._templates = telemetry, templates
        self._clients = Allowances(limits.per_second, limits.burst)
        self._strangers = Allowances(limits.strangers_per_second, limits.strangers_burst)
        self._places = Places(limits.open)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._visit(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        status, streaming = CLOSED, False

        async def answering(message: Message) -> None:
            nonlocal status, streaming
            if message["type"] == "http.response.start":
                status = message["status"]
                kept = False
                for name, value in message["headers"]:
                    if name == b"content-type":
                        if value.startswith(b"text/event-stream"):
                            streaming = True
                            self._telemetry.streams.inc()
                    elif name == b"cache-control":
                        kept = True
                message["headers"] = [*message["headers"], *EVERY_ANSWER, *(() if kept else (NOT_KEPT,))]
            await send(message)

        try:
            await self._let_in(scope, receive, answering)
        except Exception as error:
            _write_down(error)
            if status == CLOSED:
                raise
        finally:
            if streaming:
                self._telemetry.streams.dec()
            template = self._templates.get(scope.get("endpoint"), "other")
            self._telemetry.record(_method(scope["method"]), template, status, perf_counter() - started)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name: value for name, value in scope["headers"] if name in LOOKED_AT}
        try:
            client = self._checked(scope, headers)
            receive = self._bounded(scope, headers, receive)
        except Refused as refused:
            await self._turned_away(refused, scope, headers)(scope, receive, send)
            return
        if not self._places.take(client):
            told = f"{self.limits.open} requests are under way already: wait for one of them to end"
            await problem_response(Refused(told, 429, code="too_many_open", retry_after=1))(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        finally:
            self._places.leave(client)

    def _checked(self, scope: Scope, headers: Mapping[bytes, bytes]) -> str:
        """Who asks, if they may; refuses them otherwise."""
        self._must_be_short(scope)
        host = headers.get(b"host", b"").decode("latin-1")
        if not self.door.known_as(host):
            raise Refused("the server does not go by that name: call it by the address it printed", 421, code="host")
        if scope["method"] not in SAFE:
            _must_be_own_page(headers, host)
        address = scope["client"][0] if scope.get("client") else "local"
        role = Role.AUTHOR if self.door.key is None else self._role(headers)
        logged_in = role is not None and self.door.key is not None and b"authorization" not in headers
        scope.setdefault("state", {}).update(role=role, logged_in=logged_in)
        if role is None:
            self._must_be_open(scope["path"], address)
            return f"stranger {address}"
        client = address if self.door.key is None else role.value
        if wait := self._clients.take(client):
            raise Refused("too many requests at once: wait a little", 429, code="rate_limit", retry_after=wait)
        if not allowed(role, self._routes, scope):
            raise Refused("this is for authors: it needs the server's other key", 403, code="authors_only")
        return client

    def _must_be_short(self, scope: Scope) -> None:
        if len(scope["headers"]) > self.limits.headers:
            raise Refused(f"there are too many headers: at most {self.limits.headers} are taken", 431, code="headers")
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        if size + sum(len(name) + len(value) for name, value in scope["headers"]) > self.limits.head:
            told = f"address and headers are too long: at most {self.limits.head:,} bytes are taken"
            raise Refused(told, 431, code="headers")

    def _role(self, headers: Mapping[bytes, bytes]) -> Role | None:
        scheme, _, told = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() == "bearer":
            return self.door.role_of(told.strip())
        return self.door.sessions.role_of(session_of(headers.get(b"cookie", b"").decode("latin-1")))

    def _must_be_open(self, path: str, address: str) -> None:
        if path.startswith(OPEN_UNDER):
            return
        if wait := self._strangers.take(address):
            raise Refused("too many requests without the key: wait a little", 429, code="rate_limit", retry_after=wait)
        if path not in OPEN:
            raise Refused(
                "the server needs its key: send it as 'Authorization: Bearer ...', or log in on the page",
                401,
                code="invalid_api_key",
            )

    def _turned_away(self, refused: Refused, scope: Scope, headers: Mapping[bytes, bytes]) -> Response:
        to_a_person = scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b"")
        if refused.status == 401 and to_a_person:
            return RedirectResponse(f"/login?next={quote(scope['path'], safe='')}", 303)
        if refused.code == "authors_only" and to_a_person:
            return bare_page("refused.html", refused.status, told=str(refused))
        response = problem_response(refused)
        if refused.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def _bounded(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive) -> Receive:
        """Bodies that are too long are refused by the length they tell, and by their bytes where they tell none."""
        most = self.limits.upload if scope["path"].startswith(BRINGS_STORIES) else self.limits.body
        told = headers.get(b"content-length")
        if told is None:
            return receive if scope["method"] in SAFE else _counted(receive, most)
        if not told.isdigit() or int(told) > most:
            raise _too_long(most)
        return receive


def _counted(receive: Receive, most: int) -> Receive:
    taken = 0

    async def counting() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise _too_long(most)
        return message

    return counting


def _too_long(most: int) -> Refused:
    return Refused(f"the body is too long: at most {most:,} bytes are taken", 413, code="body_too_long")


def _must_be_own_page(headers: Mapping[bytes, bytes], host: str) -> None:
    """Another site's page can make a browser send things here; the browser tells where they come from."""
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site")
    other = site is not None and site.decode("latin-1") not in OWN_SITE
    if origin is not None and origin.decode("latin-1").partition("://")[2].lower() != host.lower():
        other = True
    if other:
        raise Refused("this came from another site's page, which may change nothing here", 403, code="cross_site")


def session_of(cookies: str) -> str:
    """The session that a Cookie header carries; blank where there is none."""
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def _method(told: str) -> str:
    return told if told in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else "other"


def _write_down(error: BaseException) -> None:
    """Where it went wrong and what kind of error it was; not its message, which may hold what somebody said."""
    LOG.error("%s at %s", type(error).__name__, places_of(error))
