"""The world's types: moments, lines, scenes, characters, dated facts and ties.

Time is tuples. A `Moment` compares by its numbers alone, so a coarse one ("part 2, chapter 3") is the start of
its chapter: it comes after everything in chapter 2.2 and before the first line of chapter 2.3. What is dated holds by
one rule, `holding_at`, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import total_ordering
from typing import NamedTuple, Protocol, TypeVar

from understudy.errors import UnknownMoment
from understudy.text import roman_number

LARGEST = 2**32 - 1  # moments are kept as 32-bit numbers; the largest stands for 'after everything'

NAMED = re.compile(r"([^\W\d_]+)\s*\.?\s*(\d{1,10}|[ivxlc]{1,12})\b", re.IGNORECASE)
EPISODE = re.compile(
    r"s(\d{1,10})\s*e(\d{1,10})((?:[.:]\d{1,10})*)|(\d{1,10})x(\d{1,10})((?:[.:]\d{1,10})*)", re.IGNORECASE
)
DOTTED = re.compile(r"\d{1,10}(?:[.:]\d{1,10})*")
BETWEEN_NAMED = re.compile(r"[\s,;:–-]*")


@total_ordering
@dataclass(frozen=True, eq=False, slots=True)
class Moment:
    """A point in a storyline: numbers, with the story's own names for their levels."""

    numbers: tuple[int, ...]
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.numbers or min(self.numbers) < 0 or max(self.numbers) > LARGEST:
            shown = ".".join(str(number) if abs(number) < 10**12 else "..." for number in self.numbers)
            raise UnknownMoment(f"a moment is made of numbers from 0 to {LARGEST - 1}, not {shown or 'none'}")

    @classmethod
    def end(cls, levels: tuple[str, ...] = ()) -> Moment:
        return cls((LARGEST,), levels)

    @classmethod
    def parse(cls, text: str, levels: tuple[str, ...] = ()) -> Moment:
        """Read `S03E05`, `3x05`, `book 3, chapter 5`, `3.5`, `act 2 scene 1`, `start` or `end`.

        With `levels`, named numbers must be the story's own levels from the top down.
        """
        wanted = text.strip()
        if wanted.lower() == "end":
            return cls.end(levels)
        if wanted.lower() == "start":
            return cls((0,), levels)
        if DOTTED.fullmatch(wanted):
            numbers = tuple(int(part) for part in re.split(r"[.:]", wanted))
        elif match := EPISODE.fullmatch(wanted):
            first, second, finer = [group for group in match.groups() if group is not None]
            numbers = (int(first), int(second), *(int(part) for part in re.findall(r"\d+", finer)))
        else:
            numbers, names = _named_numbers(wanted, levels)
            levels = levels or names
        if levels and len(numbers) > len(levels):
            raise UnknownMoment(f"'{text}' has {len(numbers)} numbers, but this story counts by {', '.join(levels)}")
        return cls(numbers, levels)

    @property
    def is_end(self) -> bool:
        return self.numbers == (LARGEST,)

    @property
    def dotted(self) -> str:
        """The form that files and JSON carry: `2.3.1`, or `end`."""
        return "end" if self.is_end else ".".join(map(str, self.numbers))

    def within(self, coarser: Moment) -> bool:
        """Is this the moment `coarser`, or part of what it names?"""
        return self.numbers[: len(coarser.numbers)] == coarser.numbers

    def __eq__(self, other: object) -> bool:
        return self.numbers == other.numbers if isinstance(other, Moment) else NotImplemented

    def __lt__(self, other: Moment) -> bool:
        return self.numbers < other.numbers

    def __le__(self, other: Moment) -> bool:
        return self.numbers <= other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __str__(self) -> str:
        if self.is_end or len(self.numbers) > len(self.levels):
            return self.dotted
        return ", ".join(f"{level} {number}" for level, number in zip(self.levels, self.numbers))


