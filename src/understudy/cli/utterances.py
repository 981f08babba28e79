"""`understudy utterances`: list, show, approve, reject, undo and export lines of the utterance database."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from rich.text import Text

from understudy.cli.options import FILE, Options, check_output, shared
from understudy.cli.progress import read_showing, working
from understudy.cli.show import (
    clean,
    grid,
    heading,
    indented,
    print_json,
    print_table,
    screen,
    share,
    short,
    shows_letters,
)
from understudy.errors import InputError
from understudy.formats import EMBEDDED
from understudy.story.types import Moment

if TYPE_CHECKING:
    from understudy.metrics.utterances import UtteranceStore
    from understudy.metrics.utterances.record import ReviewDecision, StoredUtterance

Command = TypeVar("Command", bound=Callable[..., Any])

Document = dict[str, Any]
SHOWN = 50
EXAMINED = 1000  # lines, by which it is told why none is listed
LONGEST = 80
WHOLE = 2_000  # characters of a line that is shown by itself
COLOURS = {"approved": "green", "rejected": "red", "pending": "yellow"}

STORE = "UNDERSTUDY_STORE"


def _warn_of_password(ctx: click.Context, option: click.Parameter, store: str | None) -> str | None:
    """Other users of a machine can read the command lines of its processes."""
    from understudy.database import has_password

    is_explicit = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    if store is not None and is_explicit and has_password(store):
        click.echo(
            f"Warning: the password in {option.opts[0]} can be read by others on this machine: give the address in "
            f"{option.envvar}, or the password in PGPASSWORD.",
            err=True,
        )
    return store


def store_option_for(what: str, required: bool = False) -> Callable[[Command], Command]:
    """`--store`, also from the environment."""
    return click.option(
        "--store",
        required=required,
        metavar="DB",
        envvar=STORE,
        show_envvar=True,
        help=what,
        callback=_warn_of_password,
    )


database_option = click.option(
    "--database",
    metavar="ADDRESS",
    envvar="UNDERSTUDY_DATABASE",
    show_envvar=True,
    help="A postgresql:// address that chats and uploads are kept at, instead of a file.",
    callback=_warn_of_password,
)
store_option = store_option_for("The database: a file, or a postgresql:// address.", required=True)
numbers_argument = click.argument("numbers", type=int, nargs=-1, required=True, metavar="NUMBER...")
by_option = click.option("--by", metavar="NAME", help="Who decides (default: your user name).")
character_option = click.option("--as", "character", metavar="NAME", help="Only lines of this character.")
story_option = click.option(
    "--story", "title", metavar="STORY", help="Only lines of this story: a title, or the story."
)
decision_option = click.option(
    "--decision", type=click.Choice(["pending", "approved", "rejected"]), help="Only lines with this decision."
)


@click.group()
def utterances() -> None:
    """The utterance database: list lines, decide about them, undo a decision, export them.

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
@click.option("--at", metavar="MOMENT", default="", help="Only lines that may be said at this moment, dotted: 2.3.")
@click.option("--near", metavar="METRIC=BOUND", help="Lines whose score is closest to the bound first.")
@click.option("--like", metavar="TEXT", help="Lines most like this text in meaning (English; default: approved lines).")
@click.option("--limit", type=click.IntRange(min=1), default=SHOWN, show_default=True, help="At most this many.")
@shared("json")
def list_(
    options: Options, store: str, title: str | None, character: str | None, decision: str | None, near: str | None,
    like: str | None,
) -> None:  # fmt: skip
    """Lines in the database, with what was decided about them.

    \b
    Example:
        understudy utterances list --store lines.db --near psprob=0.2
        understudy utterances list --store lines.db --like "Who wrote the letter?"
    """
    if like is not None and near is not None:
        raise click.UsageError("--like and --near each put the lines in an order: choose one of them")
    with opened_store(store) as opened:
        title, moment = _title(opened, title), Moment.parse(options.at) if options.at else None
        if like is None:
            selected = list(opened.find(character, decision, moment, _near(near), options.limit or SHOWN, title))
        else:
            selected = _most_like(opened, like, options.limit or SHOWN, character, moment, decision, title)
        if not selected and (near is not None or like is not None):
            matching = list(opened.find(character, decision, moment, None, EXAMINED, title))
            _explain_none(near, matching, store)
        counts = opened.counts(title)
    if options.as_json:
        named = [{"character": who, "decision": what, "lines": number} for (who, what), number in counts.items()]
        print_json({"utterances": [_document(stored) for stored in selected], "counts": named})
        return
    out = screen()
    print_table(out, [">", "who", "line", "<decision", "scores"], (_row(stored) for stored in selected), indent=0)
    summary = ", ".join(f"{number:,} {what} of {who}" for (who, what), number in counts.items())
    out.print(f"\n{summary or 'There is nothing in it yet: fill it with `understudy filter`'}.")


