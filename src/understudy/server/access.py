"""Who may use the server: host names, API keys, login sessions, and what each role may do.

A server on the loopback address is for the user of the machine and needs no key; on any other address it does. One key
is for authors, who may do everything. A second one may be given to readers, who may talk and read: `READER_MAY`.

A web page of another site can point a host name of its own at this machine (DNS rebinding), so the Host header of a
request must be one of the names the server was given.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from ipaddress import ip_address
from typing import Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from understudy.database import Database
from understudy.errors import InputError
from understudy.server.pages import bare_page

COOKIE = "understudy_session"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})  # noqa: S104
HOST = re.compile(r"(?:\[(?P<bracketed>[0-9A-Fa-f:.%]+)\]|(?P<name>[^\s:@/\[\]]+))(?::[0-9]{0,5})?")
SESSION_S = 14 * 24 * 3600
MIN_KEY_LENGTH = 16
ABOUT = "Here you can talk with the characters of stories, each as they are at any moment of theirs."

Result = TypeVar("Result")


class AccessRole(StrEnum):
    AUTHOR = "author"
    READER = "reader"


class SessionDatabase(Protocol):
    """Such as a `ServerDatabase`; it has a table `sessions`."""

    async def run(self, work: Callable[[Database], Result]) -> Result:
        """Run `work` in a transaction."""

    async def read(self, work: Callable[[Database], Result]) -> Result: ...


class Sessions:
    """Who has logged in, by a random token, in the server's database, for all processes that use it. Only hashes of the
    tokens are stored. Those of another key than the present one do not count: a changed key ends them."""

    def __init__(self, database: SessionDatabase, policy: AccessPolicy) -> None:
        self.policy, self._database = policy, database
        self._keys = {AccessRole.AUTHOR: policy.key, AccessRole.READER: policy.reader_key}

    async def start(self, role: AccessRole) -> str:
        """Returns the token of the new session."""
        token, now = secrets.token_urlsafe(32), time.time()

        def write(db: Database) -> None:
            db.rows("DELETE FROM sessions WHERE expires < ?", (now,))
            db.rows("INSERT INTO sessions VALUES (?, ?, ?)", (self._key(token, role), role.value, now + SESSION_S))

        await self._database.run(write)
        return token

    async def role_of(self, token: str) -> AccessRole | None:
        if not token:
            return None
        keys = [self._key(token, role) for role in AccessRole]
        query = "SELECT role FROM sessions WHERE token IN (?, ?) AND expires > ?"
        rows = await self._database.read(lambda db: db.rows(query, (*keys, time.time())))
        return AccessRole(rows[0][0]) if rows else None

    async def end(self, token: str) -> None:
        keys = [self._key(token, role) for role in AccessRole]
        await self._database.run(lambda db: db.rows("DELETE FROM sessions WHERE token IN (?, ?)", keys))

    def _key(self, token: str, role: AccessRole) -> str:
        return _hash(f"{token} {role.value} {_hash(self._keys[role] or '')}")


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The host names a server answers to, and its keys, if it has any; by default it serves this machine only."""

    host_names: frozenset[str] = LOOPBACK
    any_ip_address: bool = False
    """Whether the Host header may be any IP address."""
    key: str | None = field(default=None, repr=False)
    reader_key: str | None = field(default=None, repr=False)

    @classmethod
    def for_host(
        cls, host: str, key: str | None, host_names: tuple[str, ...] = (), reader_key: str | None = None
    ) -> AccessPolicy:
        """The policy of a server that listens on `host`; without a key only the loopback address is allowed."""
        if not key and not is_loopback(host):
            raise InputError(
                f"on {host} others can reach the server, so it needs a key: set UNDERSTUDY_API_KEY to a long random "
                "text or give it in a --key-file, or leave --host out to serve this machine alone"
            )
        if reader_key and not key:
            raise InputError("readers have a key, so authors need one too: set UNDERSTUDY_API_KEY or give a --key-file")
        if reader_key and reader_key == key:
            raise InputError("readers have the authors' key: give them another one")
        for value, name in ((key, "UNDERSTUDY_API_KEY"), (reader_key, "UNDERSTUDY_READER_KEY")):
            if value and len(value) < MIN_KEY_LENGTH:
                raise InputError(f"the key of {name} is too short to be safe: use at least {MIN_KEY_LENGTH} characters")
        names = frozenset(name.lower() for name in (host, *host_names) if name not in ALL_ADDRESSES)
        return cls(LOOPBACK | names, host in ALL_ADDRESSES, key or None, reader_key or None)

    def allows_host(self, host: str) -> bool:
        """Whether a Host header is one of the server's names."""
        name = _without_port(host).lower()
        return name in self.host_names or (self.any_ip_address and _is_ip_address(name))

    def role_of(self, key: str) -> AccessRole | None:
        """The role a key gives. Compares in constant time."""
        is_author, is_reader = _matches(key, self.key), _matches(key, self.reader_key)
        return AccessRole.AUTHOR if is_author else AccessRole.READER if is_reader else None


