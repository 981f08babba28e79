"""Whether somebody in the story tells it, and who.

A story is told in the first person where narration, quotations left out, says 'I' more than once in 150 words. Its
narrator is whom others call by a name that the narration itself hardly ever has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from understudy.quotations.namesakes import Namesakes
from understudy.quotations.prose import Prose
from understudy.quotations.usage import VOCATIVE

__all__ = ["is_first_person", "narrator_among"]

WORD = re.compile(r"[^\W\d_]+")
FIRST_PERSON = frozenset("I je Je j J ich Ich".split())
RATE = 1 / 150  # of a narrator's words
LEAST_CALLED = 3
NARRATED = 0.35  # of a narrator's own names that stand in narration, at most


def is_first_person(prose: Prose) -> bool:
    words = total = 0
    start = 0
    for part in sorted(part for quotation in prose.quotations for part in quotation.parts):
        found = WORD.findall(prose.text, start, max(start, part.start))
        words += sum(word in FIRST_PERSON for word in found)
        total += len(found)
        start = max(start, part.end)
    found = WORD.findall(prose.text, start)
    words += sum(word in FIRST_PERSON for word in found)
    return words > RATE * (total + len(found))


def narrator_among(people: Iterable[Namesakes]) -> Namesakes | None:
    """Whom others call most of those that narration does not name, if anybody."""
    called = [
        person
        for person in people
        if person.usage.roles[VOCATIVE] >= LEAST_CALLED and person.usage.narrated <= NARRATED * person.usage.count
    ]
    return max(called, key=lambda person: person.usage.roles[VOCATIVE], default=None)
