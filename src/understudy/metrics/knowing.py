"""Does a line tell what its speaker cannot know? Two metrics, both without a reference.

    anachronism(u) = how many terms of u the story first uses at or after the persona's moment
    unwitnessed(u) = how many terms of u the story had used by then, but only where the persona was not

Which terms count, and when silence is no accident: see `chronology`. What the persona is, owns and feels it may
speak of at any time. 0 is a line that gives nothing away; what is meant but said in other words is not found.

A reason names terms and places only for an author: to anybody else it would tell what the line was stopped for telling.
"""

from __future__ import annotations

from collections.abc import Callable

from understudy.chronology import Chronology, UnknownTerm
from understudy.metrics.bytext import ByText
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples
from understudy.persona import Persona

__all__ = ["anachronism", "unwitnessed"]


def anachronism(samples: Samples, chronology: Chronology, persona: Persona, author: bool = False) -> LineMetric:
    """Counts what the story has not come to yet."""
    missing = "at the end of the story nothing is still to come: name a moment" if persona.moment.is_end else ""
    found = chronology.knowledge_of(persona).unknown_yet
    return ByText("anachronism", samples, _telling(found, "not known yet", author), missing)


def unwitnessed(samples: Samples, chronology: Chronology, persona: Persona, author: bool = False) -> LineMetric:
    """Counts what happened where the persona was not."""
    missing = "" if len(persona.past) else f"{persona.name} has said nothing before this moment"
    found = chronology.knowledge_of(persona).unwitnessed
    return ByText("unwitnessed", samples, _telling(found, "not witnessed", author), missing)


def _telling(find: Callable[[str], list[UnknownTerm]], what: str, author: bool) -> Callable[[str], tuple[float, str]]:
    def told(text: str) -> tuple[float, str]:
        found = find(text)
        if not found:
            return 0.0, ""
        if not author:
            return float(len(found)), f"tells something {what}"
        terms = ", ".join(f"'{mention.term}' (first in {mention.first.dotted})" for mention in found)
        return float(len(found)), f"{what}: {terms}"

    return told
