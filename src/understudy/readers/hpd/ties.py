"""How HPD writes relations, and since when and until when they hold.

A row a person, with what that person is to one other (Harry), and four levels:

    name | friend | classmate | ... | enemy | Harry's affection to him | Harry's familiarity with him
                                            | His affection to Harry   | His familiarity with Harry

Kinds are 1 or 0. A blank cell is 0, which is also where every level begins.

Annotators write down all they know of a character chapter by chapter, the same values hundreds of times and without an
end. A `ChangeLog` remembers the current values and returns a span whenever one has ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from understudy.errors import InputError
from understudy.readers.events import RelationEntry
from understudy.readers.source import SourceFile
from understudy.story import Moment, Relation, Schema, Source

__all__ = ["ChangeLog", "DatedSpan", "LocatedErrors", "TieHistory", "TieStatement", "owner_of", "statements"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class DatedSpan(Generic[Key, Value]):
    """`value` holds from `since` on, until `until` if it is known to end."""

    key: Key
    value: Value
    since: Moment
    until: Moment | None
    source: Source


@dataclass(slots=True)
class ChangeLog(Generic[Key, Value]):
    """The values that hold at the last recorded moment. Moments must be recorded in order."""

    _holding: dict[Key, DatedSpan[Key, Value]] = field(default_factory=dict)
    _last_chapters: dict[Key, Moment] = field(default_factory=dict)

    def record(
        self, key: Key, value: Value | None, chapter: Moment, scene: Moment, source: Source
    ) -> DatedSpan[Key, Value] | None:
        """Record the value (None: it does not hold), and return the span this ends, if it ends one.

        A change is dated by its chapter; a second one within the chapter by its scene.
        """
        since = scene if self._last_chapters.get(key) == chapter else chapter
        self._last_chapters[key] = chapter
        current = self._holding.get(key)
        if current is not None and current.value == value:
            return None
        if value is None:
            self._holding.pop(key, None)
        else:
            self._holding[key] = DatedSpan(key, value, since, None, source)
        return None if current is None else DatedSpan(key, current.value, current.since, since, current.source)

    def open_spans(self) -> Iterator[DatedSpan[Key, Value]]:
        """The spans that have not ended."""
        yield from self._holding.values()


OWN = re.compile(r"(.+?)['’]s (affection|familiarity) (?:to|with) (?:him|her|them)\b.*", re.DOTALL)
THEIRS = re.compile(r"(?:his|her|their) (affection|familiarity) (?:to|with) .+", re.IGNORECASE | re.DOTALL)
ONE_WAY = frozenset(("teacher", "parent", "child", "grandparent", "grandchild", "confidant"))
"""'Is a teacher to Harry'; the others hold both ways. HPD itself has no other one-way kind than this."""
BLANK = frozenset(("", "none", "nan"))


@dataclass(frozen=True, slots=True)
class LocatedErrors:
    """Makes errors that say in which sheet and row, or in which session, the fault is."""

    source: SourceFile
    location: str
    line: int

    def __call__(self, message: str) -> InputError:
        return self.source.error(f"{self.location}: {message}", self.line)


class TieStatement(NamedTuple):
    """`kind` that `of` has to `to`: a level, or whether it holds at all (`level` None and `holds`)."""

    of: str
    to: str
    kind: str
    level: int | None
    holds: bool = True


class TieHistory:
    """The ties between people, from statements in the order of time; yields each tie when it has ended."""

    def __init__(self) -> None:
        self._changes: ChangeLog[tuple[str, str, str], int] = ChangeLog()

    def record(
        self, statement: TieStatement, chapter: Moment, scene: Moment, source: Source
    ) -> Iterator[RelationEntry]:
        value = statement.level if statement.level is not None else 1 if statement.holds else None
        if ended := self._changes.record((statement.of, statement.to, statement.kind), value, chapter, scene, source):
            yield _relation_entry(ended)

    def open_spans(self) -> Iterator[RelationEntry]:
        """The ties that hold to the end."""
        yield from map(_relation_entry, self._changes.open_spans())


def owner_of(headers: Mapping[str, Any] | tuple[str, ...]) -> str | None:
    """Whose relations these are: the name in 'Harry's affection to him'."""
    return next((match[1].strip() for header in headers if (match := OWN.fullmatch(header.strip()))), None)


def statements(
    owner: str, other: str, cells: Mapping[str, Any], error: Callable[[str], InputError]
) -> Iterator[TieStatement]:
    """All that a row says; `error` makes an error with the location of the row."""
    for header, cell in cells.items():
        header = header.strip()
        if not header or header == "name":
            continue
        number = _number(header, cell, error)
        if match := OWN.fullmatch(header):
            yield TieStatement(owner, other, match[2], _level(match[2], number, header, error))
        elif match := THEIRS.fullmatch(header):
            kind = match[1].lower()
            yield TieStatement(other, owner, kind, _level(kind, number, header, error))
        else:
            yield TieStatement(owner, other, header, None, number != 0)
            if header not in ONE_WAY:
                yield TieStatement(other, owner, header, None, number != 0)


def _number(header: str, cell: Any, error: Callable[[str], InputError]) -> float:
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in BLANK):
        return 0
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise error(f"'{header}' should be a number or blank, not {str(cell)[:60]!r}") from None
    return number


def _level(kind: str, number: float, header: str, error: Callable[[str], InputError]) -> int:
    low, high = Schema().bounds(kind) or (-10, 10)
    if not low <= number <= high or number != int(number):
        raise error(f"'{header}' should be a whole number from {low} to {high}, not {number:g}")
    return int(number)


def _relation_entry(span: DatedSpan[tuple[str, str, str], int]) -> RelationEntry:
    of, to, kind = span.key
    level = None if Schema().bounds(kind) is None else span.value
    return RelationEntry(span.source, Relation(of, to, kind, level, span.since, span.until, span.source))
