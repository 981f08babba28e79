"""`understudy draft` and `draft review`: facts and ties found in a story's text, for its author to decide about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from understudy.cli.options import Options, shared
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import ask_in_turn, clean, indented, print_json, print_table, screen, short, spoken
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
@shared("story")
@click.option("--llm", "use_llm", is_flag=True, help="Let the language model that is set up read every scene as well.")
@click.option("--model", metavar="MODEL", help="With --llm: another model than the default, as in `--agent llm:MODEL`.")
@click.option("--fresh", is_flag=True, help="Forget what a draft that was stopped, or the language model, had found.")
@shared("json")
def find(options: Options, use_llm: bool, model: str | None, fresh: bool) -> None:
    """Find facts and ties in a story's text.

    \b
    Example:
        understudy draft find my-story/
    """
    if model is not None and not use_llm:
        raise click.UsageError("--model goes with --llm")
    reader = _llm_reader(model, fresh) if use_llm else None
    opened = read_showing(options.story)
    with watching() as progress:
        finders: list[tuple[str, drafting.Finder]] = [*drafting.FINDERS, *([("llm", reader)] if reader else [])]
        drafted = drafting.draft(opened, progress, finders, fresh)
    if options.as_json:
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
@shared("story json")
def apply_(options: Options) -> None:
    """Write what was accepted or changed into the cast.toml of a story folder: from then on it is annotated.

    Entries are appended; what stands in the file stays as it is, comments too.

    \b
    Example:
        understudy draft apply my-story/
    """
    from understudy.people.draft import apply_to_cast

    folder = Path(options.story)
    if embedded(options.story) is not None or not folder.is_dir():
        raise InputError("is no story folder of yours: `understudy export --format folder` makes one", options.story)
    opened = read_showing(options.story)
    claims = apply_to_cast(opened, read_draft(opened), folder / CAST)
    if options.as_json:
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
    rows: list[list[str | Text]] = []
    for (is_tie, kind), entries in sorted(kinds.items()):
        best = max(entries, key=lambda placed: (not placed.problem, placed.entry.finding.confidence))
        used = sum(not placed.problem for placed in entries)
        example = Text(short(clean(claim_text(best.claim)), LONGEST))
        example.append(f"  ({best.entry.finding.sources[0].dotted})", style="dim")
        rows.append([f"{kind} (tie)" if is_tie else kind, f"{len(entries):,}", f"{used:,}", example])
    if rows:
        print_table(screen(), ["<kind", ">found", ">used", "for example"], rows, indent=0)
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


@draft.command(short_help="Take, reject or change what was found.")
@shared("story")
@click.option("--take", "taken", metavar="ID", multiple=True, help="Take this entry; may be repeated.")
@click.option("--reject", "rejected", metavar="ID", multiple=True, help="Reject this entry; may be repeated.")
@click.option("--change", "changed", nargs=2, metavar="ID VALUE", multiple=True, help="Take it with another value.")
@click.option("--all-of", "kinds", metavar="KIND", multiple=True, help="Take all of an attribute or kind of tie.")
@click.option("--undo", "take_back", is_flag=True, help="Take back the last decision.")
@shared("json")
def review(
    options: Options, taken: tuple[str, ...], rejected: tuple[str, ...], changed: tuple[tuple[str, str], ...],
    kinds: tuple[str, ...], take_back: bool,
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
    opened = read_showing(options.story)
    drafted = read_draft(opened)
    is_told = bool(take_back or kinds or taken or rejected or changed)
    if not is_told and not options.as_json and sys.stdin is not None and sys.stdin.isatty():
        _review(opened, drafted)
        return
    file = drafted.file.undone() if take_back else drafted.file
    for kind in kinds:
        file = accept(file, undecided_of_kind(file, kind))
    file = accept(file, taken) if taken else file
    file = reject(file, rejected) if rejected else file
    for entry_id, value in changed:
        file = change(file, entry_id, value, opened.schema)
    if is_told:
        file.write()
    drafted = read_draft(opened)
    print_json(draft_document(drafted)) if options.as_json else _print_entries(drafted)


def _review(story: Story, drafted: StoryDraft) -> None:
    """Asks about undecided entries, the surest of each kind first."""
    out, waiting = screen(), sorted(drafted.entries, key=lambda each: (each.entry.kind, -each.entry.finding.confidence))
    by_id = {placed.entry.id: placed for placed in waiting}

    def show(file: FoundFile, entry_id: str, place: str) -> bool:
        if entry_of(file, entry_id).decision.verdict:
            return False
        placed, finding = by_id[entry_id], by_id[entry_id].claim.found
        assert finding is not None
        out.print(Text(place, style="dim").append(clean(claim_text(placed.claim)), style="bold"))
        note = f"confidence {finding.confidence:.2f}, from {placed.claim.since.dotted}, {placed.entry.finder}"
        out.print(indented(Text(note + (f"; not used: {placed.problem}" if placed.problem else ""), style="dim")))
        lines = [line for source in finding.sources[:SHOWN_LINES] if (line := story.line(source)) is not None]
        out.print(indented(spoken(lines, longest=LONGEST_LINE)))
        if finding.witnesses:
            out.print(indented(Text(f"there: {clean(', '.join(finding.witnesses))}", style="dim")))
        return True

    def decide(file: FoundFile, entry_id: str, key: str) -> FoundFile | None:
        if key == "c":
            value = click.prompt("What should it be", default="", show_default=False)
            return change(file, entry_id, value, story.schema)
        if key == "a":
            kind = by_id[entry_id].entry.kind
            ids = undecided_of_kind(file, kind)
            how = click.prompt(f"[t]ake or [r]eject all {len(ids)} of '{kind}'", type=click.Choice(["t", "r"]))
            return (accept if how == "t" else reject)(file, ids)
        return accept(file, [entry_id]) if key == "t" else reject(file, [entry_id]) if key == "r" else None

    ask_in_turn(drafted.file, list(by_id), KEYS, show, decide, FoundFile.write, FoundFile.undone)


def _print_entries(drafted: StoryDraft) -> None:
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
        print_table(screen(), ["<id", "what", "<sure", "decision"], rows, indent=0)
    else:
        click.echo("Nothing was found.")
