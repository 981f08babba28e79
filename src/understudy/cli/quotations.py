"""`understudy quotations`: who says what in a novel, where that is doubtful, for its author to decide."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from understudy.cli.options import json_option
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import Column, Screen, clean, indented, print_json, print_table, screen, short
from understudy.errors import InputError
from understudy.formats import embedded
from understudy.formats.prose.corrections import Corrections, QuotationEntry, quotations_file_of, read_corrections
from understudy.formats.prose.decisions import (
    DoubtfulQuotations,
    merge_people,
    quotations_document,
    set_not_speech,
    set_speaker,
    split_people,
    undo,
    write_corrections,
)
from understudy.story.storyfile import Story, is_story_file
from understudy.text import did_you_mean, fold

if TYPE_CHECKING:
    from understudy.language.backends import Backend

__all__ = ["Deciding", "quotations"]

LONGEST = 60  # characters of a quotation in the table
LISTED_NAMES = 40


@click.command(short_help="Decide who says what in a novel, where it is doubtful.")
@click.argument("what", metavar="STORY_OR_SOURCE")
@click.option("--set", "decided", nargs=2, metavar="NUMBER NAME", multiple=True, help="NAME says it; may be repeated.")
@click.option("--not-speech", "unspoken", metavar="NUMBER", multiple=True, help="Nobody says it; may be repeated.")
@click.option("--merge", "merged", nargs=2, metavar="NAME INTO", multiple=True, help="Two names are one person's.")
@click.option(
    "--split", "split", nargs=2, metavar="NAME ALIAS", multiple=True, help="ALIAS is somebody else than NAME."
)
@click.option("--undo", "take_back", is_flag=True, help="Take back the last decision.")
@click.option(
    "--bound", type=click.FloatRange(0, 1), help="List what is less sure than this, this time (default: 0.6)."
)
@click.option("--ask", "model", metavar="MODEL", help="Ask a language model: llm, llm:NAME, local:NAME, or a URL.")
@click.option("--all", "show_all", is_flag=True, help="List what is decided as well.")
@json_option
def quotations(
    what: str, decided: tuple[tuple[str, str], ...], unspoken: tuple[str, ...], merged: tuple[tuple[str, str], ...],
    split: tuple[tuple[str, str], ...], take_back: bool, bound: float | None,
    model: str | None, show_all: bool, as_json: bool,
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
        lists = DoubtfulQuotations(bound)
        story = read_showing(what, quotations=lists)
        lists.write()
    elif bound is not None:
        raise InputError("is a story file: name the source to list its quotations anew", what)
    corrections = read_corrections(path)
    steps: list[Callable[[Corrections], Corrections]] = [undo] if take_back else []
    for number, name in decided:
        steps.append(lambda file, of=number, by=name: set_speaker(file, of, by))  # type: ignore[misc]
    for number in unspoken:
        steps.append(lambda file, of=number: set_not_speech(file, of))  # type: ignore[misc]
    if model is not None:
        corrections = _ask(corrections, story or read_showing(what), model)
    is_asked = bool(steps or merged or split or as_json) or model is not None
    if not is_asked and sys.stdin is not None and sys.stdin.isatty():
        Deciding(screen(), corrections, bound).run()
        return
    unlisted = _not_listed(corrections, [name for _, name in decided])
    if unlisted or merged or split:
        story = story or (Story.open(Path(what)) if is_story else read_showing(what))
        people = _owners(story)
        _note_new_people(unlisted, people)
        for who, into in merged:
            steps.append(partial(merge_people, who=_known(who, people), into=_known(into, people)))
        for who, alias in split:
            steps.append(partial(split_people, who=_known(who, people), alias=alias))
    for step in steps:
        corrections = step(corrections)
    if steps:
        write_corrections(corrections)
    if (merged or split) and not is_story:
        lists = DoubtfulQuotations(bound)
        read_showing(what, quotations=lists)
        lists.write()
        corrections = read_corrections(path)
    if as_json:
        print_json(quotations_document(corrections, bound))
    else:
        _print_entries(corrections, show_all, bound)


def _owners(story: Story) -> dict[str, str]:
    """The story's own name of whoever goes by a name, folded; names of several people are left out."""
    owners: dict[str, set[str]] = {}
    for member in story.cast():
        for name in (member.character.name, *member.character.aliases):
            owners.setdefault(fold(name), set()).add(member.character.name)
    return {name: next(iter(people)) for name, people in owners.items() if len(people) == 1}


