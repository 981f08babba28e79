"""Who may come in: by which names the server may be called, and whether a key is needed.

A server on the loopback address is for whoever sits at the machine, and needs no key; on any other address it does. One
key is an author's; a second one may be given to readers, see `roles`.
Another site's page can have a name of its own lead to this machine (DNS rebinding), so a request must call the server
by a name it was given.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address

from understudy.errors import InputError
from understudy.server.guard.roles import Role

__all__ = ["Door", "Sessions", "is_loopback"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104
SESSION_SECONDS = 14 * 24 * 3600
MOST_SESSIONS = 1_000
LEAST_KEY = 16


class Sessions:
    """Who has logged in with a key, by a random token that says nothing of it. Only the tokens' hashes are kept."""

    def __init__(self) -> None:
        self._open: OrderedDict[bytes, tuple[float, Role]] = OrderedDict()

    def open(self, role: Role) -> str:
        token = secrets.token_urlsafe(32)
        self._open[_hash(token)] = time.monotonic() + SESSION_SECONDS, role
        if len(self._open) > MOST_SESSIONS:
            self._open.popitem(last=False)
        return token

    def role_of(self, token: str) -> Role | None:
        until, role = self._open.get(_hash(token), (0.0, None))
        return role if until > time.monotonic() else None

    def end(self, token: str) -> None:
        self._open.pop(_hash(token), None)


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Door:
    """The names a server may be called by (`any_address`: any IP address too), and its keys, if it has any."""

    names: frozenset[str] = LOOPBACK
    any_address: bool = False
    key: str | None = field(default=None, repr=False)
    reader_key: str | None = field(default=None, repr=False)
    sessions: Sessions = field(default_factory=Sessions, repr=False)

    @classmethod
    def of(cls, host: str, key: str | None, names: tuple[str, ...] = (), reader_key: str | None = None) -> Door:
        """The door of a server on an address; without a key only the loopback address has one."""
        if not key and not is_loopback(host):
            raise InputError(
                f"on {host} others can reach the server, so it needs a key: set UNDERSTUDY_API_KEY to a long random "
                "text or give it in a --key-file, or leave --host out to serve this machine alone"
            )
        if reader_key and not key:
            raise InputError("readers have a key, so authors need one too: set UNDERSTUDY_API_KEY or give a --key-file")
        if reader_key and reader_key == key:
            raise InputError("readers have the authors' key: give them another one")
        for one, name in ((key, "UNDERSTUDY_API_KEY"), (reader_key, "UNDERSTUDY_READER_KEY")):
            if one and len(one) < LEAST_KEY:
                raise InputError(f"the key of {name} is too short to be safe: use at least {LEAST_KEY} characters")
        called = frozenset(name.lower() for name in (host, *names) if name not in EVERYWHERE)
        return cls(LOOPBACK | called, host in EVERYWHERE, key or None, reader_key or None)

    def known_as(self, host: str) -> bool:
        """Is this Host header one of the server's names?"""
        name = _without_port(host).lower()
        return name in self.names or (self.any_address and _is_address(name))

    def role_of(self, key: str) -> Role | None:
        """Whose key it is. Takes as long for a wrong one as for a right one."""
        author, reader = _same(key, self.key), _same(key, self.reader_key)
        return Role.AUTHOR if author else Role.READER if reader else None


def _same(told: str, key: str | None) -> bool:
    return hmac.compare_digest(told.encode("utf-8", "replace"), (key or "").encode()) and bool(key)


def is_loopback(host: str) -> bool:
    return host.lower() in LOOPBACK or (_is_address(host) and ip_address(host).is_loopback)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
