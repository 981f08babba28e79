"""Counts terms of a line that its speaker cannot know yet: `anachronism` and `unwitnessed`.

    anachronism(u) = how many terms of u the story first uses at or after the persona's moment
    unwitnessed(u) = how many terms of u the story had used by then, but only where the persona was not

Which terms count, and when silence is no accident: see `chronology`. What the persona is, owns and feels it may
speak of at any time. 0 is a line that gives nothing away; what is meant but said in other words is not found.

A reason names terms and moments only for an author: to a player it would give away the very thing.
"""

from __future__ import annotations

from collections.abc import Callable

from understudy.chronology import Chronology, UnknownTerm
from understudy.metrics.line_metric import LineMetric, TextMetric
from understudy.metrics.samples import Samples
from understudy.persona import Persona

__all__ = ["anachronism", "unwitnessed"]


def anachronism(samples: Samples, chronology: Chronology, persona: Persona, author: bool = False) -> LineMetric:
    """Counts what the story has not come to yet."""
    missing = "at the end of the story nothing is still to come: name a moment" if persona.moment.is_end else ""
    find_mentions = chronology.knowledge_of(persona).unknown_yet
    return TextMetric("anachronism", samples, _count_mentions(find_mentions, "not known yet", author), missing)


def unwitnessed(samples: Samples, chronology: Chronology, persona: Persona, author: bool = False) -> LineMetric:
    """Counts what happened where the persona was not."""
    missing = "" if len(persona.past) else f"{persona.name} has said nothing before this moment"
    find_mentions = chronology.knowledge_of(persona).unwitnessed
    return TextMetric("unwitnessed", samples, _count_mentions(find_mentions, "not witnessed", author), missing)


def _count_mentions(
    find: Callable[[str], list[UnknownTerm]], what: str, author: bool
) -> Callable[[str], tuple[float, str]]:
    def score_text(text: str) -> tuple[float, str]:
        mentions = find(text)
        if not mentions:
            return 0.0, ""
        if not author:
            return float(len(mentions)), f"tells something {what}"
        terms = ", ".join(f"'{mention.term}' (first in {mention.first.dotted})" for mention in mentions)
        return float(len(mentions)), f"{what}: {terms}"

    return score_text