@utterances.command()
@click.argument("number", type=int)
@store_option
@shared("json")
def show(options: Options, number: int, store: str) -> None:
    """One line with its scores, where it came from, and every decision about it.

    \b
    Example:
        understudy utterances show 12 --store lines.db
    """
    with opened_store(store) as opened:
        stored, history = opened.get(number), opened.history(number)
    if options.as_json:
        print_json({**_document(stored), "history": [_entry(decision) for decision in history]})
        return
    out, utterance = screen(), stored.utterance
    out.print(heading(f"{number}  {utterance.character}: {short(utterance.text, WHOLE)}"))
    rows: list[tuple[str, str]] = [("decision", _decided(stored)), ("story", utterance.story or "any")]
    rows.append(("may be said", _span(stored)))
    if utterance.file:
        rows.append(("read from", f"{utterance.file}:{utterance.line}"))
    rows += [
        (name, share(score.value, ".3g") + (f"  {score.reason}" if score.reason else ""))
        for name, score in utterance.scores.items()
    ]
    out.print(indented(grid(rows)))
    out.print(heading("\nHistory"))
    entries = (
        (_day(entry.at), entry.by, entry.decision + (f" ({entry.why})" if entry.why else "")) for entry in history
    )
    out.print(indented(grid(entries)))


@utterances.command()
@numbers_argument
@store_option
@by_option
@click.option("--why", default="", metavar="TEXT", help="The reason, stored with the decision.")
@shared("json")
def approve(options: Options, numbers: tuple[int, ...], store: str, by: str | None, why: str) -> None:
    """Approve lines: they may be said.

    \b
    Example:
        understudy utterances approve 12 15 --store lines.db
    """
    _decide(store, numbers, "approved", by, why, options.as_json)


@utterances.command()
@numbers_argument
@store_option
@by_option
@click.option("--why", default="", metavar="TEXT", help="The reason, stored with the decision.")
@shared("json")
def reject(options: Options, numbers: tuple[int, ...], store: str, by: str | None, why: str) -> None:
    """Reject lines: they may not be said. They stay in the database.

    \b
    Example:
        understudy utterances reject 12 --store lines.db --why "too modern"
    """
    _decide(store, numbers, "rejected", by, why, options.as_json)


@utterances.command()
@numbers_argument
@store_option
@by_option
@shared("json")
def undo(options: Options, numbers: tuple[int, ...], store: str, by: str | None) -> None:
    """Take the last decision about lines back.

    \b
    Example:
        understudy utterances undo 12 --store lines.db
    """
    with opened_store(store) as opened:
        decided = [opened.undo(number, by or _somebody()) for number in numbers]
    _show_decisions(decided, options.as_json)


@utterances.command()
@store_option
@story_option
@character_option
@click.option("--decision", type=click.Choice(["pending", "approved", "rejected", "all"]), default="approved",
              show_default=True, help="Lines with this decision.")  # fmt: skip
@click.option("-o", "--output", type=FILE, help="A .jsonl file (default: stdout).")
@shared("force")
def export(options: Options, store: str, title: str | None, character: str | None, decision: str) -> None:
    """Write lines out as JSON lines.

    \b
    Example:
        understudy utterances export --store lines.db -o lines.jsonl
    """
    output = options.output
    check_output(output, [Path(store)] if "://" not in store else [], options.force)
    with opened_store(store) as opened:
        wanted = None if decision == "all" else decision
        selected = opened.find(character, wanted, story=_title(opened, title))
        if output is None:
            for stored in selected:
                sys.stdout.write(json.dumps(_document(stored), ensure_ascii=not shows_letters()) + "\n")
            return
        with output.open("w", encoding="utf-8", newline="\n") as file:
            count = 0
            for stored in selected:
                file.write(json.dumps(_document(stored), ensure_ascii=False) + "\n")
                count += 1
    click.echo(f"{count:,} lines are in {output}.")


@contextmanager
def opened_store(store: str) -> Iterator[UtteranceStore]:
    from understudy.metrics.utterances import open_store

    if "://" not in store and not Path(store).exists():
        raise InputError("no such utterance database: make one with `understudy filter ... --store`", store)
    opened = open_store(store)
    try:
        yield opened
    finally:
        opened.close()


