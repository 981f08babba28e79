"""Several server processes on one address: a parent that binds it, and children that accept connections.

The parent opens nothing but the sockets, and forks: each child makes a server of its own. A child that dies is started
again. SIGTERM, SIGINT and SIGHUP stop all gracefully, and children whose parent was killed stop as well.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from understudy.errors import InputError

LOG = logging.getLogger("understudy.server")
STOPPING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name))
RESTART_S, LONGEST_RESTART_S = 0.5, 30.0  # how long the parent waits before it starts a child again
SHORT_LIFE_S = 10.0  # a child that dies sooner is waited for longer each time


class Server(Protocol):
    """Such as an `HttpServer`."""

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until SIGTERM or SIGINT, and return."""


def check_processes() -> None:
    if not hasattr(os, "fork"):
        raise InputError("several processes need a system that forks, as Linux and macOS do: leave --processes out")


def serve_processes(
    make_server: Callable[[], Server],
    sockets: Sequence[socket.socket],
    count: int,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve with `count` child processes until a signal stops them; `on_ready` is called once the first one serves.

    `make_server` is called in each child, and should open there whatever the server needs. Where the first child fails
    to make its server, everything ends with that child's exit status. A child leaves by `SystemExit`, so that its
    caller closes what was opened; the parent returns.
    """
    check_processes()
    with _Children(make_server, sockets) as children:
        if children.start_first():
            on_ready()
            for _ in range(count - 1):
                children.start()
            children.keep_running()
    if children.failure:
        sys.exit(children.failure)


class _Children:
    def __init__(self, make_server: Callable[[], Server], sockets: Sequence[socket.socket]) -> None:
        self.failure = 0
        self._make_server, self._sockets = make_server, list(sockets)
        self._started: dict[int, float] = {}  # when, by process id
        self._alive, self._parents_end = os.pipe()  # the writing end is the parent's alone: without it, it is gone
        self._is_parent = True
        self._stopping = False
        self._delay_s = RESTART_S

    def __enter__(self) -> _Children:
        self._handlers = {number: signal.signal(number, self._stop) for number in STOPPING if _is_heeded(number)}
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_parent:
            os.close(self._alive)
            os.close(self._parents_end)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def start_first(self) -> bool:
        """Start a child and wait until it serves; False where it ended before that."""
        ready, reporting = os.pipe()
        process = self.start(reporting)
        os.close(reporting)
        has_started = os.read(ready, 1) != b""
        os.close(ready)
        if not has_started:
            _, status = os.waitpid(process, 0)
            self.failure = 0 if self._stopping else abs(os.waitstatus_to_exitcode(status)) or 1
        return has_started

    def start(self, reporting: int | None = None) -> int:
        with _signals_held():  # a stop must not come between the fork and its record
            process = os.fork()
            if process:
                self._started[process] = time.monotonic()
                if self._stopping:
                    os.kill(process, signal.SIGTERM)
                return process
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
        self._serve(reporting)
        return 0

    def _serve(self, reporting: int | None) -> None:
        """The child's life."""
        self._is_parent = False
        os.setpgid(0, 0)  # Ctrl-C reaches the parent alone, which stops all in order
        os.close(self._parents_end)
        threading.Thread(target=_stop_without_parent, args=(self._alive,), daemon=True).start()
        server = self._make_server()
        if reporting is not None:
            os.write(reporting, b".")
            os.close(reporting)
        server.run(sockets=self._sockets)
        sys.exit(0)

    def keep_running(self) -> None:
        """Until all children have ended; those that died are started again, unless all are being stopped."""
        while self._started:
            process, status = os.wait()
            started = self._started.pop(process, None)
            if started is None or self._stopping:
                continue
            lived_s = time.monotonic() - started
            self._delay_s = min(2 * self._delay_s, LONGEST_RESTART_S) if lived_s < SHORT_LIFE_S else RESTART_S
            code = os.waitstatus_to_exitcode(status)
            cause = f"signal {-code}" if code < 0 else f"status {code}"
            LOG.error("server process %d ended (%s) and is started again", process, cause)
            self._pause(self._delay_s)
            if not self._stopping:
                self.start()

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopping and time.monotonic() < until:
            select.select([], [], [], 0.1)

    def _stop(self, number: int, _: FrameType | None) -> None:
        again, self._stopping = self._stopping, True
        for process in self._started:
            os.kill(process, signal.SIGINT if again and number == signal.SIGINT else signal.SIGTERM)


def _is_heeded(number: int) -> bool:
    return signal.getsignal(number) != signal.SIG_IGN  # under nohup SIGHUP is ignored, and stays ignored


@contextmanager
def _signals_held() -> Iterator[None]:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def _stop_without_parent(alive: int) -> None:
    os.read(alive, 1)  # returns when the parent is gone
    os.kill(os.getpid(), signal.SIGTERM)
