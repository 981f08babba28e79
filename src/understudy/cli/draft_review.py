"""`understudy draft review`: one found entry after the other, with its lines and who was there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click
from rich.text import Text

from understudy.cli.draft import claim_text, draft_document
from understudy.cli.options import json_option, story_argument
from understudy.cli.progress import read_showing
from understudy.cli.show import Column, Screen, clean, indented, print_json, print_table, screen, short, spoken
from understudy.errors import InputError
from understudy.people.draft import StoryDraft, read_draft
from understudy.people.found_file import accept, change, entry_of, reject, undecided_of_kind, undo, write_found
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FoundFile
from understudy.story.storyfile.overlay import PlacedEntry

__all__ = ["review"]

KEYS = "[t]ake  [r]eject  [c]hange  [a]ll of this kind  [s]kip  [u]ndo  [q]uit"
LONGEST = 300  # characters of a source line
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
        steps.append(undo)
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
        write_found(file)
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
            self._write(undo(self.file))
        except InputError as error:
            click.echo(clean(str(error)), err=True)
            return index
        return min((place for place, placed in enumerate(waiting) if placed.entry.id in again), default=index)

    def _write(self, file: FoundFile) -> None:
        write_found(file)
        self.file = file

    def _show(self, placed: PlacedEntry, number: int, of: int) -> None:
        finding = placed.claim.found
        assert finding is not None
        self.out.print(Text(f"\n{number}/{of}  ", style="dim").append(clean(claim_text(placed.claim)), style="bold"))
        note = f"confidence {finding.confidence:.2f}, from {placed.claim.since.dotted}, {placed.entry.finder}"
        self.out.print(indented(Text(note + (f"; not used: {placed.problem}" if placed.problem else ""), style="dim")))
        lines = [line for source in finding.sources[:SHOWN_LINES] if (line := self.story.line(source)) is not None]
        self.out.print(indented(spoken(lines, longest=LONGEST)))
        if finding.witnesses:
            self.out.print(indented(Text(f"there: {clean(', '.join(finding.witnesses))}", style="dim")))


def _print_entries(drafted: StoryDraft) -> None:
    columns: list[Column] = [("id", {"no_wrap": True}), "what", ("sure", {"no_wrap": True}), "decision"]
    rows = [
        [
            placed.entry.id,
            f"{short(claim_text(placed.claim), LONGEST)}  ({placed.entry.finding.sources[0].dotted})",
            f"{placed.entry.finding.confidence:.2f}",
            placed.entry.decision.verdict or (f"not used: {placed.problem}" if placed.problem else "used"),
        ]
        for placed in drafted.entries
    ]
    if rows:
        print_table(screen(), columns, rows, indent=0)
    else:
        click.echo("Nothing was found.")
