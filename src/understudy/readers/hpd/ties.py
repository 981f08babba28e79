"""How HPD writes relations: a row a person, with what that person is to one other (Harry), and four levels.

    name | friend | classmate | ... | enemy | Harry's affection to him | Harry's familiarity with him
                                            | His affection to Harry   | His familiarity with Harry

Kinds are 1 or 0. A blank cell is 0, which is also where every level begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from understudy.errors import InputError
from understudy.readers.events import Tie
from understudy.readers.hpd.changes import Ledger, Span
from understudy.story import Moment, Relation, Schema, Source

__all__ = ["Level", "Ties", "owner_of", "statements"]

OWN = re.compile(r"(.+?)['’]s (affection|familiarity) (?:to|with) (?:him|her|them)\b.*", re.DOTALL)
THEIRS = re.compile(r"(?:his|her|their) (affection|familiarity) (?:to|with) .+", re.IGNORECASE | re.DOTALL)
ONE_WAY = frozenset(("teacher",))  # 'is a teacher to Harry'; the others hold both ways
BLANK = frozenset(("", "none", "nan"))


class Level(NamedTuple):
    """`kind` that `of` has to `to`: a level, or whether it holds at all (`level` None and `holds`)."""

    of: str
    to: str
    kind: str
    level: int | None
    holds: bool = True


class Ties:
    """What holds between people, told statement by statement in the order of time; gives ties when they are over."""

    def __init__(self) -> None:
        self._ledger: Ledger[tuple[str, str, str], int] = Ledger()

    def tell(self, said: Level, chapter: Moment, scene: Moment, source: Source) -> Iterator[Tie]:
        value = said.level if said.level is not None else 1 if said.holds else None
        if over := self._ledger.tell((said.of, said.to, said.kind), value, chapter, scene, source):
            yield _tie(over)

    def rest(self) -> Iterator[Tie]:
        """The ties that hold to the end."""
        yield from map(_tie, self._ledger.rest())


def owner_of(headers: Mapping[str, Any] | tuple[str, ...]) -> str | None:
    """Whose relations these are: the name in 'Harry's affection to him'."""
    return next((match[1].strip() for header in headers if (match := OWN.fullmatch(header.strip()))), None)


def statements(
    owner: str, other: str, cells: Mapping[str, Any], problem: Callable[[str], InputError]
) -> Iterator[Level]:
    """All that a row says; `problem` makes an error that says where the row stands."""
    for header, cell in cells.items():
        header = header.strip()
        if not header or header == "name":
            continue
        number = _number(header, cell, problem)
        if match := OWN.fullmatch(header):
            yield Level(owner, other, match[2], _level(match[2], number, header, problem))
        elif match := THEIRS.fullmatch(header):
            kind = match[1].lower()
            yield Level(other, owner, kind, _level(kind, number, header, problem))
        else:
            yield Level(owner, other, header, None, number != 0)
            if header not in ONE_WAY:
                yield Level(other, owner, header, None, number != 0)


def _number(header: str, cell: Any, problem: Callable[[str], InputError]) -> float:
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in BLANK):
        return 0
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise problem(f"'{header}' should be a number or blank, not {str(cell)[:60]!r}") from None
    return number


def _level(kind: str, number: float, header: str, problem: Callable[[str], InputError]) -> int:
    low, high = Schema().bounds(kind) or (-10, 10)
    if not low <= number <= high or number != int(number):
        raise problem(f"'{header}' should be a whole number from {low} to {high}, not {number:g}")
    return int(number)


def _tie(span: Span[tuple[str, str, str], int]) -> Tie:
    of, to, kind = span.key
    level = None if Schema().bounds(kind) is None else span.value
    return Tie(span.source, Relation(of, to, kind, level, span.since, span.until, span.source))
