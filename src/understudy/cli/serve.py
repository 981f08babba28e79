"""`understudy serve`: a page to meet the characters on, and an API for any chat program; how a command serves."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.options import (
    DEFAULT_AGENT,
    FILE,
    FOLDER,
    Options,
    key_in,
    load_reply_agent,
    option_group,
    shared,
    slug,
    with_rules,
)
from understudy.cli.progress import read_with_people
from understudy.cli.show import clean
from understudy.cli.utterances import database_option, opened_store, store_option_for
from understudy.errors import InputError, MissingExtra, UnderstudyError
from understudy.formats import EMBEDDED
from understudy.story.storyfile import Story
from understudy.story.user_folders import data_folder

if TYPE_CHECKING:
    from understudy.agents.pools import Candidates
    from understudy.server.context import Listed
    from understudy.server.database import DataFolder
    from understudy.server.http_server import HttpServer
    from understudy.story.dialogue import Agent

PORT = 8321
KEY, READER_KEY = "UNDERSTUDY_API_KEY", "UNDERSTUDY_READER_KEY"
OTHER_AGENTS = ("llm", "local", "encoder")  # offered beside the default, where they are set up


@dataclass(frozen=True, slots=True)
class Serving:
    """Where and how to serve, as `serve` and `study serve` are told."""

    port: int = 0
    host: str = "127.0.0.1"
    key_file: Path | None = None
    host_names: tuple[str, ...] = ()
    processes: int = 1
    behind_proxy: bool = False
    open_page: bool = False
    json_log: bool = False

    @property
    def key(self) -> str | None:
        return os.environ.get(KEY) if self.key_file is None else key_in(self.key_file)

    @contextmanager
    def opened(self) -> Iterator[tuple[ExitStack, socket.socket, str]]:
        """What is closed at the end, the socket that is listened on, and its address as a browser here takes it."""
        from understudy.server.database import private_files
        from understudy.server.telemetry import set_up_log

        with ExitStack() as stack:
            stack.enter_context(private_files())
            listening = stack.enter_context(self._listen())
            set_up_log(self.json_log)
            host = "localhost" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
            address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
            yield stack, listening, address
        click.echo("Stopped.")

    def _listen(self) -> socket.socket:
        from understudy.server.http_server import ListeningSocket

        try:
            family, *_, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
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
            raise InputError(
                f"'{self.host}' is no address of this machine: leave --host out, or give one that is"
            ) from error
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise InputError(
                    f"port {self.port} is taken, perhaps by another `understudy serve`: choose one with --port, "
                    "or --port 0 for any free one"
                ) from error
            raise InputError(
                f"cannot serve on {self.host}, port {self.port}: {error.strerror}; choose others"
            ) from error
        return listening

    def run(
        self, server_here: Callable[[], HttpServer], listening: socket.socket, announce: Callable[[], None], page: str
    ) -> None:
        """Serve until Ctrl-C, in this process or in several; `announce` is called, and `page` opened, when it is up."""
        if self.processes > 1:
            from understudy.server.processes import serve_processes

            def on_ready() -> None:
                announce()
                if self.open_page:
                    webbrowser.open(page)

            serve_processes(server_here, [listening], self.processes, on_ready)
            return
        server = server_here()
        announce()
        if self.open_page:
            Thread(target=_open_when_up, args=(server, page), daemon=True).start()
        with suppress(KeyboardInterrupt):  # before the server has begun to listen for it
            server.run(sockets=[listening])


serving_options = option_group("serving", Serving, {
    "host": partial(
        click.option, "--host", default="127.0.0.1", show_default=True,
        help=f"Address to serve on. Any but this machine's own needs a key, in {KEY} or a --key-file.",
    ),
    "key_file": partial(click.option, "--key-file", type=FILE, help="A file that holds the key."),
    "processes": partial(
        click.option, "--processes", type=click.IntRange(1, 64), default=1, show_default=True,
        help="Server processes on the address; more than one need a PostgreSQL database.",
    ),
    "behind_proxy": partial(
        click.option, "--behind-proxy", is_flag=True,
        help="Trust X-Forwarded-For and -Proto of a proxy on this machine, or at $FORWARDED_ALLOW_IPS.",
    ),
    "open_page": partial(click.option, "--open", "open_page", is_flag=True, help="Open the page in a browser."),
    "json_log": partial(click.option, "--json-log", is_flag=True, help="Log one JSON object a line."),
})  # fmt: skip


def port_option(default: int) -> Callable[..., Any]:
    return click.option(
        "--port", type=click.IntRange(0, 65535), default=default, show_default=True, help="Port; 0 takes any free one."
    )


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


@click.command(short_help="Serve characters to a page and to any chat program.")
@click.argument("stories", metavar="[STORY]...", nargs=-1)
@serving_options("open_page")
@port_option(PORT)
@serving_options("host key_file", key_file="A file that holds the key, for authors: they may do everything.")
@click.option(
    "--reader-key-file", type=FILE, help="A file that holds a second key, for readers: they may talk and read."
)
@click.option(
    "--reader-key", metavar="KEY", envvar=READER_KEY, show_envvar=True,
    help="The readers' key as text; on the command line other users of this machine can see it.",
)  # fmt: skip
@click.option("--name", "host_names", metavar="NAME", multiple=True, help="A host name of the server; may be repeated.")
@click.option(
    "--agent", "agents", metavar="AGENT", multiple=True,
    help=f"Reply agent; may be repeated, the first is the default.  [default: {DEFAULT_AGENT}, and what is set up]",
)  # fmt: skip
@store_option_for("An utterance database: review it on the page; approved lines are said.")
@shared("rules")
@click.option(
    "--models", "listed", type=click.Choice(["main", "end", "all"]), default="main", show_default=True,
    help="Whom a chat program's list of models shows: main characters at their start, end and turning points, these at "
    "their end alone, or everybody at all of these. Any other can be asked for by name.",
)  # fmt: skip
@click.option("--data", "folder", type=FOLDER, help="Folder of chats and uploads.")
@database_option
@serving_options(
    "processes behind_proxy json_log", processes="Server processes on the address; more than one need --database."
)
@shared("annotated")
@ending_with_its_threads()
def serve(
    options: Options, serving: Serving, stories: tuple[str, ...], reader_key_file: Path | None, reader_key: str | None,
    agents: tuple[str, ...], store: str | None, listed: Listed, folder: Path | None, database: str | None,
) -> None:  # fmt: skip
    """Serve the characters of one or more stories (default: `demo`) until Ctrl-C.

    There is a page to talk with them on, and an API that OpenAI's clients speak: a model is
    named story/character@moment, as in demo/Zita@2.3.

    \b
    Examples:
        understudy serve demo --open
        understudy serve demo my-story/ --port 8000
        understudy serve demo --agent encoder --agent tfidf
        understudy serve demo --database postgresql://... --processes 4
    """
    try:
        from understudy.database import is_postgres, masked
        from understudy.judging.loading import ApprovedCandidates
        from understudy.server.access import AccessPolicy
        from understudy.server.app import make_app
        from understudy.server.context import AppContext
        from understudy.server.database import DataFolder
        from understudy.server.http_server import make_server
        from understudy.server.story_registry import StoryRegistry
    except ModuleNotFoundError as error:
        raise MissingExtra("serving", "serve") from error
    if database is not None and not is_postgres(database):
        raise InputError("is no PostgreSQL address: write postgresql://user@host:port/database", masked(database))
    if serving.processes > 1 and database is None:
        raise InputError("several processes need a database that they share: say --database postgresql://...")
    reader_key = reader_key if reader_key_file is None else key_in(reader_key_file)
    policy = AccessPolicy.for_host(serving.host, serving.key, serving.host_names, reader_key)
    with serving.opened() as (stack, listening, address):
        data: DataFolder | Path = folder or data_folder()
        agent_names: list[str] = []  # told where there is one process

        def server_here() -> HttpServer:
            """Opens everything that a server process needs; the caller's `stack` closes it."""
            lines = None if store is None else stack.enter_context(opened_store(store))
            registries: list[StoryRegistry] = []  # filled once stories are open; a wrong agent is reported before that

            def served_stories(identity: str) -> list[Story]:
                """Called at each reply: stories come and go while the server runs."""
                return [story for registry in registries for story in registry.identified(identity)]

            reply_agents = _load_agents(agents, None if lines is None else ApprovedCandidates(lines), served_stories)
            opened, paths = _open_stories(stories or EMBEDDED[:1], options.annotated)
            registry = StoryRegistry(opened)
            registries.append(registry)
            filtered = {name: with_rules(agent, options.rules, served_stories) for name, agent in reply_agents.items()}
            context = stack.enter_context(
                AppContext.open(
                    registry, filtered, data, utterances=lines, story_paths=paths, database_address=database,
                    looks_for_people=not options.annotated, listed=listed,
                )
            )  # fmt: skip
            if serving.processes == 1:
                for name, story in opened.items():
                    click.echo(f"{clean(story.title)} is on as '{name}'.")
                agent_names.extend(filtered)
            return make_server(make_app(context, policy), serving.behind_proxy, give_up=context.chats.give_up)

        def announce() -> None:
            click.echo(f"Talk on {address}/ or with any OpenAI client on {address}/v1 (see {address}/docs).")
            if len(agent_names) > 1:
                click.echo(f"Characters are spoken for by {', '.join(agent_names)}: choose on the page.")
            if store is not None:
                click.echo(f"Review lines on {address}/review.")
            click.echo("Ctrl-C stops.")

        if database is not None and serving.processes > 1:
            data = shared_folder = DataFolder(folder or data_folder())
            stack.callback(shared_folder.close)
            _clean_up(database, shared_folder)
        serving.run(server_here, listening, announce, f"{address}/")


