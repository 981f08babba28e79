"""`understudy draft` and `draft review`: facts and ties found in a story's text, for its author to decide about."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from understudy.cli.options import json_option, story_argument
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import Column, Screen, clean, indented, print_json, print_table, screen, short, spoken
from understudy.errors import InputError
from understudy.formats import embedded
from understudy.formats.story_folder import CAST
from understudy.people import draft as drafting
from understudy.people.draft import StoryDraft, accept, change, entry_of, read_draft, reject, undecided_of_kind
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FoundFile, PlacedEntry
from understudy.story.types import Fact, Relation

if TYPE_CHECKING:
    from understudy.people.llm_reader import LlmReader

__all__ = ["claim_text", "draft", "draft_document", "review"]

LONGEST = 70  # characters of an example
FIND = "find"


class DraftCommands(click.Group):
    """`draft STORY` finds; `draft review STORY` and `draft apply STORY` are commands of their own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [FIND, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "STORY [OPTIONS]  |  review STORY  |  apply STORY")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.commands[FIND].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=DraftCommands, short_help="Find who people are to each other in the text.")
def draft() -> None:
    """Find facts and ties in a story's text, and write them beside it as found.toml.

    Each has its source lines, a confidence, and holds from the first of these lines on, for those who were there. From
    the bound in the file on (0.6) it is used wherever the story is, always marked as found; `review` is for deciding,
    `apply` writes what was taken into cast.toml. Decisions stay when the story is drafted again; a draft that was
    stopped goes on where it was.

    \b
    Examples:
        understudy draft my-story/
        understudy draft friends.story --json
        understudy draft my-story/ --llm
        understudy draft review my-story/
        understudy draft apply my-story/
    """


@draft.command(FIND, hidden=True)
@story_argument
@click.option("--llm", "use_llm", is_flag=True, help="Let the language model that is set up read every scene as well.")
@click.option("--model", metavar="MODEL", help="With --llm: another model than the default, as in `--agent llm:MODEL`.")
@click.option("--fresh", is_flag=True, help="Forget what a draft that was stopped, or the language model, had found.")
@json_option
def find(story: str, use_llm: bool, model: str | None, fresh: bool, as_json: bool) -> None:
    """Find facts and ties in a story's text.

    \b
    Example:
        understudy draft find my-story/
    """
    if model is not None and not use_llm:
        raise click.UsageError("--model goes with --llm")
    reader = _llm_reader(model, fresh) if use_llm else None
    opened = read_showing(story)
    with watching() as progress:
        finders: list[tuple[str, drafting.Finder]] = [*drafting.FINDERS, *([("llm", reader)] if reader else [])]
        drafted = drafting.draft(opened, progress, finders, fresh)
    if as_json:
        cost = {} if reader is None else {"llm": _cost_document(reader)}
        print_json(draft_document(drafted) | cost)
        return
    _print_draft(drafted)
    if reader is not None:
        _print_cost(reader)


def _llm_reader(model: str | None, fresh: bool) -> LlmReader:
    from understudy.language.backends import open_llm
    from understudy.people.llm_reader import LlmReader

    return LlmReader(open_llm(model), fresh)


def _cost_document(reader: LlmReader) -> dict[str, Any]:
    return {
        "model": reader.backend.name,
        "calls": reader.usage.calls,
        "prompt_tokens": reader.usage.prompt_tokens,
        "completion_tokens": reader.usage.completion_tokens,
        "stored_answers": reader.stored,
        "dropped": dict(reader.dropped),
    }


def _print_cost(reader: LlmReader) -> None:
    usage = reader.usage
    stored = f"; {reader.stored:,} answers of an earlier run were used again" if reader.stored else ""
    click.echo(
        f"{reader.backend.name}: {usage.calls:,} calls, {usage.prompt_tokens:,} tokens read and "
        f"{usage.completion_tokens:,} written{stored}."
    )
    for reason, count in reader.dropped.most_common():
        click.echo(f"  {count:,} of its claims were dropped: {reason}.")


@draft.command("apply", short_help="Write what was taken into cast.toml.")
@story_argument
@json_option
def apply_(story: str, as_json: bool) -> None:
    """Write what was accepted or changed into the cast.toml of a story folder: from then on it is annotated.

    Entries are appended; what stands in the file stays as it is, comments too.

    \b
    Example:
        understudy draft apply my-story/
    """
    from understudy.people.draft import apply_to_cast

    folder = Path(story)
    if embedded(story) is not None or not folder.is_dir():
        raise InputError("is no story folder of yours: `understudy export --format folder` makes one", story)
    opened = read_showing(story)
    claims = apply_to_cast(opened, read_draft(opened), folder / CAST)
    if as_json:
        print_json({"file": str(folder / CAST), "facts": _count(claims, Fact), "relations": _count(claims, Relation)})
    elif claims:
        click.echo(f"{_count(claims, Fact)} facts and {_count(claims, Relation)} ties were added to {folder / CAST}.")
    else:
        click.echo("Nothing was taken that is not there already: decide with `understudy draft review`.")


