"""Does a line tell what its speaker cannot know? Two metrics, both without a reference.

    anachronism(u) = how many terms of u the story first uses at or after the persona's moment
    unwitnessed(u) = how many terms of u the story had used by then, but only where the persona was not

Which terms count, and when silence is no accident: see `chronology`. What the persona is, owns and feels it may
speak of at any time. 0 is a line that gives nothing away; what is meant but said in other words is not found.

A reason names terms and places only for an author: to anybody else it would tell what the line was stopped for telling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from understudy.chronology import Chronology, Mention
from understudy.dialogue import Score
from understudy.persona import Persona

__all__ = ["anachronism", "unwitnessed"]

Metric = Callable[[Sequence[str]], list[Score]]


def anachronism(chronology: Chronology, persona: Persona, author: bool = False) -> Metric:
    """Counts what the story has not come to yet."""
    if persona.moment.is_end:
        return _missing("anachronism", "at the end of the story nothing is still to come: name a moment")

    vantage = chronology.seen_by(persona)

    def score(line: str) -> Score:
        return _score("anachronism", vantage.unknown_yet(line), "not known yet", author)

    return lambda lines: [score(line) for line in lines]


def unwitnessed(chronology: Chronology, persona: Persona, author: bool = False) -> Metric:
    """Counts what happened where the persona was not."""
    if not len(persona.past):
        return _missing("unwitnessed", f"{persona.name} has said nothing before this moment")

    vantage = chronology.seen_by(persona)

    def score(line: str) -> Score:
        return _score("unwitnessed", vantage.unwitnessed(line), "not witnessed", author)

    return lambda lines: [score(line) for line in lines]


def _score(name: str, found: Sequence[Mention], what: str, author: bool) -> Score:
    if not found:
        return Score(name, 0.0)
    if not author:
        return Score(name, float(len(found)), f"tells something {what}")
    told = ", ".join(f"'{mention.term}' (first in {mention.first.dotted})" for mention in found)
    return Score(name, float(len(found)), f"{what}: {told}")


def _missing(name: str, reason: str) -> Metric:
    return lambda lines: [Score(name, None, reason) for _ in lines]
