"""`understudy serve`: a page to meet the characters on, and an API for any chat program."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.options import DEFAULT_AGENT, annotated_option, load_reply_agent, rule_option, with_rules
from understudy.cli.progress import read_with_people
from understudy.cli.serving import (
    KEY,
    behind_proxy_option,
    browsable,
    ending_with_its_threads,
    json_log_option,
    key_in,
    listen,
    open_option,
    port_option,
    processes_option,
    serve_until_stopped,
)
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

__all__ = ["serve"]

PORT = 8321
READER_KEY = "UNDERSTUDY_READER_KEY"
OTHER_AGENTS = ("llm", "local", "encoder")  # offered beside the default, where they are set up
KEY_FILE = click.Path(path_type=Path, dir_okay=False)
NOT_IN_NAMES = re.compile(r"[^\w.-]+")


@click.command(short_help="Serve characters to a page and to any chat program.")
@click.argument("stories", metavar="[STORY]...", nargs=-1)
@open_option
@port_option(PORT)
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help=f"Address to serve on. Any but this machine's own needs a key, in {KEY} or a --key-file.",
)  # fmt: skip
@click.option("--key-file", type=KEY_FILE, help="A file that holds the key, for authors: they may do everything.")
@click.option(
    "--reader-key-file", type=KEY_FILE, help="A file that holds a second key, for readers: they may talk and read."
)
@click.option(
    "--reader-key", metavar="KEY", envvar=READER_KEY, show_envvar=True,
    help="The readers' key as text; on the command line other users of this machine can see it.",
)  # fmt: skip
@click.option("--name", "names", metavar="NAME", multiple=True, help="A host name of the server; may be repeated.")
@click.option(
    "--agent", "agents", metavar="AGENT", multiple=True,
    help=f"Reply agent; may be repeated, the first is the default.  [default: {DEFAULT_AGENT}, and what is set up]",
)  # fmt: skip
@store_option_for("An utterance database: review it on the page; approved lines are said.")
@rule_option
@click.option(
    "--models", "listed", type=click.Choice(["main", "end", "all"]), default="main", show_default=True,
    help="Whom a chat program's list of models shows: main characters at their start, end and turning points, these at "
    "their end alone, or everybody at all of these. Any other can be asked for by name.",
)  # fmt: skip
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Folder of chats and uploads.")
@database_option
@processes_option("--database")
@behind_proxy_option
@json_log_option
@annotated_option
@ending_with_its_threads()
def serve(
    stories: tuple[str, ...], open_page: bool, port: int, host: str, key_file: Path | None,
    reader_key_file: Path | None, reader_key: str | None, names: tuple[str, ...], agents: tuple[str, ...],
    store: str | None, rules: tuple[str, ...], listed: Listed, data: Path | None, database: str | None, processes: int,
    behind_proxy: bool, json_log: bool, annotated: bool,
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
        from understudy.database.database import is_postgres, masked
        from understudy.judging.loading import ApprovedCandidates
        from understudy.server.access import AccessPolicy, DatabaseSessions
        from understudy.server.app import make_app
        from understudy.server.context import AppContext
        from understudy.server.database import DataFolder, private_files
        from understudy.server.http_server import make_server
        from understudy.server.story_registry import StoryRegistry
        from understudy.server.telemetry import set_up_log
    except ModuleNotFoundError as error:
        raise MissingExtra("serving", "serve") from error
    if database is not None and not is_postgres(database):
        raise InputError("is no PostgreSQL address: write postgresql://user@host:port/database", masked(database))
    if processes > 1 and database is None:
        raise InputError("several processes need a database that they share: say --database postgresql://...")
    key = os.environ.get(KEY) if key_file is None else key_in(key_file)
    policy = AccessPolicy.for_host(host, key, names, reader_key if reader_key_file is None else key_in(reader_key_file))
    with ExitStack() as stack:
        stack.enter_context(private_files())
        listening = stack.enter_context(listen(host, port))
        address = f"http://{browsable(host)}:{listening.getsockname()[1]}"
        folder_path = data or data_folder()
        folder: DataFolder | Path = folder_path
        agent_names: list[str] = []  # told where there is one process

        def server_here() -> HttpServer:
            """Opens everything that a server process needs; the caller's `stack` closes it."""
            lines = None if store is None else stack.enter_context(opened_store(store))
            registries: list[StoryRegistry] = []  # filled once stories are open; a wrong agent is reported before that

            def served_stories(identity: str) -> list[Story]:
                """Called at each reply: stories come and go while the server runs."""
                return [story for registry in registries for story in registry.identified(identity)]

            reply_agents = _load_agents(agents, None if lines is None else ApprovedCandidates(lines), served_stories)
            opened, paths = _open_stories(stories or EMBEDDED[:1], annotated)
            registry = StoryRegistry(opened)
            registries.append(registry)
            filtered = {name: with_rules(agent, rules, served_stories) for name, agent in reply_agents.items()}
            context = stack.enter_context(
                AppContext.open(
                    registry,
                    filtered,
                    folder,
                    utterances=lines,
                    story_paths=paths,
                    database_address=database,
                    looks_for_people=not annotated,
                    listed=listed,
                )
            )
            if processes == 1:
                for name, story in opened.items():
                    click.echo(f"{clean(story.title)} is on as '{name}'.")
                agent_names.extend(filtered)
            sessions = DatabaseSessions(context.database, policy) if context.database.is_shared else policy.sessions
            app = make_app(context, replace(policy, sessions=sessions))
            return make_server(app, behind_proxy, give_up=context.chats.give_up)

        def announce() -> None:
            click.echo(f"Talk on {address}/ or with any OpenAI client on {address}/v1 (see {address}/docs).")
            if len(agent_names) > 1:
                click.echo(f"Characters are spoken for by {', '.join(agent_names)}: choose on the page.")
            if store is not None:
                click.echo(f"Review lines on {address}/review.")
            click.echo("Ctrl-C stops.")

        set_up_log(json_log)
        if processes > 1:
            assert database is not None
            folder = shared_folder = DataFolder(folder_path)
            stack.callback(shared_folder.close)
            _clean_up(database, shared_folder)
        serve_until_stopped(server_here, listening, processes, announce, f"{address}/" if open_page else None)
    click.echo("Stopped.")


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
        name = what if what in EMBEDDED else _slug(Path(what).absolute().stem) or _slug(story.title) or "story"
        number, free = 2, name
        while free in opened:
            free, number = f"{name}-{number}", number + 1
        opened[free] = story
        if what not in EMBEDDED:
            paths[free] = Path(what).absolute()
    return opened, paths


def _slug(text: str) -> str:
    return NOT_IN_NAMES.sub("-", text).strip("-.").lower()
