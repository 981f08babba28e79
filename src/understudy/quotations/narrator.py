"""Whether somebody in the story tells it, and who.

A story is told in the first person where narration, quotations left out, says 'I' more than once in 150 words. Its
narrator is whom others call by a name that the narration itself hardly ever has.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from understudy.quotations.namesakes import Namesakes
from understudy.quotations.prose import Prose, Span
from understudy.quotations.usage import VOCATIVE

__all__ = ["is_first_person", "narrator_among"]

WORD = re.compile(r"[^\W\d_]+")
FIRST_PERSON = frozenset("I je Je j J ich Ich".split())
RATE = 1 / 150  # of a narrator's words
LEAST_CALLED = 3
NARRATED = 0.35  # of a narrator's own names that stand in narration, at most


def is_first_person(prose: Prose) -> bool:
    """Headings do not count: 'Chapter I' is nobody's word."""
    parts = deque(sorted(part for quotation in prose.quotations for part in quotation.parts))
    words = total = 0
    for start, end in [paragraph.span for paragraph in prose.paragraphs] or [Span(0, len(prose.text))]:
        while parts and parts[0].start < end:
            part = parts.popleft()
            found = WORD.findall(prose.text, start, max(start, part.start))
            words += sum(word in FIRST_PERSON for word in found)
            total += len(found)
            start = max(start, part.end)
        found = WORD.findall(prose.text, start, max(start, end))
        words += sum(word in FIRST_PERSON for word in found)
        total += len(found)
    return words > RATE * total


def narrator_among(people: Iterable[Namesakes]) -> Namesakes | None:
    """Whom others call most of those that narration does not name, if anybody."""
    called = [
        person
        for person in people
        if person.usage.roles[VOCATIVE] >= LEAST_CALLED and person.usage.narrated <= NARRATED * person.usage.count
    ]
    return max(called, key=lambda person: person.usage.roles[VOCATIVE], default=None)
