"""The HTTP server: uvicorn with connection limits, and a graceful stop that lets replies in progress finish."""

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
from understudy.server.guard import GuardMiddleware

__all__ = ["HttpServer", "make_server"]

GRACE_S = 120  # for responses in progress to finish when the server stops
BACKLOG = 2048  # connections that may wait to be accepted
ACCEPT_BATCH = 128  # connections accepted before the event loop does other work
MAX_HEAD_BYTES = 32 * 1024  # of an incomplete request head
LOOPBACK = "127.0.0.1,::1"
PROXIES_VARIABLE = "FORWARDED_ALLOW_IPS"


class HttpServer(uvicorn.Server):
    """Stops gracefully on SIGINT, SIGTERM and SIGHUP, and then returns; a second SIGINT stops at once.

    `give_up` is called at that second SIGINT, to abandon work that the application would finish while it stops.
    """

    def __init__(self, config: uvicorn.Config, give_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._give_up = give_up

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        # uvicorn's own handler raises the signal again once stopped, which ends the process before files are closed
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
            self._give_up()
        self.should_exit = True

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
    return HttpServer(config, give_up)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
