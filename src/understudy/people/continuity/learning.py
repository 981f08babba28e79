"""Who learns what when: of each name and thing, where everybody who comes to hear of it first does.

What is worth a look is what people learn at different times: an item counts by the scenes in which somebody learns of
it, times a weight. Who goes by another name, and things of which not everybody knows, are what stories turn on; people
know each other's names anyway. What is mentioned in one scene only is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from understudy.people.continuity.mentions import Mentions, first_hearings
from understudy.story import Moment

__all__ = ["Learning", "learnings"]

FEWEST_PEOPLE = 3
WEIGHTS = {"true name": 3.0, "thing": 2.0, "name": 1.5, "person": 1.0}
LOOSE = 0.5


@dataclass(frozen=True, slots=True)
class Learning:
    item: str
    """A name or a thing."""
    hearings: Mapping[str, Moment]
    """When each person first hears of it, in story order."""

    @property
    def steps(self) -> int:
        """In how many scenes somebody learns of it."""
        return len({moment.numbers[:-1] for moment in self.hearings.values()})


def learnings(mentions: Mentions) -> dict[str, Learning]:
    found: dict[str, Learning] = {}
    worth: dict[str, float] = {}
    for term, where in mentions.by_term.items():
        said = [mention for mention in where if mention.line.speaker is not None]
        hearings = first_hearings(said)
        item = f"{term.text} (true name)" if term.kind == "true name" else term.text
        if len(hearings) >= FEWEST_PEOPLE and len({mention.scene for mention in said}) > 1:
            learning = found.setdefault(item, Learning(item, hearings))
            worth.setdefault(item, learning.steps * WEIGHTS[term.kind] * (LOOSE if term.is_loose else 1.0))
    return {item: found[item] for item in sorted(found, key=lambda item: (-worth[item], item))}