def _count(claims: tuple[Fact | Relation, ...], kind: type) -> int:
    return sum(isinstance(claim, kind) for claim in claims)


def draft_document(drafted: StoryDraft) -> dict[str, Any]:
    """Everything that was found and not rejected, with whether it is used."""
    kept = [placed for placed in drafted.entries if placed.problem != "rejected"]
    return {
        "facts": [_document(placed) for placed in kept if isinstance(placed.claim, Fact)],
        "relations": [_document(placed) for placed in kept if isinstance(placed.claim, Relation)],
        "file": str(drafted.file.path),
        "bound": drafted.file.bound,
        "left_out": drafted.left_out,
    }


def _document(placed: PlacedEntry) -> dict[str, Any]:
    claim, entry = placed.claim, placed.entry
    assert claim.found is not None
    said: dict[str, Any] = (
        {"who": claim.who, "attribute": claim.attribute, "value": ", ".join(claim.values)}
        if isinstance(claim, Fact)
        else {"of": claim.of, "to": claim.to, "kind": claim.kind, "level": claim.level, "term": claim.term}
    )
    return said | {
        "from": claim.since.dotted,
        "until": claim.until.dotted if claim.until else None,
        "confidence": claim.found.confidence,
        "sources": [source.dotted for source in claim.found.sources],
        "id": entry.id,
        "finder": entry.finder,
        "decision": entry.decision.verdict or None,
        "used": not placed.problem,
        "problem": placed.problem or None,
    }


def _print_draft(drafted: StoryDraft) -> None:
    kinds: dict[tuple[bool, str], list[PlacedEntry]] = {}
    for placed in drafted.entries:
        kinds.setdefault((isinstance(placed.claim, Relation), placed.entry.kind), []).append(placed)
    right = {"justify": "right", "no_wrap": True}
    columns: list[Column] = [("kind", {"no_wrap": True}), ("found", right), ("used", right), "for example"]
    rows: list[list[str | Text]] = []
    for (is_tie, kind), entries in sorted(kinds.items()):
        best = max(entries, key=lambda placed: (not placed.problem, placed.entry.finding.confidence))
        used = sum(not placed.problem for placed in entries)
        example = Text(short(clean(claim_text(best.claim)), LONGEST))
        example.append(f"  ({best.entry.finding.sources[0].dotted})", style="dim")
        rows.append([f"{kind} (tie)" if is_tie else kind, f"{len(entries):,}", f"{used:,}", example])
    if rows:
        print_table(screen(), columns, rows, indent=0)
    total, used = len(drafted.entries), len(drafted.used)
    click.echo(f"\n{total:,} found, {used:,} of them used: they are in {drafted.file.path}.")
    if drafted.left_out:
        click.echo(f"{drafted.left_out:,} were left out: their lines do not carry them.")
    if total:
        click.echo("Decide about them with `understudy draft review`.")


def claim_text(claim: Fact | Relation) -> str:
    """'Ines Vale, belongings: the brass key'; 'Ines Vale -> Tobias Rook: spouse (husband)'."""
    if isinstance(claim, Fact):
        return f"{claim.who}, {claim.attribute}: {', '.join(claim.values)}"
    level = "" if claim.level is None else f" {claim.level}"
    term = f" ({claim.term})" if claim.term and claim.term != claim.kind else ""
    return f"{claim.of} -> {claim.to}: {claim.kind}{level}{term}"


KEYS = "[t]ake  [r]eject  [c]hange  [a]ll of this kind  [s]kip  [u]ndo  [q]uit"
LONGEST_LINE = 300  # characters of a source line
SHOWN_LINES = 5


@click.command(short_help="Take, reject or change what was found.")
@story_argument
@click.option("--take", "taken", metavar="ID", multiple=True, help="Take this entry; may be repeated.")
@click.option("--reject", "rejected", metavar="ID", multiple=True, help="Reject this entry; may be repeated.")
@click.option("--change", "changed", nargs=2, metavar="ID VALUE", multiple=True, help="Take it with another value.")
@click.option("--all-of", "kinds", metavar="KIND", multiple=True, help="Take all of an attribute or kind of tie.")
@click.option("--undo", "take_back", is_flag=True, help="Take back the last decision.")
@json_option
def review(
    story: str, taken: tuple[str, ...], rejected: tuple[str, ...], changed: tuple[tuple[str, str], ...],
    kinds: tuple[str, ...], take_back: bool, as_json: bool,
) -> None:  # fmt: skip
    """Decide about what `understudy draft` found: one entry after the other, with its lines and who was there.

    Every decision is written at once. With options, or where there is no terminal, nothing is asked: entries are
    decided by their ids, and listed.

    \b
    Examples:
        understudy draft review my-story/
        understudy draft review my-story/ --take 5be21f03 --reject 91c0d2a7
        understudy draft review my-story/ --all-of spouse
        understudy draft review my-story/ --change 5be21f03 "a head nurse"
        understudy draft review my-story/ --undo
    """
    opened = read_showing(story)
    drafted = read_draft(opened)
    steps: list[Callable[[FoundFile], FoundFile]] = []
    if take_back:
        steps.append(FoundFile.undone)
    steps += [lambda file, kind=kind: accept(file, undecided_of_kind(file, kind)) for kind in kinds]  # type: ignore[misc]
    if taken:
        steps.append(lambda file: accept(file, taken))
    if rejected:
        steps.append(lambda file: reject(file, rejected))
    for entry_id, value in changed:
        steps.append(lambda file, of=entry_id, to=value: change(file, of, to, opened.schema))  # type: ignore[misc]
    if not steps and not as_json and sys.stdin is not None and sys.stdin.isatty():
        Reviewing(screen(), opened, drafted.file).run(drafted.entries)
        return
    file = drafted.file
    for step in steps:
        file = step(file)
    if steps:
        file.write()
    drafted = read_draft(opened)
    if as_json:
        print_json(draft_document(drafted))
    else:
        _print_entries(drafted)