def _named_numbers(text: str, levels: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    names, numbers, position = [], [], 0
    for match in NAMED.finditer(text):
        number = int(match[2]) if match[2].isdigit() else roman_number(match[2])
        if number is None or not BETWEEN_NAMED.fullmatch(text[position : match.start()]):
            break
        position = match.end()
        names.append(match[1].lower())
        numbers.append(number)
    if not names or text[position:].strip():
        raise UnknownMoment(
            f"'{text}' is not a moment: write 3.5, S03E05, 3x05, 'book 3, chapter 5', 'act 2 scene 1', start or end"
        )
    if levels and tuple(names) != levels[: len(names)]:
        raise UnknownMoment(f"'{text}' does not fit: this story counts by {', '.join(levels)}, from the largest down")
    return tuple(numbers), tuple(names)


class Source(NamedTuple):
    """Where something was read: a file and the line in it, counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a scene. No speaker: a description or stage direction."""

    moment: Moment
    speaker: str | None
    text: str
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What happens in one place: who is present counts those who come later and those who never speak."""

    moment: Moment
    setting: str
    present: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Something a character said, and what it had heard just before (None: it spoke first).

    A line that was never said, but that somebody approved of, has its number in the utterance database.
    """

    heard: Line | None
    said: Line
    setting: str
    approved: int | None = None


@dataclass(frozen=True, slots=True)
class Character:
    """Who somebody is, whatever the moment."""

    name: str
    aliases: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return self.name, *self.aliases


SECRET = "secret"  # noqa: S105  (the attribute of what one keeps to oneself)
PROFILE = "profile"
"""The attribute of a whole sentence in the first person; one can have many."""
KIN = ("spouse", "parent", "child", "sibling", "grandparent", "grandchild", "in-law")
"""Kinds of family; 'family' where it is not known which. A tie says what the other is: `to` is the parent of `of`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """That a fact or tie was found in the text, not written by an author: how surely, where, who was there."""

    confidence: float
    sources: tuple[Moment, ...]
    """The lines that say it, in story order; it holds from the first of them on."""
    witnesses: tuple[str, ...] = ()
    """Those who were there for one of the lines: nobody else knows of it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """An attribute of a character from a moment on, until it ends or a newer one takes its place.

    `known_to` names those who know it besides its owner; None means it is no secret.
    """

    who: str
    attribute: str
    values: tuple[str, ...]
    since: Moment
    until: Moment | None = None
    known_to: tuple[str, ...] | None = None
    found: Finding | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, ...]:
        """Facts of one key take each other's place. Secrets and sentences are keys of their own: one can have many."""
        return (self.who, self.attribute, *(self.values if self.attribute in (SECRET, PROFILE) else ()))

    @property
    def people(self) -> tuple[str, ...]:
        return (self.who,)


@dataclass(frozen=True, slots=True)
class Relation:
    """A tie one way: a kind (friend, enemy, ...) that holds, or a level of affection or familiarity."""

    of: str
    to: str
    kind: str
    level: int | None
    since: Moment
    until: Moment | None = None
    source: Source | None = field(default=None, compare=False)
    term: str = field(default="", compare=False)
    """The text's own word for what the other is: 'wife' for a spouse."""
    found: Finding | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """Ties of one key take each other's place."""
        return self.of, self.to, self.kind

    @property
    def people(self) -> tuple[str, ...]:
        return self.of, self.to


@dataclass(frozen=True, slots=True)
class LoreEntry:
    """Knowledge of a lorebook that its keys bring up; what the fields do is said in `formats.cards.lorebook`.

    Where a switch is None, whoever looks for keys decides.
    """

    content: str
    keys: tuple[str, ...] = ()
    secondary_keys: tuple[str, ...] = ()
    logic: str = "and any"
    is_enabled: bool = True
    is_constant: bool = False
    order: int = 100
    position: str = "before"
    depth: int = 4
    scan_depth: int | None = None
    is_case_sensitive: bool | None = None
    matches_whole_words: bool | None = None
    probability: float = 100.0
    excludes_recursion: bool = False
    prevents_recursion: bool = False
    recursion_level: int = 0
    delay: int = 0
    group: str = ""
    is_group_winner: bool = False
    group_weight: int = 100
    ignores_budget: bool = False
    name: str = ""
    book: str = ""
    book_budget: int | None = None


class Dated(Protocol):
    """Something that holds from a moment on, until it ends or a newer one of the same key takes its place."""

    @property
    def key(self) -> Hashable: ...
    @property
    def since(self) -> Moment: ...
    @property
    def until(self) -> Moment | None: ...


D = TypeVar("D", bound=Dated)


def holding_at(dated: Iterable[D], moment: Moment) -> list[D]:
    """What holds at a moment: of each key the newest with

        since <= moment < until

    Where a newer one has ended, an older one that has not holds again. Of two from the same moment the later in the
    list counts. They come in the order in which their keys first held.
    """
    newest: dict[Hashable, D] = {}
    at = moment.numbers  # compared as tuples: it is done thousands of times for a reply
    for item in sorted(dated, key=lambda item: item.since.numbers):
        if item.since.numbers <= at and (item.until is None or at < item.until.numbers):
            newest[item.key] = item
    return list(newest.values())


@dataclass(frozen=True, slots=True)
class Schema:
    """Which attributes and kinds of tie a story uses; a story may extend the default."""

    attributes: tuple[str, ...] = (
        *("gender", "age", "lineage", "talents", "looks"),  # inborn
        *("achievement", "title", "belongings", "export", "hobby", "character", "spells", "nickname"),  # nurture
        *("affiliation", "goes by", "born", "died"),  # whom one belongs to, a false name, and the ends of a life
        SECRET,
        PROFILE,
    )
    kinds: tuple[str, ...] = (
        *("friend", "classmate", "teacher", "family", "lover", "opponent", "teammate", "enemy"),
        *KIN,
        "confidant",  # knows who is behind the name somebody goes by
    )
    levels: tuple[tuple[str, int, int], ...] = (("affection", -10, 10), ("familiarity", 0, 10))

    def extended(self, attributes: tuple[str, ...] = (), kinds: tuple[str, ...] = ()) -> Schema:
        return Schema(
            tuple(dict.fromkeys((*self.attributes, *attributes))),
            tuple(dict.fromkeys((*self.kinds, *kinds))),
            self.levels,
        )

    def bounds(self, kind: str) -> tuple[int, int] | None:
        """The range of a tie that has a level, None for one that simply holds."""
        return next(((low, high) for name, low, high in self.levels if name == kind), None)
