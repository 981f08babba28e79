"""`understudy quotations`: who says what in a novel, where that is doubtful, for its author to decide."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from understudy.cli.options import Options, shared
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import ask_in_turn, clean, indented, print_json, print_table, screen, short
from understudy.errors import InputError
from understudy.formats import embedded
from understudy.formats.prose.corrections import Corrections, QuotationEntry, quotations_file_of, read_corrections
from understudy.formats.prose.decisions import (
    DoubtfulQuotations,
    entry_named,
    merge_people,
    quotations_document,
    set_not_speech,
    set_speaker,
    split_people,
)
from understudy.story.names import sole_names
from understudy.story.storyfile import Story, is_story_file
from understudy.text import did_you_mean, fold

if TYPE_CHECKING:
    from understudy.language.backends import Backend

LONGEST = 60  # characters of a quotation in the table
LISTED_NAMES = 40
Pairs = tuple[tuple[str, str], ...]


@click.command(short_help="Decide who says what in a novel, where it is doubtful.")
@click.argument("what", metavar="STORY_OR_SOURCE")
@click.option("--set", "decided", nargs=2, metavar="NUMBER NAME", multiple=True, help="NAME says it; may be repeated.")
@click.option("--not-speech", "unspoken", metavar="NUMBER", multiple=True, help="Nobody says it; may be repeated.")
@click.option("--merge", "merged", nargs=2, metavar="NAME INTO", multiple=True, help="Two names are one person's.")
@click.option(
    "--split", "divided", nargs=2, metavar="NAME ALIAS", multiple=True, help="ALIAS is somebody else than NAME."
)
@click.option("--undo", "take_back", is_flag=True, help="Take back the last decision.")
@click.option(
    "--bound", type=click.FloatRange(0, 1), help="List what is less sure than this, this time (default: 0.6)."
)
@click.option("--ask", "model", metavar="MODEL", help="Ask a language model: llm, llm:NAME, local:NAME, or a URL.")
@click.option("--all", "show_all", is_flag=True, help="List what is decided as well.")
@shared("json")
def quotations(
    options: Options, what: str, decided: Pairs, unspoken: tuple[str, ...], merged: Pairs, divided: Pairs,
    take_back: bool, bound: float | None, model: str | None, show_all: bool,
) -> None:  # fmt: skip
    """Decide who says what in a novel, where that is doubtful.

    STORY_OR_SOURCE is the novel (text, EPUB, DOCX), a story folder, or a story file beside its source. The list lies
    beside the source, as NAME.quotations.toml (quotations.toml in a folder), and may be edited there. What is decided
    is used whenever the source is read: read a story file anew after deciding.

    On a terminal, one quotation after the other is asked. With options nothing is asked: quotations are decided by
    their number in the list, or their id. People who were taken for one, or one for two, are put right with --split
    and --merge, and each takes back the other.

    \b
    Examples:
        understudy quotations emma.txt
        understudy quotations emma.txt --set 12 "Mr. Knightley"
        understudy quotations emma.txt --not-speech 14
        understudy quotations emma.txt --merge Isabella "Mrs. John Knightley"
        understudy quotations emma.txt --split "Mr. Weston" "Kings Weston"
        understudy quotations emma.txt --undo
        understudy quotations emma.epub --bound 0.9 --json
        understudy quotations emma.txt --ask llm
    """
    if embedded(what) is not None:
        raise InputError(f"'{what}' is a script: who speaks in it is written, nothing is doubtful")
    story, is_story = None, Path(what).is_file() and is_story_file(Path(what))
    path = quotations_file_of(Path(what))
    if not is_story and (bound is not None or not path.exists()):
        story = _listed_anew(what, bound)
    elif bound is not None:
        raise InputError("is a story file: name the source to list its quotations anew", what)
    corrections = read_corrections(path)
    if model is not None:
        corrections = _ask(corrections, story or read_showing(what), model)
    is_told = bool(take_back or decided or unspoken or merged or divided)
    is_asked = is_told or options.as_json or model is not None
    if not is_asked and sys.stdin is not None and sys.stdin.isatty():
        decide_speakers(corrections, bound)
        return
    people: dict[str, str] = {}
    unlisted = _not_listed(corrections, [name for _, name in decided])
    if unlisted or merged or divided:
        people = sole_names(story or (Story.open(Path(what)) if is_story else read_showing(what)))
        _note_new_people(unlisted, people)
    corrections = corrections.undone() if take_back else corrections
    for number, name in decided:
        corrections = set_speaker(corrections, number, name)
    for number in unspoken:
        corrections = set_not_speech(corrections, number)
    for who, into in merged:
        corrections = merge_people(corrections, _known(who, people), _known(into, people))
    for who, alias in divided:
        corrections = split_people(corrections, _known(who, people), alias)
    if is_told:
        corrections.write()
    if (merged or divided) and not is_story:
        _listed_anew(what, bound)
        corrections = read_corrections(path)
    if options.as_json:
        print_json(quotations_document(corrections, bound))
    else:
        _print_entries(corrections, show_all, bound)


def _listed_anew(source: str, bound: float | None) -> Story:
    """Read a source, and write the list of its doubtful quotations."""
    lists = DoubtfulQuotations(bound)
    story = read_showing(source, quotations=lists)
    lists.write()
    return story


def _ask(corrections: Corrections, story: Story, model: str) -> Corrections:
    from understudy.formats.prose.decisions import SpeakerAsker

    names = sole_names(story)
    listed = [member.character.name for member in story.cast()[:LISTED_NAMES]]
    asker = SpeakerAsker(_backend(model))
    before = sum(entry.proposal is not None for entry in corrections.entries)
    with watching() as progress:
        for number, answered in enumerate(asker.ask(corrections, names, listed), 1):
            corrections = answered
            corrections.write()  # each answer has its price: it is kept when the next one is stopped
            progress(f"Asking {asker.backend.name}", number, 0)
    new = sum(entry.proposal is not None for entry in corrections.entries) - before
    usage = asker.usage
    click.echo(
        f"{asker.backend.name}: {new:,} proposals; {usage.calls:,} calls, {usage.prompt_tokens:,} tokens read and "
        f"{usage.completion_tokens:,} written.",
        err=True,
    )
    for reason, count in asker.dropped.most_common():
        click.echo(f"  {count:,} answers were dropped: {reason}.", err=True)
    return corrections


def _backend(spec: str) -> Backend:
    from understudy.language.backends import open_llm, open_local

    if spec.startswith(("http://", "https://")):
        from understudy.language.backends.openai_api import OpenAIBackend
        from understudy.language.backends.settings import server_settings

        return OpenAIBackend(server_settings(spec))
    kind, _, name = spec.partition(":")
    if kind == "local" and name:
        return open_local(name)
    return open_llm(name or None) if kind == "llm" else open_llm(spec)


def _not_listed(corrections: Corrections, names: list[str]) -> list[str]:
    """Those of the names that nobody in the list has."""
    known = {name for entry in corrections.entries for name in (entry.guess, entry.decision.speaker) if name}
    known |= {name for entry in corrections.entries for name, _ in entry.candidates}
    folded = set(map(fold, known))
    return [name for name in dict.fromkeys(names) if fold(name) not in folded]


def _note_new_people(names: list[str], people: Mapping[str, str]) -> None:
    """A slip of the pen would make somebody new: it is said who is."""
    for name in names:
        if fold(name) not in people:
            meant = did_you_mean(name, people.values())
            click.echo(
                f"Nobody in it is called '{clean(name)}'{meant}. It is used as written: from the next reading on "
                "somebody new says that. --undo takes it back.",
                err=True,
            )


def _known(name: str, people: Mapping[str, str]) -> str:
    """The story's own name of somebody who is there."""
    if (owner := people.get(fold(name))) is None:
        raise InputError(f"nobody in it is called '{name}'{did_you_mean(name, people.values())}: see `understudy cast`")
    return owner