def _clean_up(database: str, folder: DataFolder) -> None:
    """Before any process serves: bring the database up to date, and remove what a killed server left."""
    from understudy.server.database import ServerDatabase
    from understudy.server.story_registry import StoryRegistry
    from understudy.server.uploads.service import UploadService

    opened = ServerDatabase(database)
    try:
        asyncio.run(UploadService(opened, StoryRegistry({}), folder.path).clean_up())
    finally:
        opened.close()


def _load_agents(
    specs: Sequence[str], candidates: Candidates | None, stories: Callable[[str], Sequence[Story]]
) -> dict[str, Agent]:
    """The agents that were named; else the default, and those of the others that can speak here."""
    if specs:
        return {spec: load_reply_agent(spec, candidates, stories) for spec in dict.fromkeys(specs)}
    loaded = {DEFAULT_AGENT: load_reply_agent(DEFAULT_AGENT, candidates, stories)}
    for spec in OTHER_AGENTS:
        with suppress(UnderstudyError):  # it is not set up
            loaded.setdefault(spec, load_reply_agent(spec, candidates, stories))
    return loaded


def _open_stories(stories: Sequence[str], annotated: bool) -> tuple[dict[str, Story], dict[str, Path]]:
    """Each story by the name clients use for it: its own where it came with the program, else from file or title.

    And where those lie that did not come with the program.
    """
    opened: dict[str, Story] = {}
    paths: dict[str, Path] = {}
    for what in dict.fromkeys(stories):
        story = read_with_people(what, annotated)
        name = (
            what
            if what in EMBEDDED
            else slug(Path(what).absolute().stem).lower() or slug(story.title).lower() or "story"
        )
        number, free = 2, name
        while free in opened:
            free, number = f"{name}-{number}", number + 1
        opened[free] = story
        if what not in EMBEDDED:
            paths[free] = Path(what).absolute()
    return opened, paths
