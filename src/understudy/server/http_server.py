"""The HTTP server: uvicorn with a graceful stop, and deadlines and caps for connections.

uvicorn alone waits for ever for the rest of a head or a body, and keeps every socket it accepts. Here each connection
is in one phase at a time (head, body, response, closing), and a periodic sweep closes those past their deadline, so
that a slow or greedy client costs the server one socket for a few seconds. At the connection limit, the connection that
has been idle longest is closed to make room for a new one. A graceful stop lets replies in progress finish.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from understudy.server.middleware import GuardMiddleware
from understudy.server.telemetry import LOG, ThrottledLog

WANTED_FILES = 16_384
SPARE_FILES = 128  # for the database, stories, and reader processes
HEAD, BODY, RESPONSE, CLOSING = "head", "body", "response", "closing"
REFUSAL = b"HTTP/1.1 %d %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    total: int = 2_048
    per_address: int = 512
    head_timeout_s: float = 10.0
    """From the connection, or the response before, to the end of a request's headers."""
    body_timeout_s: float = 20.0
    body_bytes_per_s: float = 8 * 1024
    """A body may take `body_timeout_s` and as long as it needs at this rate."""
    write_timeout_s: float = 120.0
    """How long a client may read nothing while data is waiting for it."""
    linger_timeout_s: float = 5.0
    """After the response: for the unread rest of a request body, and bytes not yet sent."""
    stop_timeout_s: float = 3.0
    """Replaces the others once the server stops; responses in progress are finished."""
    sweep_s: float = 0.5

    def within(self, files: int) -> ConnectionLimits:
        """The same, with no more connections than this number of open files allows."""
        total = min(self.total, max(files // 2, files - SPARE_FILES))
        return replace(self, total=total, per_address=min(self.per_address, total))


def open_file_limit() -> int:
    """How many files this process may open; raises the soft limit as far as the system allows."""
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
    """All open connections of one server; `protocol` is the factory that uvicorn calls for each (`Config(http=)`)."""

    def __init__(self, limits: ConnectionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits, self.clock = limits, clock
        self.stopping_since: float | None = None
        self._by_address: dict[str, dict[_Connection, None]] = {}
        self._count = 0
        self._sweeping = False
        self._warn = ThrottledLog(LOG.warning)

    def protocol(self) -> Callable[..., asyncio.Protocol]:
        return partial(_Connection, registry=self)

    def __len__(self) -> int:
        return self._count

    def add(self, connection: _Connection) -> bool:
        """False if the limit is reached and no connection is idle."""
        same_address = self._by_address.setdefault(connection.address, {})
        has_room = len(same_address) < self.limits.per_address or self._evict(list(same_address))
        if has_room and self._count >= self.limits.total:
            has_room = self._evict([connection for group in self._by_address.values() for connection in group])
        if not has_room:
            self._warn(f"too many connections: {self._count} are open, further ones are refused")
            if not same_address:
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
        """From now on only complete requests are waited for."""
        if self.stopping_since is None:
            self.stopping_since = self.clock()

    def _evict(self, candidates: list[_Connection]) -> bool:
        idle = [connection for connection in candidates if connection.is_idle]
        if not idle:
            return False
        min(idle, key=lambda connection: connection.since).drop()
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
    """One client's connection, with the time it entered its current phase."""

    def __init__(self, *arguments: Any, registry: Connections, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._registry = registry
        self.address = ""
        self.since = registry.clock()
        self._phase: tuple[str, object] = (HEAD, (None, False))
        self._received = 0
        self._blocked_since: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it has no request in progress: none was sent, or its response is complete."""
        return self._phase[0] == HEAD or (self._phase[0] == BODY and self._has_responded)

    @property
    def _has_responded(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete

    @property
    def _is_unused(self) -> bool:
        """Whether it has sent nothing yet. It is closed without an error: a browser may have opened it in advance."""
        return self._phase[0] == HEAD and not self.conn.trailing_data[0]

    # Called by uvicorn

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
        self._update_phase()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_phase()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._blocked_since = self._registry.clock()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._blocked_since = None

    def shutdown(self) -> None:
        self._registry.stop()
        super().shutdown()
        self._update_phase()

    def _unsupported_upgrade_warning(self) -> None:
        """No warning: such a request is answered as a plain one."""

    # Deadlines

    def _update_phase(self) -> None:
        """A phase belongs to one request, so the same phase of the next request is a new one."""
        if self.transport.is_closing():
            phase = CLOSING
        elif self.conn.their_state is h11.IDLE:
            phase = HEAD
        else:
            phase = BODY if self.conn.their_state is h11.SEND_BODY else RESPONSE
        current: tuple[str, object] = (phase, (self.cycle, self._has_responded))
        if current != self._phase:
            self._phase, self.since, self._received = current, self._registry.clock(), 0

    def check(self, now: float) -> None:
        """Close it if its deadline has passed."""
        self._update_phase()
        limits, stopping = self._registry.limits, self._registry.stopping_since
        phase, waited = self._phase[0], now - self.since
        blocked = 0.0 if self._blocked_since is None else now - self._blocked_since
        must_stop = stopping is not None and now - stopping > limits.stop_timeout_s
        if phase == CLOSING:
            overdue = waited > limits.linger_timeout_s
        elif phase == HEAD:
            overdue = waited > limits.head_timeout_s
        elif phase == BODY and self._has_responded:
            overdue = waited > limits.linger_timeout_s
        elif phase == BODY and not self.flow.read_paused:
            overdue = must_stop or waited > limits.body_timeout_s + self._received / limits.body_bytes_per_s
        else:
            overdue = blocked > (limits.stop_timeout_s if must_stop else limits.write_timeout_s)
        if overdue:
            self.drop()

    def drop(self) -> None:
        """Close it now, with status 408 if a request was begun and not answered."""
        if self._phase[0] == CLOSING or self._blocked_since is not None:
            self.transport.abort()
        elif self._has_responded or self._is_unused or (self.cycle is not None and self.cycle.response_started):
            self.transport.close()
        else:
            self._refuse(408, b"Request Timeout")
        self._update_phase()

    def _refuse(self, status: int, reason: bytes) -> None:
        self.transport.write(REFUSAL % (status, reason))
        self.transport.close()


class ListeningSocket(socket.socket):
    """A listening socket that rejects clients when the process is out of file descriptors.

    asyncio alone would retry the failing accept thousands of times a second. One descriptor is kept in reserve: it is
    freed to accept a client and close the connection at once, so that the queue becomes shorter.
    """

    def __init__(self, family: int = socket.AF_INET) -> None:
        # asyncio sets TCP_NODELAY only on sockets that name TCP; without it each answer waits for the client's ACK
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._reserve: int | None = os.open(os.devnull, os.O_RDONLY)
        self._warn = ThrottledLog(LOG.error)

    def accept(self) -> tuple[socket.socket, Any]:
        try:
            return super().accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            raise
        except OSError as error:
            self._warn(f"a client was turned away: {error.strerror}")
            self._reject_client()
            raise BlockingIOError from error  # tells asyncio that no client is waiting

    def close(self) -> None:
        super().close()
        if self._reserve is not None:
            os.close(self._reserve)
            self._reserve = None

    def _reject_client(self) -> None:
        if self._reserve is not None:
            os.close(self._reserve)
            self._reserve = None
        try:
            super().accept()[0].close()
        except OSError:
            time.sleep(0.01)  # the whole system is out of descriptors
        try:
            self._reserve = os.open(os.devnull, os.O_RDONLY)
        except OSError:
            self._reserve = None


GRACE_S = 120  # for responses in progress to finish when the server stops
BACKLOG = 2048  # connections that may wait to be accepted
ACCEPT_BATCH = 128  # connections accepted before the event loop does other work
MAX_HEAD_BYTES = 32 * 1024  # of an incomplete request head
LOOPBACK = "127.0.0.1,::1"
PROXIES_VARIABLE = "FORWARDED_ALLOW_IPS"


class HttpServer(uvicorn.Server):
    """Stops gracefully on SIGINT, SIGTERM and SIGHUP, and then returns; a second SIGINT stops at once.

    `on_stop` is called when it begins to stop, and `give_up` at that second SIGINT, to abandon work that the
    application would finish while it stops.
    """

    def __init__(self, config: uvicorn.Config, give_up: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._give_up, self._on_stop = give_up, on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        # uvicorn's own handler raises the signal again once stopped, which ends the process before files are closed
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
            self._give_up()
        self.should_exit = True
        self._on_stop()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        hangup = getattr(signal, "SIGHUP", None)
        with super().capture_signals():
            # under nohup SIGHUP is ignored, and stays ignored
            if hangup is None or not _in_main_thread() or signal.getsignal(hangup) == signal.SIG_IGN:
                yield
                return
            before = signal.signal(hangup, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(hangup, before)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)  # asyncio has set it to `ACCEPT_BATCH`


def make_server(
    app: GuardMiddleware,
    behind_proxy: bool = False,
    limits: ConnectionLimits | None = None,
    give_up: Callable[[], None] = lambda: None,
    on_stop: Callable[[], None] = lambda: None,
) -> HttpServer:
    """`behind_proxy` trusts a proxy on this machine (or at $FORWARDED_ALLOW_IPS) about client address and scheme."""
    effective = (limits or ConnectionLimits()).within(open_file_limit())
    if behind_proxy:  # every client comes from its address
        effective = replace(effective, per_address=effective.total)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=cast(Any, Connections(effective).protocol()),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,
        forwarded_allow_ips=os.environ.get(PROXIES_VARIABLE, LOOPBACK),
        timeout_graceful_shutdown=GRACE_S,
        backlog=ACCEPT_BATCH,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    return HttpServer(config, give_up, on_stop)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
