"""What every request passes before the application: its headers are checked, then it is passed on or refused.

Limits are on sizes, and on rate and concurrency by client: whoever uses one of the keys; on a server without keys, an
IP address. Some paths need no key because they carry a secret of their own, such as a participant's token; there each
token is a client. The middleware also adds the security headers of every response and writes the request log: method,
the route's path template, status and time, so that no parameter, query or text of a request gets into the log.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import Any
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.server.access import AccessRole, Sessions, is_allowed, session_token
from understudy.server.pages import bare_page
from understudy.server.problems import CLIENT_CLOSED, Refused, problem_response
from understudy.server.telemetry import LOG, Telemetry, error_location

MIB = 1024 * 1024
MAX_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class RequestLimits:
    per_second: float = 100.0
    """Requests of one client."""
    burst: int = 500
    concurrent: int = 256
    """Requests of one client that may be in progress at a time, including event streams."""
    body_bytes: int = MIB
    upload_bytes: int = 66 * MIB
    """For requests that upload a story."""
    headers: int = 100
    head_bytes: int = 32 * 1024
    """Path, query and headers together."""
    keyless_per_second: float = 1.0
    """Requests of one address without a key, on a server that needs one."""
    keyless_burst: int = 20
    token_per_second: float = 10.0
    """Requests with one token in the path. Those with a token that does not exist are limited by their address, as if
    they had a key; others are not, since a whole class may come from one address."""
    token_burst: int = 100


class TokenBuckets:
    """A token bucket for each client.

    tokens(t) = min(burst, tokens(t') + per_second (t - t')) - 1 for each request allowed
    """

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> int:
        """0 if the request is allowed, else after how many seconds to try again."""
        now = self._clock()
        tokens, last = self._buckets.get(client, (float(self._burst), now))
        tokens = min(self._burst, tokens + self._per_second * (now - last))
        allowed = tokens >= 1
        self._buckets[client] = (tokens - 1 if allowed else tokens, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return 0 if allowed else max(math.ceil((1 - tokens) / self._per_second), 1)

    def give_back(self, client: str) -> None:
        """A request that was allowed is not counted after all."""
        if client in self._buckets:
            tokens, last = self._buckets[client]
            self._buckets[client] = (min(self._burst, tokens + 1), last)


class ConcurrencyLimiter:
    """Counts the requests of each client that are in progress."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._active: Counter[str] = Counter()

    def acquire(self, client: str) -> bool:
        if self._active[client] >= self._limit:
            return False
        self._active[client] += 1
        return True

    def release(self, client: str) -> None:
        self._active[client] -= 1
        if not self._active[client]:
            del self._active[client]


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
METHODS = SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
PUBLIC_PATHS = frozenset({"/health", "/login"})
"""What needs no key, besides everything under `PUBLIC_PREFIX`."""
PUBLIC_PREFIX = "/static/"
UPLOAD_PREFIX = "/api/uploads"
OWN_SITE = frozenset({"same-origin", "none"})

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
NO_STORE = (b"cache-control", b"no-store")
CHECKED_HEADERS = frozenset(
    {b"host", b"origin", b"sec-fetch-site", b"authorization", b"cookie", b"content-length", b"accept"}
)