def _matches(candidate: str, key: str | None) -> bool:
    return hmac.compare_digest(candidate.encode("utf-8", "replace"), (key or "").encode()) and bool(key)


def is_loopback(host: str) -> bool:
    return host.lower() in LOOPBACK or (_is_ip_address(host) and ip_address(host).is_loopback)


def _without_port(host: str) -> str:
    """The name in a Host header; blank where the header is not a name and perhaps a port."""
    match = HOST.fullmatch(host)
    return "" if match is None else match["bracketed"] or match["name"]


def _is_ip_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


_STORY = "/api/stories/{story}"
_CHARACTER = _STORY + "/characters/{name}"
_CHAT = "/api/chats/{chat}"
_MESSAGE = _CHAT + "/messages/{message}"

READER_MAY = frozenset(
    {
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/completions"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{model:path}"),
        ("GET", "/api/stories"),
        ("GET", _STORY + "/cast"),
        ("GET", _STORY + "/timeline"),
        ("GET", _STORY + "/scenes"),
        ("GET", _STORY + "/search"),
        ("GET", _CHARACTER),
        ("GET", _CHARACTER + "/card.json"),
        ("GET", _CHARACTER + "/card.png"),
        ("GET", _CHARACTER + "/portrait.svg"),
        ("GET", _CHARACTER + "/portrait.png"),
        ("GET", _CHARACTER + "/relations.svg"),
        ("GET", _CHARACTER + "/course.svg"),
        ("POST", "/api/replies"),
        ("GET", "/api/agents"),
        ("POST", "/api/chats"),
        ("GET", _CHAT),
        ("PATCH", _CHAT),
        ("DELETE", _CHAT),
        ("GET", _CHAT + "/export"),
        ("POST", _CHAT + "/restore"),
        ("POST", _CHAT + "/messages"),
        ("POST", _CHAT + "/turns"),
        ("POST", _CHAT + "/stop"),
        ("DELETE", _MESSAGE),
        ("POST", _MESSAGE + "/restore"),
        ("POST", _MESSAGE + "/retry"),
        ("POST", _MESSAGE + "/continue"),
        ("POST", _MESSAGE + "/edit"),
        ("POST", _MESSAGE + "/branch"),
        ("GET", "/health"),
        ("GET", "/openapi.json"),
        # pages
        ("GET", "/"),
        ("GET", "/chats/{chat}"),
        ("GET", "/character/{story}"),
        ("GET", "/character/{story}/{name:path}"),
        ("GET", "/story/{story}"),
        ("GET", "/stories"),
        ("GET", "/docs"),
        ("GET", "/login"),
        ("POST", "/login"),
        ("POST", "/logout"),
    }
)
"""Method and route path. Everything else is refused, including routes that are added later.

Chats have no owner: whoever knows a chat's address, which cannot be guessed, may continue, export and delete it. So
readers may use a chat but not list all of them.
"""


def is_allowed(role: AccessRole, routes: Sequence[BaseRoute], scope: Scope) -> bool:
    """Whether a role may make a request. A request that matches no route is allowed, to be answered with 404."""
    if role is AccessRole.AUTHOR:
        return True
    for route in routes:
        match, _ = route.matches(scope)
        if match is Match.FULL:
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            return not isinstance(route, Route) or (method, route.path) in READER_MAY
    return True


def login_routes(sessions: Sessions, about: str = ABOUT) -> list[Route]:
    """The form in which a person enters a key once, which says what the server is about; from then on a cookie carries
    a session token."""

    async def form(request: Request) -> Response:
        if sessions.policy.key is None:
            return RedirectResponse("/", 303)
        return _login_page(_own_path(request.query_params.get("next", "/")), about)

    async def login(request: Request) -> Response:
        fields = await request.form(max_files=0, max_fields=4, max_part_size=4096)
        target = _own_path(str(fields.get("next", "/")))
        role = sessions.policy.role_of(str(fields.get("key", "")))
        if role is None:
            return _login_page(target, about, wrong=True)
        response = RedirectResponse(target, 303)
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, await sessions.start(role), httponly=True, samesite="strict", secure=secure)
        return response

    async def logout(request: Request) -> Response:
        await sessions.end(session_token(request.headers.get("cookie", "")))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response

    return [Route("/login", form), Route("/login", login, methods=["POST"]), Route("/logout", logout, methods=["POST"])]


def session_token(cookies: str) -> str:
    """The session token in a Cookie header; blank if there is none."""
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def _login_page(target: str, about: str, wrong: bool = False) -> Response:
    """Shows nothing of what is served here."""
    return bare_page("login.html", 401 if wrong else 200, after=target, about=about, wrong=wrong)


def _own_path(path: str) -> str:
    """The path, unless a browser could take it for an address on another site."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"
