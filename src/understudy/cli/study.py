"""`understudy study`: questions put to people, from the study's file to their answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.options import FILE, PATH, Options, check_output, option_group, shared
from understudy.cli.progress import watching
from understudy.cli.serve import Serving, ending_with_its_threads, port_option, serving_options
from understudy.cli.show import bar, clean, heading, print_json, print_table, screen, shows_letters
from understudy.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from understudy.server.http_server import HttpServer
    from understudy.studies.store import StoredStudy, StudyStore

STORE = "UNDERSTUDY_STUDIES"
BAR = 30
SHOWN_COMMENTS = 10
MATERIAL: dict[str, tuple[str, str]] = {
    "rate": ("chats.jsonl", "self-chat --story demo --who Zita,Benedek --agents encoder,tfidf --chats 6 --turns 8"),
    "candidates": ("set.json", "questions demo --agents encoder,tfidf --limit 20"),
}
"""By kind, the file that its template names, and the command that makes one from the story that comes with us."""


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A study's file, or its name where it is in a database already; the database; what it is called there."""

    path: Path = Path()
    store: str | None = None
    name: str | None = None

    @property
    def location(self) -> str:
        return self.store or str(self.path.parent / "studies.db")

    @contextmanager
    def opened(self) -> Iterator[tuple[StudyStore, StoredStudy]]:
        """The database and the study in it, which must have been opened there before."""
        from understudy.studies.opening import study_name
        from understudy.studies.store import open_study_store

        if "://" not in self.location and not Path(self.location).exists():
            raise InputError(
                f"is not there: open the study first with `understudy study serve {self.path}`", self.location
            )
        with open_study_store(self.location) as store:
            yield store, store.study(self.name or study_name(self.path))


at_study = option_group("study_file", StudyFile, {
    "path": partial(click.argument, "path", metavar="STUDY.toml", type=FILE),
    "store": partial(
        click.option, "--store", metavar="DB", envvar=STORE, show_envvar=True,
        help="Database: a file, or postgresql://... (default: studies.db beside the study).",
    ),
    "name": partial(
        click.option, "--name", metavar="NAME", help="What the study is called there (default: its file's name)."
    ),
})  # fmt: skip


@click.group()
def study() -> None:
    """Put questions to people: collect, rate, annotate, judge.

    A study is one file. Its people need nothing but a link, see only their own items, can take back what they said, and
    can have all of it deleted. Answers carry a code, not a name.

    \b
    Examples:
        understudy study new likely -o zita.toml
        understudy study simulate zita.toml --people 20
        understudy study serve zita.toml --links 10
        understudy study status zita.toml
        understudy study agree zita.toml
        understudy study results zita.toml -o answers.jsonl
    """


@study.command(short_help="Write the file of a new study.")
@click.argument("kind", metavar="KIND")
@click.option("-o", "--output", "path", type=FILE, required=True, metavar="FILE.toml")
@shared("force")
def new(options: Options, kind: str, path: Path) -> None:
    """Write the file of a new study, with every key it may have, for you to edit.

    Material that the file names is made beside it from the story `demo`, unless it is there.

    \b
    KIND is what a person does
        personas     writes a persona
        revise       rewrites one in other words
        chat         talks with a person or an agent, not knowing which
        rate         rates a chat, and says which of two profiles it was
        criteria     rates a reply in its scene
        likely       says whether a character would say a line
        annotate     notes scenes, attributes and ties by chapter
        candidates   picks the replies that would do
        guess        names the masked speakers of a scene
        prefer       chooses between two agents' replies

    \b
    Example:
        understudy study new likely -o zita.toml
    """
    from understudy.story.storyfile.toml_tables import replace_text
    from understudy.studies.kinds import kind_of

    template = kind_of(kind).template
    check_output(path, force=options.force)
    replace_text(path, template)
    if kind in MATERIAL:
        _make_material(path.parent / MATERIAL[kind][0], MATERIAL[kind][1])
    click.echo(f"Wrote {path}: edit it, try it with `understudy study simulate {path}`, then serve it.")


def _make_material(path: Path, command: str) -> None:
    if path.exists():
        return
    click.echo(f"Making {path}: understudy {command} -o {path}")
    with redirect_stdout(StringIO()):  # what the command itself says of its chats or sessions
        root = click.get_current_context().find_root().command
        root.main([*command.split(), "-o", str(path)], standalone_mode=False)


@study.command(short_help="Make links for participants.")
@at_study("path")
@click.option("-n", "--links", type=click.IntRange(1, 10_000), required=True, metavar="N", help="How many.")
@click.option("--address", metavar="URL", default="http://127.0.0.1:7860", show_default=True, help="Of the server.")
@at_study("store name")
@shared("json")
def invite(options: Options, study_file: StudyFile, links: int, address: str) -> None:
    """Make links for participants, one each. They are shown once: only their hashes are stored.

    \b
    Example:
        understudy study invite zita.toml --links 20
    """
    from understudy.studies.opening import open_study
    from understudy.studies.store import open_study_store

    with open_study_store(study_file.location) as opened:
        with watching() as progress:
            stored = open_study(opened, study_file.path, study_file.name, progress)
        urls = [link_to(address, token) for token in opened.invite(stored.name, links)]
    print_json({"study": stored.name, "links": urls}) if options.as_json else click.echo("\n".join(urls))


def link_to(address: str, token: str) -> str:
    return f"{address.rstrip('/')}/take/{token}"