class GuardMiddleware:
    """`routes` are the application's; `templates` maps endpoints to route paths, for the log and the metrics.

    Paths that begin with one of `token_prefixes` go on with a token that the application checks, and need no key.
    """

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        limits: RequestLimits,
        telemetry: Telemetry,
        templates: Mapping[Any, str],
        routes: Sequence[BaseRoute],
        token_prefixes: tuple[str, ...] = (),
    ) -> None:
        self.app, self._routes, self._token_prefixes = app, routes, token_prefixes
        self.policy, self.limits, self._sessions = sessions.policy, limits, sessions
        self._telemetry, self._templates = telemetry, templates
        self._buckets = TokenBuckets(limits.per_second, limits.burst)
        self._keyless_buckets = TokenBuckets(limits.keyless_per_second, limits.keyless_burst)
        self._token_buckets = TokenBuckets(limits.token_per_second, limits.token_burst)
        self._in_progress = ConcurrencyLimiter(limits.concurrent)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        status, is_stream = CLIENT_CLOSED, False

        async def send_with_headers(message: Message) -> None:
            nonlocal status, is_stream
            if message["type"] == "http.response.start":
                status = message["status"]
                has_cache_control = False
                for name, value in message["headers"]:
                    if name == b"content-type":
                        if value.startswith(b"text/event-stream"):
                            is_stream = True
                            self._telemetry.streams.inc()
                    elif name == b"cache-control":
                        has_cache_control = True
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
                if not has_cache_control:
                    message["headers"].append(NO_STORE)
            await send(message)

        try:
            await self._check_and_run(scope, receive, send_with_headers)
        except Exception as error:  # its message may quote a user's text
            LOG.error("%s at %s", type(error).__name__, error_location(error))
            if status == CLIENT_CLOSED:
                raise
        finally:
            if is_stream:
                self._telemetry.streams.dec()
            if status not in (404, CLIENT_CLOSED) and (address := scope.get("state", {}).get("token_from")):
                self._buckets.give_back(address)
            template = self._templates.get(scope.get("endpoint"), "other")
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._telemetry.record(method, template, status, perf_counter() - started)

    async def _check_and_run(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name: value for name, value in scope["headers"] if name in CHECKED_HEADERS}
        try:
            client = await self._check(scope, headers)
            receive = self._limit_body(scope, headers, receive)
        except Refused as refused:
            await self._refusal(refused, scope, headers)(scope, receive, send)
            return
        if not self._in_progress.acquire(client):
            message = f"{self.limits.concurrent} requests are under way already: wait for one of them to end"
            await problem_response(Refused(message, 429, code="too_many_open", retry_after=1))(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        finally:
            self._in_progress.release(client)

    async def _check(self, scope: Scope, headers: Mapping[bytes, bytes]) -> str:
        """The client's name for rate limits, if the request is allowed; raises `Refused` otherwise."""
        self._check_head_size(scope)
        host = headers.get(b"host", b"").decode("latin-1")
        if not self.policy.allows_host(host):
            raise Refused("the server does not go by that name: call it by the address it printed", 421, code="host")
        if scope["method"] not in SAFE_METHODS:
            _check_same_site(headers, host)
        address = scope["client"][0] if scope.get("client") else "local"
        if scope["path"].startswith(self._token_prefixes):
            return self._check_token_rate(scope, address)
        role = AccessRole.AUTHOR if self.policy.key is None else await self._role(headers)
        logged_in = role is not None and self.policy.key is not None and b"authorization" not in headers
        scope.setdefault("state", {}).update(role=role, logged_in=logged_in)
        if role is None:
            self._check_public(scope["path"], address)
            return f"keyless {address}"
        client = address if self.policy.key is None else role.value
        _check_rate(self._buckets, client)
        if not is_allowed(role, self._routes, scope):
            raise Refused("this is for authors: it needs the server's other key", 403, code="authors_only")
        return client

    def _check_token_rate(self, scope: Scope, address: str) -> str:
        """Whoever holds the token has no role. Until the application has found it, it counts as one that does not
        exist."""
        prefix = next(prefix for prefix in self._token_prefixes if scope["path"].startswith(prefix))
        token = scope["path"].removeprefix(prefix).partition("/")[0]
        client = f"token {sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"
        _check_rate(self._token_buckets, client)
        _check_rate(self._buckets, address)
        scope.setdefault("state", {}).update(role=None, logged_in=False, token_from=address)
        return client

    def _check_head_size(self, scope: Scope) -> None:
        if len(scope["headers"]) > self.limits.headers:
            raise Refused(f"there are too many headers: at most {self.limits.headers} are taken", 431, code="headers")
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        if size + sum(len(name) + len(value) for name, value in scope["headers"]) > self.limits.head_bytes:
            message = f"address and headers are too long: at most {self.limits.head_bytes:,} bytes are taken"
            raise Refused(message, 431, code="headers")

    async def _role(self, headers: Mapping[bytes, bytes]) -> AccessRole | None:
        scheme, _, key = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() == "bearer":
            return self.policy.role_of(key.strip())
        return await self._sessions.role_of(session_token(headers.get(b"cookie", b"").decode("latin-1")))

    def _check_public(self, path: str, address: str) -> None:
        if path.startswith(PUBLIC_PREFIX):
            return
        if wait := self._keyless_buckets.take(address):
            raise Refused("too many requests without the key: wait a little", 429, code="rate_limit", retry_after=wait)
        if path not in PUBLIC_PATHS:
            raise Refused(
                "the server needs its key: send it as 'Authorization: Bearer ...', or log in on the page",
                401,
                code="invalid_api_key",
            )

    def _refusal(self, refused: Refused, scope: Scope, headers: Mapping[bytes, bytes]) -> Response:
        wants_html = scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b"")
        if refused.status == 401 and wants_html:
            return RedirectResponse(f"/login?next={quote(scope['path'], safe='')}", 303)
        if refused.code == "authors_only" and wants_html:
            return bare_page("refused.html", refused.status, message=str(refused))
        response = problem_response(refused)
        if refused.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def _limit_body(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive) -> Receive:
        """Refuses a body by its Content-Length; without one, its bytes are counted as they come."""
        max_bytes = self.limits.upload_bytes if scope["path"].startswith(UPLOAD_PREFIX) else self.limits.body_bytes
        length = headers.get(b"content-length")
        if length is None:
            return receive if scope["method"] in SAFE_METHODS else _counted(receive, max_bytes)
        if not length.isdigit() or int(length) > max_bytes:
            raise _body_too_long(max_bytes)
        return receive


def _check_rate(buckets: TokenBuckets, client: str) -> None:
    if wait := buckets.take(client):
        raise Refused("too many requests at once: wait a little", 429, code="rate_limit", retry_after=wait)


def _counted(receive: Receive, max_bytes: int) -> Receive:
    received = 0

    async def receive_counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > max_bytes:
            raise _body_too_long(max_bytes)
        return message

    return receive_counted


def _body_too_long(max_bytes: int) -> Refused:
    return Refused(f"the body is too long: at most {max_bytes:,} bytes are taken", 413, code="body_too_long")


def _check_same_site(headers: Mapping[bytes, bytes], host: str) -> None:
    """Another site's page can make a browser send requests here (CSRF); the browser's headers show where from."""
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site")
    is_foreign = site is not None and site.decode("latin-1") not in OWN_SITE
    if origin is not None and origin.decode("latin-1").partition("://")[2].lower() != host.lower():
        is_foreign = True
    if is_foreign:
        raise Refused("this came from another site's page, which may change nothing here", 403, code="cross_site")
