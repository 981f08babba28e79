"""What an author decided about entries that were found in a text: one TOML file beside the source.

An entry is known by an id that is made of the words it was found in, so its decision survives another reading of the
text. The file keeps the decisions that its latest steps replaced: they can be taken back, the last step first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from understudy.errors import InputError
from understudy.story.storyfile.toml_tables import TableParser, TomlTable, replace_text, toml_pairs

__all__ = ["DecisionFile", "DecisionFileParser"]

UNDO_STEPS = 50

DecisionT = TypeVar("DecisionT")
DecisionT_co = TypeVar("DecisionT_co", covariant=True)


class DecidedEntry(Protocol[DecisionT_co]):
    """An entry of a file, a dataclass."""

    @property
    def id(self) -> str: ...
    @property
    def decision(self) -> DecisionT_co: ...


EntryT = TypeVar("EntryT", bound=DecidedEntry[Any])


@dataclass(frozen=True, slots=True)
class DecisionFile(Generic[EntryT, DecisionT]):
    """Entries with their decisions. Every change makes another one, which `write` puts in its place."""

    path: Path
    bound: float
    """How sure an entry has to be to need no decision."""
    entries: tuple[EntryT, ...] = ()
    undo: tuple[tuple[tuple[str, DecisionT], ...], ...] = ()
    """The decisions, by their entries' ids, before each step, the latest last."""

    def entry(self, entry_id: str) -> EntryT | None:
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def decided(self, ids: Collection[str], decision: DecisionT) -> Self:
        """The same decision about some entries, as one step."""
        step = tuple((entry.id, entry.decision) for entry in self.entries if entry.id in ids)
        undo = (*self.undo, step)[-UNDO_STEPS:] if step else self.undo
        return replace(self, entries=self._with_decisions(dict.fromkeys(ids, decision)), undo=undo)

    def undone(self) -> Self:
        """The file before the last step."""
        if not self.undo:
            raise InputError("there is no decision to take back", self.path)
        return replace(self, entries=self._with_decisions(dict(self.undo[-1])), undo=self.undo[:-1])

    def with_entries(self, entries: Iterable[EntryT]) -> Self:
        """Other entries; of the steps that can be taken back, what is about those that are no longer there is gone."""
        listed = tuple(entries)
        ids = {entry.id for entry in listed}
        steps = (tuple(before for before in step if before[0] in ids) for step in self.undo)
        return replace(self, entries=listed, undo=tuple(filter(None, steps)))

    def write(self) -> None:
        """Put the file in place, whole or not at all."""
        replace_text(self.path, self.render())

    def render(self) -> str:
        """The text of the file."""
        raise NotImplementedError

    def rendered(
        self,
        header: str,
        top: Iterable[str],
        tables: Iterable[tuple[str, Mapping[str, object]]],
        decision_values: Callable[[DecisionT], Mapping[str, object]],
    ) -> str:
        """The text of a file with `header` and the lines `top` above its tables; what is None is left out."""
        lines = [header, f"bound = {self.bound:g}", *top]
        for step in self.undo:
            entries = (", ".join(toml_pairs({"id": id_, **decision_values(decision)})) for id_, decision in step)
            lines += ["", "[[undo]]", f"entries = [{', '.join(f'{{ {entry} }}' for entry in entries)}]"]
        for kind, values in tables:
            lines += ["", f"[[{kind}]]", *toml_pairs(values)]
        return "\n".join(lines) + "\n"

    def _with_decisions(self, decisions: Mapping[str, DecisionT]) -> tuple[EntryT, ...]:
        return tuple(
            cast("EntryT", replace(cast("Any", entry), decision=decisions[entry.id]))
            if entry.id in decisions
            else entry
            for entry in self.entries
        )


class DecisionFileParser(TableParser):
    def undo_steps(
        self, form: str, decision: Callable[[TomlTable, int], DecisionT]
    ) -> Iterator[tuple[tuple[str, DecisionT], ...]]:
        """The entries of each `[[undo]]`; `form` is what an error says of them."""
        for line, entries in self.steps(form):
            yield tuple((self.required_text(entry, "id", line), decision(entry, line)) for entry in entries)