class Reviewing:
    """Asks about undecided entries, one after the other."""

    def __init__(self, out: Screen, story: Story, file: FoundFile) -> None:
        self.out, self.story, self.file = out, story, file

    def run(self, entries: Sequence[PlacedEntry]) -> None:
        waiting = sorted(entries, key=lambda placed: (placed.entry.kind, -placed.entry.finding.confidence))
        index, decided = 0, 0
        while index < len(waiting):
            placed = waiting[index]
            if entry_of(self.file, placed.entry.id).decision.verdict:
                index += 1
                continue
            self._show(placed, index + 1, len(waiting))
            key = click.prompt(KEYS, type=click.Choice(list("trcasuq")), show_choices=False, default="s")
            if key == "q":
                break
            if key == "u":
                index, decided = self._undo(waiting, index), max(decided - 1, 0)
                continue
            decided += key != "s"
            index += self._decide(placed, key)
        click.echo(f"{decided} decisions are in {self.file.path}.")

    def _decide(self, placed: PlacedEntry, key: str) -> int:
        """Does what a key says; returns how far to go on."""
        entry_id, kind = placed.entry.id, placed.entry.kind
        try:
            if key == "t":
                self._write(accept(self.file, [entry_id]))
            elif key == "r":
                self._write(reject(self.file, [entry_id]))
            elif key == "c":
                value = click.prompt("What should it be", default="", show_default=False)
                self._write(change(self.file, entry_id, value, self.story.schema))
            elif key == "a":
                ids = undecided_of_kind(self.file, kind)
                how = click.prompt(f"[t]ake or [r]eject all {len(ids)} of '{kind}'", type=click.Choice(["t", "r"]))
                self._write((accept if how == "t" else reject)(self.file, ids))
        except InputError as error:
            click.echo(clean(str(error)), err=True)
            return 0
        return 1

    def _undo(self, waiting: Sequence[PlacedEntry], index: int) -> int:
        """Takes back the last decision; returns the first entry that is undecided again."""
        try:
            again = {entry_id for entry_id, _ in self.file.undo[-1]} if self.file.undo else set()
            self._write(self.file.undone())
        except InputError as error:
            click.echo(clean(str(error)), err=True)
            return index
        return min((place for place, placed in enumerate(waiting) if placed.entry.id in again), default=index)

    def _write(self, file: FoundFile) -> None:
        file.write()
        self.file = file

    def _show(self, placed: PlacedEntry, number: int, of: int) -> None:
        finding = placed.claim.found
        assert finding is not None
        self.out.print(Text(f"\n{number}/{of}  ", style="dim").append(clean(claim_text(placed.claim)), style="bold"))
        note = f"confidence {finding.confidence:.2f}, from {placed.claim.since.dotted}, {placed.entry.finder}"
        self.out.print(indented(Text(note + (f"; not used: {placed.problem}" if placed.problem else ""), style="dim")))
        lines = [line for source in finding.sources[:SHOWN_LINES] if (line := self.story.line(source)) is not None]
        self.out.print(indented(spoken(lines, longest=LONGEST_LINE)))
        if finding.witnesses:
            self.out.print(indented(Text(f"there: {clean(', '.join(finding.witnesses))}", style="dim")))


def _print_entries(drafted: StoryDraft) -> None:
    columns: list[Column] = [("id", {"no_wrap": True}), "what", ("sure", {"no_wrap": True}), "decision"]
    rows = [
        [
            placed.entry.id,
            f"{short(claim_text(placed.claim), LONGEST_LINE)}  ({placed.entry.finding.sources[0].dotted})",
            f"{placed.entry.finding.confidence:.2f}",
            placed.entry.decision.verdict or (f"not used: {placed.problem}" if placed.problem else "used"),
        ]
        for placed in drafted.entries
    ]
    if rows:
        print_table(screen(), columns, rows, indent=0)
    else:
        click.echo("Nothing was found.")
