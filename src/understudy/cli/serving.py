"""`understudy serve`: a page to meet the characters on, and an API for any chat program."""

from __future__ import annotations

import errno
import logging
import os
import re
import socket
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

import click

from understudy.cli.conversation import speaker_named
from understudy.cli.progress import read_showing
from understudy.cli.show import clean
from understudy.cli.utterances import opened_store
from understudy.errors import InputError, MissingExtra
from understudy.readers import EMBEDDED
from understudy.storyfile import Story
from understudy.user_folders import data_folder

if TYPE_CHECKING:
    import uvicorn

    from understudy.server.guard import Guard

__all__ = ["serve"]

PORT = 8321
KEY = "UNDERSTUDY_API_KEY"
GRACE = 120  # seconds that answers under way are given to end when the server stops
BACKLOG = 2048  # connections that may wait to be taken up
NOT_IN_NAMES = re.compile(r"[^\w.-]+")


@click.command(short_help="Serve characters to a page and to any chat program.")
@click.argument("stories", metavar="[STORY]...", nargs=-1)
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes any free one.")
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help=f"The address to serve on. Any but this machine's own needs a key in {KEY}.",
)  # fmt: skip
@click.option("--name", "names", metavar="NAME", multiple=True, help="A host name it is called by; may be repeated.")
@click.option(
    "--agent", metavar="AGENT", default="encoder", show_default=True,
    help="Who finds the words: a name, a model folder, or module:factory.",
)  # fmt: skip
@click.option("--store", metavar="DB", help="An utterance database: review it on the page; approved lines are said.")
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Where chats and uploads are kept.")
@click.option("--json-log", is_flag=True, help="Log one JSON object a line.")
def serve(
    stories: tuple[str, ...], open_page: bool, port: int, host: str, names: tuple[str, ...], agent: str,
    store: str | None, data: Path | None, json_log: bool,
) -> None:  # fmt: skip
    """Serve the characters of one or more stories (`demo` unless told) until Ctrl-C.

    There is a page to talk with them on, and an API that OpenAI's clients speak: a model is
    named story/character@moment, as in demo/Zita@2.3.

    \b
    Examples:
        understudy serve demo --open
        understudy serve demo my-story/ --port 8000
    """
    try:
        from understudy.judging.approved import ApprovedCandidates
        from understudy.server.app import make_app
        from understudy.server.guard import Door
        from understudy.server.house import House
        from understudy.server.stage import Stage
    except ModuleNotFoundError as error:
        raise MissingExtra("serving", "serve") from error
    door = Door.of(host, os.environ.get(KEY), names)
    with ExitStack() as open_now:
        lines = None if store is None else open_now.enter_context(opened_store(store))
        speaking = speaker_named(agent, None if lines is None else ApprovedCandidates(lines))
        listening = open_now.enter_context(_listen(host, port))
        opened = _opened(stories or EMBEDDED[:1])
        with House.open(Stage(opened), speaking, data or data_folder(), utterances=lines) as house:
            _log(json_log)
            address = f"http://{_shown(host)}:{listening.getsockname()[1]}"
            for name, story in opened.items():
                click.echo(f"{clean(story.title)} is on as '{name}'.")
            click.echo(f"Talk on {address}/ or with any OpenAI client on {address}/v1 (see {address}/docs).")
            if lines is not None:
                click.echo(f"Review lines on {address}/review.")
            click.echo("Ctrl-C stops.")
            _run(make_app(house, door), listening, f"{address}/" if open_page else None)
    click.echo("Stopped.")


def _opened(stories: Sequence[str]) -> dict[str, Story]:
    """Each story by the name clients use for it: its own where it came with the program, else from file or title."""
    opened: dict[str, Story] = {}
    for what in dict.fromkeys(stories):
        story = read_showing(what)
        name = what if what in EMBEDDED else _slug(Path(what).absolute().stem) or _slug(story.title) or "story"
        number, free = 2, name
        while free in opened:
            free, number = f"{name}-{number}", number + 1
        opened[free] = story
    return opened


def _slug(text: str) -> str:
    return NOT_IN_NAMES.sub("-", text).strip("-.").lower()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family)
        try:
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(where)
            listening.listen(BACKLOG)
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


def _shown(host: str) -> str:
    """The address as a browser on this machine takes it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _log(json_log: bool) -> None:
    from understudy.server.telemetry import LOG, JsonLines

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if json_log else logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    LOG.handlers = [handler]
    LOG.setLevel(logging.INFO)
    LOG.propagate = False


def _run(app: Guard, listening: socket.socket, page: str | None) -> None:
    """Until it is told to stop; answers under way are finished first."""
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            app, lifespan="on", log_config=None, log_level="warning", access_log=False, server_header=False,
            ws="none", timeout_graceful_shutdown=GRACE,
        )
    )  # fmt: skip
    if page is not None:
        Thread(target=_open_when_up, args=(server, page), daemon=True).start()
    with suppress(KeyboardInterrupt):  # which the server passes on once it has stopped
        server.run(sockets=[listening])


def _open_when_up(server: uvicorn.Server, page: str) -> None:
    while not server.started:
        sleep(0.05)
    webbrowser.open(page)