@study.command(short_help="Show how far a study is.")
@at_study("path store name")
@shared("json")
def status(options: Options, study_file: StudyFile) -> None:
    """Show how far a study is: answers, pace, people and comments; never who wrote what.

    \b
    Example:
        understudy study status zita.toml
    """
    from understudy.studies.status import status_of

    with study_file.opened() as (opened, stored):
        state = status_of(opened, stored)
        events = opened.events(stored.id)
    if options.as_json:
        log = [{"happened": event.happened, "what": event.what} for event in events]
        print_json({**state.document(), "log": log})
        return
    out = screen()
    out.print(heading(f"{clean(state.title)} ({state.kind})"))
    share = min(1.0, state.answers / state.wanted) if state.wanted else 0.0
    drawn = bar(share, BAR, ascii_only=not shows_letters())
    out.print(f"  {drawn} {state.answers} of {state.wanted} answers; {state.complete} of {state.items} items complete")
    if state.seconds is not None:
        out.print(f"  {state.seconds:.0f} s an answer (median)")
    if state.closed:
        out.print(f"  closed since {state.closed}")
    people = [
        (person.code, person.state, str(person.answered), str(person.failed_checks), person.last_seen or "")
        for person in state.people
    ]
    if people:
        print_table(out, ["person", "state", ">answers", ">failed checks", "last seen"], people)
    for item, comment in state.comments[:SHOWN_COMMENTS]:
        out.print(f"  {clean(item)}: {clean(comment)}")


@study.command(short_help="End a person's link, or close a study.")
@at_study("path")
@click.option("--person", "codes", metavar="CODE", multiple=True, help="End the link of p7, say; may be repeated.")
@click.option("--close", "closing", is_flag=True, help="Close the study: nothing is given out or taken any more.")
@click.option("--reopen", is_flag=True, help="Open a closed study again.")
@at_study("store name")
def end(study_file: StudyFile, codes: tuple[str, ...], closing: bool, reopen: bool) -> None:
    """End a person's link, or close a study. What was answered stays.

    \b
    Examples:
        understudy study end zita.toml --person p7
        understudy study end zita.toml --close
    """
    if closing and reopen:
        raise click.UsageError("--close and --reopen are opposites: say one of them")
    if not codes and not closing and not reopen:
        raise click.UsageError("say what to end: --person CODE, --close or --reopen")
    with study_file.opened() as (opened, stored):
        for code in codes:
            opened.end(stored.name, code)
            click.echo(f"The link of {code} is ended.")
        if closing or reopen:
            opened.close_study(stored.name, is_closed=closing)
            click.echo(f"'{stored.name}' is {'closed' if closing else 'open again'}.")


def announcement(stored: StoredStudy, address: str) -> str:
    state = "closed (`study end --reopen` opens it again)" if stored.closed else "open"
    return f"'{clean(stored.study.title)}' is {state}: {address}/studies/{stored.name}"


@click.command("serve", short_help="Serve studies to their participants.")
@click.argument("paths", metavar="STUDY.toml...", nargs=-1, required=True, type=PATH)
@click.option("--links", type=click.IntRange(0, 10_000), default=0, metavar="N", help="Make N links for each study.")
@at_study("store name")
@port_option(7860)
@serving_options("host key_file", key_file="A file that holds the organiser's key.")
@click.option("--host-name", "host_names", metavar="NAME", multiple=True, help="A host name of the server.")
@serving_options(
    "processes behind_proxy open_page json_log",
    processes="Server processes on the address; more than one need --store postgresql://...",
)
@ending_with_its_threads()
def serve_study(study_file: StudyFile, serving: Serving, paths: tuple[Path, ...], links: int) -> None:
    """Serve studies to their participants until Ctrl-C.

    A participant needs nothing but a link; make some with --links, with `study invite`, or on the organiser's page,
    which shows how far the study is. On an address that others can reach, that page needs the key.

    \b
    Examples:
        understudy study serve zita.toml --links 5 --open
        understudy study serve zita.toml --host 0.0.0.0 --key-file key.txt
        understudy study serve zita.toml --store postgresql://... --processes 4
    """
    try:
        from understudy.server.access import AccessPolicy
        from understudy.server.http_server import make_server
        from understudy.server.studies import StudyContext
        from understudy.server.studies.routes import make_study_app
    except ModuleNotFoundError as error:
        raise MissingExtra("serving", "serve") from error
    from understudy.database import is_postgres
    from understudy.studies.opening import agents_of, open_study
    from understudy.studies.store import open_study_store

    if study_file.name is not None and len(paths) > 1:
        raise InputError("--name is for one study: leave it out, or serve one at a time")
    location = replace(study_file, path=paths[0]).location
    if serving.processes > 1 and not is_postgres(location):
        raise InputError("several processes need a database that they share: say --store postgresql://...")
    policy = AccessPolicy.for_host(serving.host, serving.key, serving.host_names)
    with serving.opened() as (stack, listening, address):  # before links are made that nobody would be shown
        with open_study_store(location) as opened, watching() as progress:
            studies = [open_study(opened, path, study_file.name, progress) for path in paths]
            tokens = {stored.name: opened.invite(stored.name, links) if links else [] for stored in studies}

        def server_here() -> HttpServer:
            """Opens everything that a server process needs; the caller's `stack` closes it."""
            agents = agents_of([stored.study for stored in studies])
            context = StudyContext(stack.enter_context(open_study_store(location)), agents=agents)
            return make_server(make_study_app(context, policy), serving.behind_proxy, on_stop=context.is_stopping.set)

        def announce() -> None:
            for stored in studies:
                click.echo(announcement(stored, address))
                for token in tokens[stored.name]:
                    click.echo(f"  {link_to(address, token)}")
            click.echo("Ctrl-C stops.")

        serving.run(server_here, listening, announce, f"{address}/studies")
