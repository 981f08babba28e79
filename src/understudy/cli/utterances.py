"""`understudy utterances`: look into the utterance database, decide, take back, and take out."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from rich.text import Text

from understudy.cli.options import existing_refused, force_option, json_option
from understudy.cli.progress import read_showing
from understudy.cli.show import Column, clean, grid, heading, indented, print_json, screen, short, shows_letters, table
from understudy.errors import InputError
from understudy.readers import EMBEDDED
from understudy.story import Moment

if TYPE_CHECKING:
    from understudy.utterances import Decision, StoredUtterance, UtteranceStore

__all__ = ["opened_store", "store_option", "store_option_of", "utterances"]

Command = TypeVar("Command", bound=Callable[..., Any])

Document = dict[str, Any]
SHOWN = 50
LONGEST = 80
WHOLE = 2_000  # letters of a line that is shown by itself
COLOURS = {"approved": "green", "rejected": "red", "pending": "yellow"}

STORE = "UNDERSTUDY_STORE"


def _told_of_password(ctx: click.Context, option: click.Parameter, store: str | None) -> str | None:
    """Whoever lists the programs of a machine reads their command lines."""
    from understudy.utterances.address import has_password

    told = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    if store is not None and told and has_password(store):
        click.echo(
            f"Warning: the password in --store can be read by others on this machine: give the address in {STORE}, or "
            "the password in PGPASSWORD.",
            err=True,
        )
    return store


def store_option_of(what: str, required: bool = False) -> Callable[[Command], Command]:
    """`--store`, or what the environment says."""
    return click.option(
        "--store",
        required=required,
        metavar="DB",
        envvar=STORE,
        show_envvar=True,
        help=what,
        callback=_told_of_password,
    )


store_option = store_option_of("The database: a file, or a postgresql:// address.", required=True)
numbers_argument = click.argument("numbers", type=int, nargs=-1, required=True, metavar="NUMBER...")
by_option = click.option("--by", metavar="NAME", help="Who decides; you, if not said.")
character_option = click.option("--as", "character", metavar="NAME", help="Only lines of this character.")
story_option = click.option("--story", metavar="STORY", help="Only lines of this story: its title, or the story.")
decision_option = click.option("--decision", type=click.Choice(["pending", "approved", "rejected"]), help="Only these.")


@click.group()
def utterances() -> None:
    """Lines that may be said: list them, decide about them, take a decision back, take them out.

    \b
    Examples:
        understudy utterances list --store lines.db --near psprob=0.2
        understudy utterances approve 12 15 --store lines.db
        understudy utterances undo 12 --store lines.db
    """


@utterances.command("list")
@store_option
@story_option
@character_option
@decision_option
@click.option("--at", metavar="MOMENT", help="Only lines that may be said at this moment, dotted: 2.3.")
@click.option("--near", metavar="METRIC=BOUND", help="Those whose score is closest to a bound first.")
@click.option("--limit", type=click.IntRange(min=1), default=SHOWN, show_default=True, help="How many.")
@json_option
def list_(
    store: str, story: str | None, character: str | None, decision: str | None, at: str | None, near: str | None,
    limit: int, as_json: bool,
) -> None:  # fmt: skip
    """Lines in the database, with what was decided about them.

    \b
    Example:
        understudy utterances list --store lines.db --near psprob=0.2
    """
    with opened_store(store) as opened:
        title = _title(opened, story)
        found = list(opened.find(character, decision, Moment.parse(at) if at else None, _near(near), limit, title))
        counts = opened.counts(title)
    if as_json:
        named = [{"character": who, "decision": what, "lines": number} for (who, what), number in counts.items()]
        print_json({"utterances": [_document(kept) for kept in found], "counts": named})
        return
    out = screen()
    columns: list[Column] = [("", {"no_wrap": True, "justify": "right"}), ("who", {"no_wrap": True, "max_width": 16})]
    columns += ["line", ("decision", {"no_wrap": True}), ("scores", {})]
    out.print(table(columns, (_row(kept) for kept in found)))
    told = ", ".join(f"{number:,} {what} of {who}" for (who, what), number in counts.items())
    out.print(f"\n{told or 'There is nothing in it yet: fill it with `understudy filter`'}.")


@utterances.command()
@click.argument("number", type=int)
@store_option
@json_option
def show(number: int, store: str, as_json: bool) -> None:
    """One line with its scores, where it came from, and every decision about it.

    \b
    Example:
        understudy utterances show 12 --store lines.db
    """
    with opened_store(store) as opened:
        kept, history = opened.get(number), opened.history(number)
    if as_json:
        print_json({**_document(kept), "history": [_entry(one) for one in history]})
        return
    out, one = screen(), kept.utterance
    out.print(heading(f"{number}  {one.character}: {short(one.text, WHOLE)}"))
    rows: list[tuple[str, str]] = [("decision", _decided(kept)), ("story", one.story or "any")]
    rows.append(("may be said", _span(kept)))
    if one.file:
        rows.append(("read from", f"{one.file}:{one.line}"))
    rows += [
        (name, _figure(score.value) + (f"  {score.reason}" if score.reason else ""))
        for name, score in one.scores.items()
    ]
    out.print(indented(grid(rows)))
    out.print(heading("\nHistory"))
    entries = ((_day(one.at), one.by, one.decision + (f" ({one.why})" if one.why else "")) for one in history)
    out.print(indented(grid(entries)))


@utterances.command()
@numbers_argument
@store_option
@by_option
@click.option("--why", default="", metavar="TEXT", help="A word on the reason, kept with it.")
@json_option
def approve(numbers: tuple[int, ...], store: str, by: str | None, why: str, as_json: bool) -> None:
    """Let lines be said.

    \b
    Example:
        understudy utterances approve 12 15 --store lines.db
    """
    _decide(store, numbers, "approved", by, why, as_json)


@utterances.command()
@numbers_argument
@store_option
@by_option
@click.option("--why", default="", metavar="TEXT", help="A word on the reason, kept with it.")
@json_option
def reject(numbers: tuple[int, ...], store: str, by: str | None, why: str, as_json: bool) -> None:
    """Keep lines from being said. They stay in the database.

    \b
    Example:
        understudy utterances reject 12 --store lines.db --why "too modern"
    """
    _decide(store, numbers, "rejected", by, why, as_json)


@utterances.command()
@numbers_argument
@store_option
@by_option
@json_option
def undo(numbers: tuple[int, ...], store: str, by: str | None, as_json: bool) -> None:
    """Take the last decision about lines back.

    \b
    Example:
        understudy utterances undo 12 --store lines.db
    """
    with opened_store(store) as opened:
        now = [opened.undo(number, by or _somebody()) for number in numbers]
    _tell(now, as_json)


@utterances.command()
@store_option
@story_option
@character_option
@click.option("--decision", type=click.Choice(["pending", "approved", "rejected", "all"]), default="approved",
              show_default=True, help="Which to write.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="A .jsonl file; else stdout.")
@force_option
def export(
    store: str, story: str | None, character: str | None, decision: str, output: Path | None, force: bool
) -> None:
    """Write lines out as JSON lines.

    \b
    Example:
        understudy utterances export --store lines.db -o lines.jsonl
    """
    if output is not None:
        existing_refused(output, force, [Path(store)] if "://" not in store else [])
    with opened_store(store) as opened:
        wanted = None if decision == "all" else decision
        found = opened.find(character, wanted, story=_title(opened, story))
        if output is None:
            for kept in found:
                sys.stdout.write(json.dumps(_document(kept), ensure_ascii=not shows_letters()) + "\n")
            return
        with output.open("w", encoding="utf-8", newline="\n") as file:
            count = 0
            for kept in found:
                file.write(json.dumps(_document(kept), ensure_ascii=False) + "\n")
                count += 1
    click.echo(f"{count:,} lines are in {output}.")


@contextmanager
def opened_store(store: str) -> Iterator[UtteranceStore]:
    from understudy.utterances import open_store

    if "://" not in store and not Path(store).exists():
        raise InputError("no such utterance database: make one with `understudy filter ... --store`", store)
    opened = open_store(store)
    try:
        yield opened
    finally:
        opened.close()


def _title(opened: UtteranceStore, story: str | None) -> str | None:
    """The title under which lines of a story are kept; one that is not known there may be the story itself."""
    if story is None or story in (titles := opened.stories()):
        return story
    if story in EMBEDDED or Path(story).exists():
        return read_showing(story).title
    kept = ", ".join(f"'{title}'" for title in titles if title) or "none"
    raise InputError(
        f"no line is of a story called '{story}', and there is no such story to read: it has lines of {kept}"
    )


def _decide(store: str, numbers: tuple[int, ...], decision: str, by: str | None, why: str, as_json: bool) -> None:
    with opened_store(store) as opened:
        for number in numbers:
            opened.get(number)  # all are there before any is decided
        now = [opened.decide(number, decision, by or _somebody(), why) for number in numbers]
    _tell(now, as_json)


def _tell(now: list[StoredUtterance], as_json: bool) -> None:
    if as_json:
        print_json({"utterances": [_document(kept) for kept in now]})
        return
    for kept in now:
        click.echo(f"{kept.number}: {kept.decision}. {clean(short(kept.utterance.text, LONGEST))}")


def _near(told: str | None) -> tuple[str, float] | None:
    if told is None:
        return None
    metric, _, bound = told.partition("=")
    try:
        return metric.strip(), float(bound)
    except ValueError as error:
        raise click.UsageError(f"--near takes a metric and a bound, as in psprob=0.2, not '{told}'") from error


def _somebody() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def _row(kept: StoredUtterance) -> tuple[str | Text, ...]:
    scores = " ".join(f"{name} {_figure(score.value)}" for name, score in kept.utterance.scores.items())
    decision = Text(kept.decision, style=COLOURS[kept.decision])
    return str(kept.number), kept.utterance.character, short(kept.utterance.text, LONGEST), decision, scores


def _decided(kept: StoredUtterance) -> str:
    return f"{kept.decision}, by {kept.by or 'nobody yet'}" + (f" on {_day(kept.at)}" if kept.at else "")


def _day(at: str) -> str:
    return at[:19].replace("T", " ")


def _span(kept: StoredUtterance) -> str:
    since, until = kept.utterance.since, kept.utterance.until
    begins = "from the start" if since == Moment((0,)) else f"from {since.dotted}"
    return begins + (" on" if until.is_end else f" until {until.dotted}")


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _entry(entry: Decision) -> Document:
    return {"decision": entry.decision, "by": entry.by, "at": entry.at, "why": entry.why}


def _document(kept: StoredUtterance) -> Document:
    one = kept.utterance
    return {
        "number": kept.number,
        "text": one.text,
        "story": one.story,
        "character": one.character,
        "since": one.since.dotted,
        "until": one.until.dotted,
        "scores": {name: score.value for name, score in one.scores.items()},
        "reasons": {name: score.reason for name, score in one.scores.items() if score.reason},
        "decision": kept.decision,
        "by": kept.by,
        "at": kept.at,
        "file": one.file,
        "line": one.line,
    }
