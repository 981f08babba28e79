"""Who is said to have died, where it is sure: nobody can be asked for after their death.

A death counts where a stage direction tells it, or two people say it, and the one named never speaks again. It dates
from the last of what makes it sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from understudy.story import Line, Moment

__all__ = ["Death", "DeathWatch"]

HINT = re.compile(r"\b(?:dead|dies|died|killed|slain|murdered|passed away)\b")
SAID = re.compile(
    r"\b([A-Z][\w'-]+(?: [A-Z][\w'-]+)?)(?:,? (?:is|was|has been|lies|my \w+ is)|'s)? "
    r"(?:dead\b|died\b|killed\b(?= (?:in|by|at|on|him|her)|[.!])|murdered\b|slain\b|passed away\b)"
)
TOLD = re.compile(r"\b([A-Z][\w'-]+(?: [A-Z][\w'-]+)?) (?:falls and )?dies\b")
NOT_SO = re.compile(
    r"\?|\b(?:if|not|n't|never|think|thought|thinks|would|wish|almost|nearly|like|when)\b", re.IGNORECASE
)
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
DIRECTED, SPOKEN = 0.9, 0.8  # confidence


@dataclass(frozen=True, slots=True)
class Death:
    """Somebody's death: the lines that tell it, in order, and how sure it is."""

    who: str
    sources: tuple[Moment, ...]
    confidence: float


@dataclass(slots=True)
class DeathWatch:
    """Reads a story's lines in order; `people` has whose name each is."""

    people: Mapping[str, str]
    _last_spoken: dict[str, Moment] = field(default_factory=dict)
    _told: dict[str, list[tuple[Moment, str | None]]] = field(default_factory=dict)

    def read(self, line: Line) -> None:
        if line.speaker is not None:
            self._last_spoken[line.speaker] = line.moment
        if HINT.search(line.text) is None:
            return
        for sentence in SENTENCE.findall(line.text):
            pattern = TOLD if line.speaker is None else SAID
            for match in pattern.finditer(sentence):
                who = self.people.get(match[1])
                if who is not None and who != line.speaker and not NOT_SO.search(sentence):
                    self._told.setdefault(who, []).append((line.moment, line.speaker))

    def deaths(self) -> Iterator[Death]:
        for who, told in self._told.items():
            last = self._last_spoken.get(who)
            if last is None:
                continue
            after = [(moment, teller) for moment, teller in told if moment > last]
            directed = [moment for moment, teller in after if teller is None]
            if directed:
                yield Death(who, (directed[0],), DIRECTED)
            elif len(told) == len(after) and len({teller for _, teller in after}) > 1:
                tellers = {teller for _, teller in after[:1]}
                second = next(index for index, (_, teller) in enumerate(after) if teller not in tellers)
                yield Death(who, tuple(moment for moment, _ in after[: second + 1]), SPOKEN)