def _ask(corrections: Corrections, story: Story, model: str) -> Corrections:
    from understudy.formats.prose.decisions import SpeakerAsker

    names = _owners(story)
    listed = [member.character.name for member in story.cast()[:LISTED_NAMES]]
    asker = SpeakerAsker(_backend(model))
    before = sum(entry.proposal is not None for entry in corrections.entries)
    with watching() as progress:
        for number, answered in enumerate(asker.ask(corrections, names, listed), 1):
            corrections = answered
            write_corrections(corrections)  # each answer has its price: it is kept when the next one is stopped
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
    columns: list[Column] = [("no.", {"no_wrap": True}), "quotation", "guess", ("sure", {"no_wrap": True}), "decision"]
    undecided = corrections.undecided(bound)
    rows = [
        [str(number), short(entry.quote, LONGEST), entry.guess or "nobody", f"{entry.confidence:.2f}", _decision(entry)]
        for number, entry in enumerate(corrections.entries, 1)
        if entry in undecided or (show_all and entry.decision.is_made)
    ]
    if rows:
        print_table(screen(), columns, rows, indent=0)
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


# One doubtful quotation after the other in the terminal, with the text around it and who may say it.

KEYS = "[1-6] a candidate  [n]ame  [x] not speech  [s]kip  [u]ndo  [q]uit"
MOST_PEOPLE = 6


class Deciding:
    """Asks about undecided quotations, one after the other; each decision is written at once."""

    def __init__(self, out: Screen, corrections: Corrections, bound: float | None = None) -> None:
        self.out, self.corrections = out, corrections
        self._bound = corrections.bound if bound is None else bound

    def run(self) -> None:
        index, decided = 0, 0
        while index < len(self.corrections.entries):
            entry = self.corrections.entries[index]
            if entry.decision.is_made or entry.confidence >= self._bound:
                index += 1
                continue
            self._show(entry, index + 1)
            answer = click.prompt(KEYS, default="s", show_default=False).strip()
            if answer == "q":
                break
            if answer == "u":
                index, decided = self._undo(index), max(decided - 1, 0)
                continue
            made = self._decide(entry, answer)
            decided += made
            index += made or answer == "s"
        click.echo(f"{decided} decisions are in {self.corrections.path}.")

    def _decide(self, entry: QuotationEntry, answer: str) -> bool:
        people = _people(entry)
        try:
            if answer.isdigit() and 1 <= int(answer[:4]) <= len(people):
                self._write(set_speaker(self.corrections, entry.id, people[int(answer) - 1][0]))
            elif answer == "x":
                self._write(set_not_speech(self.corrections, entry.id))
            elif answer == "n":
                name = click.prompt("Who says it", default="", show_default=False)
                self._write(set_speaker(self.corrections, entry.id, name))
            else:
                return False
        except InputError as error:
            click.echo(clean(str(error)), err=True)
            return False
        return True

    def _undo(self, index: int) -> int:
        """Takes back the last decision; returns the entry that is undecided again."""
        try:
            again = {entry_id for entry_id, _ in self.corrections.undo[-1]} if self.corrections.undo else set()
            self._write(undo(self.corrections))
        except InputError as error:
            click.echo(clean(str(error)), err=True)
            return index
        return min((at for at, entry in enumerate(self.corrections.entries) if entry.id in again), default=index)

    def _write(self, corrections: Corrections) -> None:
        write_corrections(corrections)
        self.corrections = corrections

    def _show(self, entry: QuotationEntry, number: int) -> None:
        of = len(self.corrections.entries)
        where = f"{entry.file}  {entry.chapter}".strip()
        self.out.print(Text(f"\n{number}/{of}  {clean(where)}", style="dim"))
        passage = Text(clean(entry.context.before) + " ", style="dim")
        passage.append(clean(entry.passage or entry.quote), style="bold").append(" " + clean(entry.context.after))
        self.out.print(indented(passage))
        for place, (name, note) in enumerate(_people(entry), 1):
            self.out.print(indented(f"{place}  {clean(name)}  ({note})", by=4))


def _people(entry: QuotationEntry) -> list[tuple[str, str]]:
    """(name, how it was come by) of those who may say it, the likeliest first."""
    people = {} if entry.proposal is None else {entry.proposal.speaker: f"{entry.proposal.by}, asked"}
    for name, share in (*([(entry.guess, entry.confidence)] if entry.guess else []), *entry.candidates):
        people.setdefault(name, f"{share:.2f}")
    return list(people.items())[:MOST_PEOPLE]
