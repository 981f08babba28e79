"""Who learns what when: of each name and thing, where everybody who comes to hear of it first does.

What is worth a look is what people learn at different times: an item counts the more, the more people hear of it in
different scenes, and what is mentioned once is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from understudy.people.continuity.mentions import Mentions, first_hearings
from understudy.story import Moment

__all__ = ["Learning", "learnings"]

FEWEST_PEOPLE = 3


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
    for term, where in mentions.by_term.items():
        said = [mention for mention in where if mention.line.speaker is not None]
        hearings = first_hearings(said)
        item = f"{term.text} (true name)" if term.kind == "true name" else term.text
        if len(hearings) >= FEWEST_PEOPLE and len({mention.scene for mention in said}) > 1:
            found.setdefault(item, Learning(item, hearings))
    return dict(sorted(found.items(), key=lambda entry: (-entry[1].steps, entry[0])))
