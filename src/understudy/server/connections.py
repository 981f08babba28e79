"""Deadlines and caps for connections: a slow or greedy client costs the server one socket for a few seconds.

uvicorn alone waits without end for the rest of a head or a body, and keeps every socket it accepts. Here each
connection is in one phase at a time (head, body, answer, closing), and a sweep closes those that overstay. Where there
are too many, whoever has waited longest without asking anything makes room for a newcomer.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from understudy.server.telemetry import LOG, Throttled

__all__ = ["ConnectionLimits", "Connections", "ListeningSocket", "open_file_limit"]

WANTED_FILES = 16_384
SPARE_FILES = 128  # for the database, stories, and readers' processes
HEAD, BODY, ANSWER, CLOSING = "head", "body", "answer", "closing"
REFUSAL = b"HTTP/1.1 %d %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    total: int = 2_048
    per_address: int = 512
    head_timeout_s: float = 10.0
    """From the connection, or the answer before, to the end of a request's headers."""
    body_timeout_s: float = 20.0
    body_bytes_per_s: float = 8 * 1024
    """A body may take `body_timeout_s` and as long as it needs at this rate."""
    write_timeout_s: float = 120.0
    """How long a client may read nothing while there is something to read."""
    linger_timeout_s: float = 5.0
    """For what is left once an answer has ended: the rest of a body nobody wants, bytes not yet sent."""
    stop_timeout_s: float = 3.0
    """Of all these, once the server stops; answers under way are finished."""
    sweep_s: float = 0.5

    def within(self, files: int) -> ConnectionLimits:
        """The same, with no more connections than so many open files allow."""
        total = min(self.total, max(files // 2, files - SPARE_FILES))
        return replace(self, total=total, per_address=min(self.per_address, total))


def open_file_limit() -> int:
    """How many files this process may open, once the soft limit is raised as far as the system lets it."""
    try:
        import resource
    except ImportError:  # Windows has no such limit on sockets
        return WANTED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted


class Connections:
    """All open connections of one server. Its `protocol` is what uvicorn makes one of for each (`Config(http=)`)."""

    def __init__(self, limits: ConnectionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits, self.clock = limits, clock
        self.stopping_since: float | None = None
        self._by_address: dict[str, dict[_Connection, None]] = {}
        self._count = 0
        self._sweeping = False
        self._warn = Throttled(LOG.warning)

    def protocol(self) -> Callable[..., asyncio.Protocol]:
        return partial(_Connection, registry=self)

    def __len__(self) -> int:
        return self._count

    def add(self, connection: _Connection) -> bool:
        """False where there is no room for it, and none can be made."""
        beside = self._by_address.setdefault(connection.address, {})
        room = len(beside) < self.limits.per_address or self._evict(list(beside))
        if room and self._count >= self.limits.total:
            room = self._evict([one for group in self._by_address.values() for one in group])
        if not room:
            self._warn(f"too many connections: {self._count} are open, further ones are refused")
            if not beside:
                del self._by_address[connection.address]
            return False
        self._by_address.setdefault(connection.address, {})[connection] = None
        self._count += 1
        if not self._sweeping:
            self._sweeping = True
            connection.loop.call_later(self.limits.sweep_s, self._sweep, connection.loop)
        return True

    def remove(self, connection: _Connection) -> None:
        group = self._by_address.get(connection.address, {})
        if connection in group:
            del group[connection]
            self._count -= 1
            if not group:
                del self._by_address[connection.address]

    def stop(self) -> None:
        """From now on only what has been asked completely is waited for."""
        if self.stopping_since is None:
            self.stopping_since = self.clock()

    def _evict(self, candidates: list[_Connection]) -> bool:
        waiting = [one for one in candidates if one.idle]
        if not waiting:
            return False
        min(waiting, key=lambda one: one.since).drop()
        return True

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = self.clock()
        for group in list(self._by_address.values()):
            for connection in list(group):
                connection.check(now)
        self._sweeping = self._count > 0
        if self._sweeping:
            loop.call_later(self.limits.sweep_s, self._sweep, loop)


class _Connection(H11Protocol):
    """One client's connection, which knows since when it has been in its phase."""

    def __init__(self, *arguments: Any, registry: Connections, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._registry = registry
        self.address = ""
        self.since = registry.clock()
        self._phase: tuple[str, object] = (HEAD, (None, False))
        self._received = 0
        self._blocked_since: float | None = None

    @property
    def idle(self) -> bool:
        """Would nobody miss it? It has asked nothing, or has its answer already."""
        return self._phase[0] == HEAD or (self._phase[0] == BODY and self._answered)

    @property
    def _answered(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete

    @property
    def _silent(self) -> bool:
        """Has it sent nothing yet? Then it is told nothing either: a browser may be about to use it."""
        return self._phase[0] == HEAD and not self.conn.trailing_data[0]

    # What uvicorn calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if not self._registry.add(self):
            self._refuse(503, b"Service Unavailable")

    def connection_lost(self, error: Exception | None) -> None:
        self._registry.remove(self)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._received += len(data)
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._blocked_since = self._registry.clock()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._blocked_since = None

    def shutdown(self) -> None:
        self._registry.stop()
        super().shutdown()
        self._note()

    def _unsupported_upgrade_warning(self) -> None:
        """The request is answered as the plain one it is; there is nothing to install."""

    # Deadlines

    def _note(self) -> None:
        """Notice a new phase; a phase belongs to one request."""
        if self.transport.is_closing():
            phase = CLOSING
        elif self.conn.their_state is h11.IDLE:
            phase = HEAD
        else:
            phase = BODY if self.conn.their_state is h11.SEND_BODY else ANSWER
        now: tuple[str, object] = (phase, (self.cycle, self._answered))
        if now != self._phase:
            self._phase, self.since, self._received = now, self._registry.clock(), 0

    def check(self, now: float) -> None:
        """Close it if it has had its time."""
        self._note()
        limits, stopping = self._registry.limits, self._registry.stopping_since
        phase, waited = self._phase[0], now - self.since
        blocked = 0.0 if self._blocked_since is None else now - self._blocked_since
        hurried = stopping is not None and now - stopping > limits.stop_timeout_s
        if phase == CLOSING:
            overdue = waited > limits.linger_timeout_s
        elif phase == HEAD:
            overdue = waited > limits.head_timeout_s
        elif phase == BODY and self._answered:
            overdue = waited > limits.linger_timeout_s
        elif phase == BODY and not self.flow.read_paused:
            overdue = hurried or waited > limits.body_timeout_s + self._received / limits.body_bytes_per_s
        else:
            overdue = blocked > (limits.stop_timeout_s if hurried else limits.write_timeout_s)
        if overdue:
            self.drop()

    def drop(self) -> None:
        """Close it now, with a word why where something was begun and not answered."""
        if self._phase[0] == CLOSING or self._blocked_since is not None:
            self.transport.abort()
        elif self._answered or self._silent or (self.cycle is not None and self.cycle.response_started):
            self.transport.close()
        else:
            self._refuse(408, b"Request Timeout")
        self._note()

    def _refuse(self, status: int, reason: bytes) -> None:
        self.transport.write(REFUSAL % (status, reason))
        self.transport.close()


class ListeningSocket(socket.socket):
    """A listening socket that sheds clients when no file can be opened, instead of failing over and over.

    asyncio would retry at once, thousands of times a second. One file is kept open for this: it is closed to take a
    client up and turn it away, so that the queue of those waiting becomes shorter.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._spare: int | None = os.open(os.devnull, os.O_RDONLY)
        self._warn = Throttled(LOG.error)

    def accept(self) -> tuple[socket.socket, Any]:
        try:
            return super().accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            raise
        except OSError as error:
            self._warn(f"a client was turned away: {error.strerror}")
            self._shed()
            raise BlockingIOError from error  # to asyncio: nobody else is waiting now

    def close(self) -> None:
        super().close()
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None

    def _shed(self) -> None:
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        try:
            super().accept()[0].close()
        except OSError:
            time.sleep(0.01)  # the whole system is out of files
        try:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        except OSError:
            self._spare = None
