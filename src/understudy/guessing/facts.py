"""What is known of a candidate beside what it said: does the mask speak of it, does it name whom the candidate knows?

    known of them    words of meaning shared by what is said and profile, attributes and ties  /  sqrt(1 + words said)
    tied to them     how often the mask names somebody the candidate has a tie to, as ln(1 + n)

A story that has only a script knows nothing of the kind; then both are 0, and nothing can be learned about them from
scenes alone. So they weigh what they usually do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from understudy.guessing.parts import Parts
from understudy.lexical.rows import Reals
from understudy.persona import Persona
from understudy.text import fold, stop_words, words

__all__ = ["FACTS", "fact_table", "shared_facts"]

FACTS = {"known of them": 2.0, "tied to them": 0.5}
"""Clues, and what each weighs."""


def fact_table(parts: Parts, personas: Sequence[Persona]) -> Reals:
    """`[mask, candidate, clue]`."""
    table = np.zeros((len(parts.speakers), len(personas), len(FACTS)))
    for column, persona in enumerate(personas):
        if not persona.profile and not persona.attributes and not persona.relations:
            continue
        ties = {fold(part) for tie in persona.relations for part in tie.to.split()}
        for row, mask in enumerate(parts.speakers):
            said = _said(parts, mask)
            table[row, column, 0] = len(said & _known(persona)) / math.sqrt(1 + len(said))
            named = sum(fold(word) in ties for word in parts.named_by(mask))
            table[row, column, 1] = math.log1p(named)
    return table


def shared_facts(parts: Parts, mask: str, persona: Persona) -> list[tuple[str, list[str]]]:
    """The sentences of a profile that share words with what a mask says, and the words; the most telling first."""
    said = _said(parts, mask)
    found = [
        (sentence, sorted(shared))
        for sentence in (*persona.profile, *persona.feelings())
        if (shared := said & _telling(sentence, persona) - _own_name(persona))
    ]
    return sorted(found, key=lambda one: -len(one[1]))


def _said(parts: Parts, mask: str) -> set[str]:
    return {word for word in parts.bags[mask]["own"] if word[0].isalnum() and " " not in word and ":" not in word}


def _known(persona: Persona) -> set[str]:
    values = [value for several in persona.attributes.values() for value in several]
    told = (*persona.profile, *persona.feelings(), *values)
    return {word for sentence in told for word in _telling(sentence, persona)} - _own_name(persona)


def _telling(sentence: str, persona: Persona) -> set[str]:
    return set(words(sentence, persona.language)) - stop_words(persona.language)


def _own_name(persona: Persona) -> set[str]:
    return {part.lower() for part in persona.name.split()}
