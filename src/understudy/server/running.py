"""Runs the application: uvicorn, with bounded connections and signals that let replies under way end."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any, cast

import uvicorn

from understudy.server.connections import ConnectionLimits, Connections, open_file_limit
from understudy.server.guard import Guard

__all__ = ["Server", "make_server"]

GRACE_S = 120  # that answers under way are given to end when the server stops
BACKLOG = 2048  # connections that may wait to be taken up
AT_ONCE = 128  # connections taken up before other work is looked at
MOST_HEAD = 32 * 1024  # bytes of a head that is not complete yet
LOOPBACK = "127.0.0.1,::1"
FORWARDED = "FORWARDED_ALLOW_IPS"


class Server(uvicorn.Server):
    """Stops on SIGINT, SIGTERM and SIGHUP alike, and then returns; a second SIGINT does not wait.

    `give_up` is called at that second SIGINT, for work that the application finishes while it stops.
    """

    def __init__(self, config: uvicorn.Config, give_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._give_up = give_up

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        # uvicorn's own would raise the signal again once stopped, and end the process before its files are closed
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
            self._give_up()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        hangup = getattr(signal, "SIGHUP", None)
        with super().capture_signals():
            # under nohup it is ignored already, and stays so
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
        for one in sockets or ():
            one.listen(BACKLOG)  # asyncio has made it as short as `AT_ONCE`


def make_server(
    app: Guard,
    behind_proxy: bool = False,
    limits: ConnectionLimits | None = None,
    give_up: Callable[[], None] = lambda: None,
) -> Server:
    """`behind_proxy` believes a proxy on this machine (or at $FORWARDED_ALLOW_IPS) about who asks and how."""
    wanted = (limits or ConnectionLimits()).within(open_file_limit())
    if behind_proxy:  # everybody comes from its address
        wanted = replace(wanted, per_address=wanted.total)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=cast(Any, Connections(wanted).protocol()),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,
        forwarded_allow_ips=os.environ.get(FORWARDED, LOOPBACK),
        timeout_graceful_shutdown=GRACE_S,
        backlog=AT_ONCE,
        h11_max_incomplete_event_size=MOST_HEAD,
    )
    return Server(config, give_up)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
