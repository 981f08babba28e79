"""Who may come in: by which names the server may be called, and whether a key is needed.

A server on the loopback address is for whoever sits at the machine, and needs no key; on any other address it does.
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

__all__ = ["Door", "Sessions", "is_loopback"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104
SESSION_SECONDS = 14 * 24 * 3600
MOST_SESSIONS = 1_000
LEAST_KEY = 16


class Sessions:
    """Who has logged in with the key, by a random token that says nothing of it. Only the tokens' hashes are kept."""

    def __init__(self) -> None:
        self._until: OrderedDict[bytes, float] = OrderedDict()

    def open(self) -> str:
        token = secrets.token_urlsafe(32)
        self._until[_hash(token)] = time.monotonic() + SESSION_SECONDS
        if len(self._until) > MOST_SESSIONS:
            self._until.popitem(last=False)
        return token

    def holds(self, token: str) -> bool:
        return self._until.get(_hash(token), 0.0) > time.monotonic()

    def end(self, token: str) -> None:
        self._until.pop(_hash(token), None)


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Door:
    """The names a server may be called by (`any_address`: any IP address too), and its key, if it has one."""

    names: frozenset[str] = LOOPBACK
    any_address: bool = False
    key: str | None = field(default=None, repr=False)
    sessions: Sessions = field(default_factory=Sessions, repr=False)

    @classmethod
    def of(cls, host: str, key: str | None, names: tuple[str, ...] = ()) -> Door:
        """The door of a server on an address; without a key only the loopback address has one."""
        if not key and not is_loopback(host):
            raise InputError(
                f"on {host} others can reach the server, so it needs a key: set UNDERSTUDY_API_KEY to a long random "
                "text, or leave --host out to serve this machine alone"
            )
        if key and len(key) < LEAST_KEY:
            raise InputError(f"UNDERSTUDY_API_KEY is too short to be safe: use at least {LEAST_KEY} characters")
        called = frozenset(name.lower() for name in (host, *names) if name not in EVERYWHERE)
        return cls(LOOPBACK | called, host in EVERYWHERE, key or None)

    def known_as(self, host: str) -> bool:
        """Is this Host header one of the server's names?"""
        name = _without_port(host).lower()
        return name in self.names or (self.any_address and _is_address(name))

    def opens_to(self, key: str) -> bool:
        """Is it the key? Takes as long for a wrong one as for the right one."""
        return self.key is not None and hmac.compare_digest(key.encode("utf-8", "replace"), self.key.encode())


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
