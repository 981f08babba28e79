"""What the database stores: a line with its scores, where it came from, and every decision about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from understudy.errors import InputError
from understudy.language.encoding.cache import cache_key
from understudy.story.dialogue import Score
from understudy.story.types import LARGEST, Moment

PENDING, APPROVED, REJECTED = "pending", "approved", "rejected"
DECISIONS = (PENDING, APPROVED, REJECTED)
UNDONE = "taken back"
"""The `why` of an entry that takes the last decision back."""
FILTER = "filter"
"""The `by` of decisions made by rules; all others are people's."""
DIGITS = 8  # hexadecimal, of each number of a packed moment


@dataclass(frozen=True, slots=True)
class Utterance:
    """A line that a character may say at moments since <= m < until, and the file it was read from.

    `story` is the story's title. If it is blank, any character of that name may say the line.
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
        """Identifies an utterance by its text, character, time and story, whichever file it is from."""
        story = (self.story,) if self.story else ()
        return cache_key(self.character, self.text, pack_moment(self.since), pack_moment(self.until), *story).hex()


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """One entry of an utterance's history."""

    decision: str
    by: str
    at: str
    why: str = ""


def standing_decisions(history: Iterable[ReviewDecision]) -> list[ReviewDecision]:
    """The decisions of a history that were not taken back."""
    decisions: list[ReviewDecision] = []
    for entry in history:
        if entry.why != UNDONE:
            decisions.append(entry)
        elif decisions:
            decisions.pop()
    return decisions


def last_decisions(history: Iterable[ReviewDecision]) -> dict[str, str]:
    """The last decision of each person who has made one and not taken it back."""
    latest: dict[str, str] = {}
    for entry in standing_decisions(history):
        if entry.decision == PENDING:
            latest.pop(entry.by, None)
        else:
            latest[entry.by] = entry.decision
    return latest


@dataclass(frozen=True, slots=True)
class StoredUtterance:
    """An utterance with its number in the database and its present decision."""

    number: int
    utterance: Utterance
    decision: str
    by: str
    at: str
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Sayable:
    """An approved line, without scores and history."""

    number: int
    text: str
    since: Moment


def pack_moment(moment: Moment) -> str:
    """A moment as text whose order, in any collation, is that of moments."""
    return "".join(f"{number:0{DIGITS}x}" for number in moment.numbers)


@lru_cache(4096)
def unpack_moment(text: str) -> Moment:
    try:
        numbers = tuple(int(text[start : start + DIGITS], 16) for start in range(0, len(text), DIGITS))
    except ValueError as error:
        raise InputError(f"the utterance database has '{text}' for a moment: take a copy that is whole") from error
    return Moment.end() if numbers == (LARGEST,) else Moment(numbers)
