"""One doubtful quotation after the other in the terminal, with the text around it and who may say it."""

from __future__ import annotations

import click
from rich.text import Text

from understudy.cli.show import Screen, clean, indented
from understudy.errors import InputError
from understudy.readers.prose.corrections import Corrections, QuotationEntry
from understudy.readers.prose.corrections_file import write_corrections
from understudy.readers.prose.speaker_decisions import set_not_speech, set_speaker, undo

__all__ = ["Deciding"]

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