def _print_entries(corrections: Corrections, show_all: bool, bound: float | None = None) -> None:
    undecided = corrections.undecided(bound)
    rows = [
        [str(number), short(entry.quote, LONGEST), entry.guess or "nobody", f"{entry.confidence:.2f}", _decision(entry)]
        for number, entry in enumerate(corrections.entries, 1)
        if entry in undecided or (show_all and entry.decision.is_made)
    ]
    if rows:
        print_table(screen(), ["<no.", "quotation", "guess", "<sure", "decision"], rows, indent=0)
    decided = sum(entry.decision.is_made for entry in corrections.entries)
    surer = len(corrections.entries) - decided - len(undecided)
    more = f" ({surer:,} surer ones are listed too: --bound shows them)" if surer else ""
    click.echo(f"{len(undecided):,} undecided, {decided:,} decided, in {corrections.path}{more}.")


def _decision(entry: QuotationEntry) -> str:
    if entry.decision.not_speech:
        return "not speech"
    if entry.decision.speaker:
        return entry.decision.speaker
    return "" if entry.proposal is None else f"{entry.proposal.speaker}? ({entry.proposal.by})"


KEYS = "[1-6] a candidate  [n]ame  [x] not speech  [s]kip  [u]ndo  [q]uit"
MOST_PEOPLE = 6


def decide_speakers(corrections: Corrections, bound: float | None = None) -> None:
    """Asks about undecided quotations in the order of the text."""
    out, bound = screen(), corrections.bound if bound is None else bound
    ids = [entry.id for entry in corrections.entries]

    def show(file: Corrections, entry_id: str, place: str) -> bool:
        entry = entry_named(file, entry_id)
        if entry.decision.is_made or entry.confidence >= bound:
            return False
        where = f"{entry.file}  {entry.chapter}".strip()
        out.print(Text(f"{place}{clean(where)}", style="dim"))
        passage = Text(clean(entry.context.before) + " ", style="dim")
        passage.append(clean(entry.passage or entry.quote), style="bold").append(" " + clean(entry.context.after))
        out.print(indented(passage))
        for number, (name, note) in enumerate(_people(entry), 1):
            out.print(indented(f"{number}  {clean(name)}  ({note})", by=4))
        return True

    def decide(file: Corrections, entry_id: str, key: str) -> Corrections | None:
        people = _people(entry_named(file, entry_id))
        if key.isdigit() and 1 <= int(key[:4]) <= len(people):
            return set_speaker(file, entry_id, people[int(key) - 1][0])
        if key == "n":
            return set_speaker(file, entry_id, click.prompt("Who says it", default="", show_default=False))
        return set_not_speech(file, entry_id) if key == "x" else None

    ask_in_turn(corrections, ids, KEYS, show, decide, Corrections.write, Corrections.undone)


def _people(entry: QuotationEntry) -> list[tuple[str, str]]:
    """(name, how it was come by) of those who may say it, the likeliest first."""
    people = {} if entry.proposal is None else {entry.proposal.speaker: f"{entry.proposal.by}, asked"}
    for name, share in (*([(entry.guess, entry.confidence)] if entry.guess else []), *entry.candidates):
        people.setdefault(name, f"{share:.2f}")
    return list(people.items())[:MOST_PEOPLE]
