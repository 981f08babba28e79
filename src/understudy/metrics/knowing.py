"""Counts what its speaker cannot know yet in a line: `anachronism` and `unwitnessed`.

    anachronism(u) = how many words of u the story first uses at or after the persona's moment, and names of the cast
                     in u that the persona is yet to hear    + 1 if u repeats a later passage
    unwitnessed(u) = how many terms of u the story had used by then, but only where the persona was not

Which terms count, and when silence is no accident: see `chronology`; when a passage is repeated: see `passages`. What
the persona is, owns and feels it may speak of at any time. 0 is a line that gives nothing away; what is meant but said
in other words is not found (docs/metrics.md has figures).

A reason names terms and moments only for an author: to a player it would give away the very thing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from understudy.metrics.line_metric import LineMetric, TextMetric
from understudy.metrics.passages import NEW_SHARE, LaterPassages, PassageIndex
from understudy.metrics.samples import Samples
from understudy.story.chronology import Chronology, PersonaKnowledge, UnknownTerm
from understudy.story.persona import Persona

__all__ = ["anachronism", "find_anachronisms", "unwitnessed"]

NOT_YET, NOT_WITNESSED = "not known yet", "not witnessed"
REMEMBERED = 256  # texts, so that a value and its reason are worked out once


def anachronism(
    samples: Samples, chronology: Chronology, persona: Persona, author: bool = False, index: PassageIndex | None = None
) -> LineMetric:
    """Counts what the story has not come to yet; without an index of its passages, names and words alone."""
    missing = "at the end of the story nothing is still to come: name a moment" if persona.moment.is_end else ""
    knowledge = chronology.knowledge_of(persona)
    passages = LaterPassages(index, knowledge, persona) if index is not None and not missing else None

    @lru_cache(REMEMBERED)
    def score_text(text: str) -> tuple[float, str]:
        return _summed_up(find_anachronisms(knowledge, passages, text), NOT_YET, author)

    return TextMetric("anachronism", samples, score_text, missing)


def find_anachronisms(
    knowledge: PersonaKnowledge, passages: LaterPassages | None, text: str, left_out: int | None = None
) -> list[str]:
    """What a text tells too early, for an author; `left_out` is the number of a line taken not to be in the story."""
    findings = [_described(mention) for mention in knowledge.unknown_yet(text, left_out)]
    passage = passages.nearest(text, left_out) if passages is not None else None
    if passage is not None and passage.share >= NEW_SHARE:
        findings.append(f"{passage.share:.0%} of it repeats {knowledge.chronology.moment_of(passage.line).dotted}")
    return findings


def unwitnessed(samples: Samples, chronology: Chronology, persona: Persona, author: bool = False) -> LineMetric:
    """Counts what happened where the persona was not."""
    missing = "" if len(persona.past) else f"{persona.name} has said nothing before this moment"
    find_mentions = chronology.knowledge_of(persona).unwitnessed
    return TextMetric("unwitnessed", samples, _count_mentions(find_mentions, NOT_WITNESSED, author), missing)


def _count_mentions(
    find: Callable[[str], list[UnknownTerm]], what: str, author: bool
) -> Callable[[str], tuple[float, str]]:
    return lambda text: _summed_up([_described(mention) for mention in find(text)], what, author)


def _described(mention: UnknownTerm) -> str:
    return f"'{mention.term}' (first in {mention.first.dotted})"


def _summed_up(findings: list[str], what: str, author: bool) -> tuple[float, str]:
    if not findings:
        return 0.0, ""
    return float(len(findings)), f"{what}: {', '.join(findings)}" if author else f"tells something {what}"