def _title(opened: UtteranceStore, story: str | None) -> str | None:
    """The title that `--story` means: one that is in the database, or that of a story to read."""
    if story is None or story in (titles := opened.stories()):
        return story
    if story in EMBEDDED or Path(story).exists():
        return read_showing(story).title
    known = ", ".join(f"'{title}'" for title in titles if title) or "none"
    raise InputError(
        f"no line is of a story called '{story}', and there is no such story to read: it has lines of {known}"
    )


def _decide(store: str, numbers: tuple[int, ...], decision: str, by: str | None, why: str, as_json: bool) -> None:
    with opened_store(store) as opened:
        for number in numbers:
            opened.get(number)  # all are there before any is decided
        decided = [opened.decide(number, decision, by or _somebody(), why) for number in numbers]
    _show_decisions(decided, as_json)


def _show_decisions(decided: list[StoredUtterance], as_json: bool) -> None:
    if as_json:
        print_json({"utterances": [_document(stored) for stored in decided]})
        return
    for stored in decided:
        click.echo(f"{stored.number}: {stored.decision}. {clean(short(stored.utterance.text, LONGEST))}")


def _near(text: str | None) -> tuple[str, float] | None:
    if text is None:
        return None
    metric, _, bound = text.partition("=")
    try:
        return metric.strip(), float(bound)
    except ValueError as error:
        raise click.UsageError(f"--near takes a metric and a bound, as in psprob=0.2, not '{text}'") from error


def _explain_none(near: str | None, matching: Sequence[StoredUtterance], store: str) -> None:
    """Raise where lines match, but none has what they were to be put in order by."""
    from understudy.database import masked

    if not matching:
        return
    if near is None:
        raise InputError("no line that matches has a vector: only approved lines in English have, without --no-vectors")
    metric, _, bound = near.partition("=")
    scored = {name for stored in matching for name, score in stored.utterance.scores.items() if score.value is not None}
    raise InputError(
        f"no line that matches was scored by {metric.strip()}: they have {', '.join(sorted(scored)) or 'no score'}. "
        f'Judge them by it first: understudy filter FILE --rule "{metric.strip()}>={bound}" ... --store {masked(store)}'
    )


def _somebody() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def _most_like(
    store: UtteranceStore, text: str, limit: int, character: str | None, at: Moment | None, decision: str | None,
    story: str | None,
) -> list[StoredUtterance]:  # fmt: skip
    from understudy.language.encoding.encoder import SentenceEncoder
    from understudy.metrics.utterances.record import APPROVED

    with working("Looking for lines like it"):
        vector = SentenceEncoder().encode([text], keep=False)[0]
        return store.nearest(vector, limit, character, at, decision or APPROVED, story=story)


def _row(stored: StoredUtterance) -> tuple[str | Text, ...]:
    named = [(name, score.value) for name, score in stored.utterance.scores.items()]
    if stored.likeness is not None:
        named.insert(0, ("likeness", stored.likeness))
    scores = " ".join(f"{name} {share(value, '.3g')}" for name, value in named)
    decision = Text(stored.decision, style=COLOURS[stored.decision])
    return str(stored.number), stored.utterance.character, short(stored.utterance.text, LONGEST), decision, scores


def _decided(stored: StoredUtterance) -> str:
    return f"{stored.decision}, by {stored.by or 'nobody yet'}" + (f" on {_day(stored.at)}" if stored.at else "")


def _day(at: str) -> str:
    return at[:19].replace("T", " ")


def _span(stored: StoredUtterance) -> str:
    since, until = stored.utterance.since, stored.utterance.until
    begins = "from the start" if since == Moment((0,)) else f"from {since.dotted}"
    return begins + (" on" if until.is_end else f" until {until.dotted}")


def _entry(entry: ReviewDecision) -> Document:
    return {"decision": entry.decision, "by": entry.by, "at": entry.at, "why": entry.why}


def _document(stored: StoredUtterance) -> Document:
    utterance = stored.utterance
    return {
        "number": stored.number,
        "text": utterance.text,
        "story": utterance.story,
        "character": utterance.character,
        "since": utterance.since.dotted,
        "until": utterance.until.dotted,
        "scores": {name: score.value for name, score in utterance.scores.items()},
        "reasons": {name: score.reason for name, score in utterance.scores.items() if score.reason},
        "decision": stored.decision,
        "by": stored.by,
        "at": stored.at,
        "file": utterance.file,
        "line": utterance.line,
        **({} if stored.likeness is None else {"likeness": round(stored.likeness, 6)}),
    }
