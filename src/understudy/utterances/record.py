"""What the database holds: a line with its scores, where it came from, and every decision about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

from understudy.dialogue import Score
from understudy.errors import InputError
from understudy.story import LARGEST, Moment

__all__ = [
    "APPROVED",
    "DECISIONS",
    "FILTER",
    "PENDING",
    "REJECTED",
    "UNDONE",
    "Decided",
    "Kept",
    "Sayable",
    "Utterance",
    "last_words",
    "packed",
    "standing",
    "unpacked",
]

PENDING, APPROVED, REJECTED = "pending", "approved", "rejected"
DECISIONS = (PENDING, APPROVED, REJECTED)
UNDONE = "taken back"
"""Why an entry stands in a history that takes the last decision back."""
FILTER = "filter"
"""Who decides where rules do; all others are people."""
DIGITS = 8  # of one number of a packed moment


@dataclass(frozen=True, slots=True)
class Utterance:
    """A line a character of a story may say from a moment on, and until before another; where it was read.

    `story` is the story's title. Blank, it is not bound to one: any character of that name may say the line.
    """

    text: str
    character: str
    since: Moment = field(default_factory=lambda: Moment((0,)))
    until: Moment = field(default_factory=Moment.end)
    scores: Mapping[str, Score] = field(default_factory=dict)
    file: str = ""
    line: int = 0
    story: str = ""

    @property
    def key(self) -> str:
        """The same line of the same character for the same time is the same utterance, wherever it was read."""
        digest = blake2b(digest_size=16)
        parts = (self.character, self.text, packed(self.since), packed(self.until))
        for part in (*parts, self.story) if self.story else parts:
            told = part.encode("utf-8", "surrogatepass")
            digest.update(len(told).to_bytes(8, "little") + told)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Decided:
    """One entry of an utterance's history."""

    decision: str
    by: str
    at: str
    why: str = ""


def standing(history: Iterable[Decided]) -> list[Decided]:
    """The decisions of a history that were not taken back."""
    found: list[Decided] = []
    for entry in history:
        if entry.why != UNDONE:
            found.append(entry)
        elif found:
            found.pop()
    return found


def last_words(history: Iterable[Decided]) -> dict[str, str]:
    """What everybody who has decided, and not taken it back, decided last."""
    found: dict[str, str] = {}
    for entry in standing(history):
        if entry.decision == PENDING:
            found.pop(entry.by, None)
        else:
            found[entry.by] = entry.decision
    return found


@dataclass(frozen=True, slots=True)
class Kept:
    """An utterance as the database has it."""

    number: int
    utterance: Utterance
    decision: str
    by: str
    at: str
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Sayable:
    """An approved line, with as much of it as saying it takes."""

    number: int
    text: str
    since: Moment


def packed(moment: Moment) -> str:
    """Text that sorts as moments do, whatever database sorts it."""
    return "".join(f"{number:0{DIGITS}x}" for number in moment.numbers)


@lru_cache(4096)
def unpacked(text: str) -> Moment:
    try:
        numbers = tuple(int(text[place : place + DIGITS], 16) for place in range(0, len(text), DIGITS))
    except ValueError as error:
        raise InputError(f"the utterance database has '{text}' for a moment: take a copy that is whole") from error
    return Moment.end() if numbers == (LARGEST,) else Moment(numbers)
