"""What commands that serve have in common: their options, the socket, the key, and the page that is opened."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any

import click

from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.server.http_server import HttpServer

__all__ = [
    "KEY",
    "behind_proxy_option",
    "browsable",
    "ending_with_its_threads",
    "json_log_option",
    "key_in",
    "listen",
    "open_option",
    "port_option",
    "processes_option",
    "serve_until_stopped",
]

KEY = "UNDERSTUDY_API_KEY"

open_option = click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
behind_proxy_option = click.option(
    "--behind-proxy", is_flag=True,
    help="Trust X-Forwarded-For and -Proto of a proxy on this machine, or at $FORWARDED_ALLOW_IPS.",
)  # fmt: skip
json_log_option = click.option("--json-log", is_flag=True, help="Log one JSON object a line.")


def port_option(default: int) -> Callable[..., Any]:
    return click.option(
        "--port", type=click.IntRange(0, 65535), default=default, show_default=True, help="Port; 0 takes any free one."
    )


def processes_option(database_option: str) -> Callable[..., Any]:
    return click.option(
        "--processes", type=click.IntRange(1, 64), default=1, show_default=True,
        help=f"Server processes on the address; more than one need {database_option}.",
    )  # fmt: skip


def key_in(path: Path) -> str:
    try:
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "cannot be read as a key: give a text file that holds the key and nothing else", path
        ) from error
    if not key or "\n" in key:
        raise InputError("holds no key, or more than one line: write the key into it and nothing else", path)
    return key


def listen(host: str, port: int) -> socket.socket:
    from understudy.server.http_server import ListeningSocket

    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = ListeningSocket(family)
        try:
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen()
        except OSError:
            listening.close()
            raise
    except socket.gaierror as error:
        raise InputError(f"'{host}' is no address of this machine: leave --host out, or give one that is") from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} is taken, perhaps by another `understudy serve`: choose one with --port, "
                "or --port 0 for any free one"
            ) from error
        raise InputError(f"cannot serve on {host}, port {port}: {error.strerror}; choose others") from error
    return listening


def browsable(host: str) -> str:
    """The address as a browser on this machine takes it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104
        return "localhost"
    return f"[{host}]" if ":" in host else host


def serve_until_stopped(
    server_here: Callable[[], HttpServer],
    listening: socket.socket,
    processes: int,
    announce: Callable[[], None],
    page: str | None,
) -> None:
    """Serve until Ctrl-C, in this process or in several; `announce` is called, and `page` opened, when it is up."""
    if processes > 1:
        from understudy.server.processes import serve_processes

        def on_ready() -> None:
            announce()
            if page is not None:
                webbrowser.open(page)

        serve_processes(server_here, [listening], processes, on_ready)
        return
    server = server_here()
    announce()
    if page is not None:
        Thread(target=_open_when_up, args=(server, page), daemon=True).start()
    with suppress(KeyboardInterrupt):  # before the server has begun to listen for it
        server.run(sockets=[listening])


def _open_when_up(server: HttpServer, page: str) -> None:
    while not server.started:
        sleep(0.05)
    webbrowser.open(page)


@contextmanager
def ending_with_its_threads() -> Iterator[None]:
    """Where a thread that was started inside still computes when all is closed, the process ends without it.

    Python would wait for it, and an agent that computes for hours cannot be stopped otherwise.
    """
    before, status = set(threading.enumerate()), 0
    try:
        yield
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if not _is_computing(before):
            raise
    if _is_computing(before):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _is_computing(before: set[threading.Thread]) -> bool:
    return any(thread.is_alive() and not thread.daemon for thread in threading.enumerate() if thread not in before)
