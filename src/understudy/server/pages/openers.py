"""Questions to begin a chat with that the character has something to say to: about whom it has ties to, what it is and
has, and what it has lived through by the moment."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import islice

from understudy.dialogue import Situation
from understudy.persona import Persona

__all__ = ["openers"]

MAX_OPENERS = 4
MAX_ABOUT_OTHERS = 2
BY_ATTRIBUTE = (
    (("hobby",), "What do you enjoy most?"),
    (("belongings",), "What do you carry with you?"),
    (("talents", "export"), "What are you good at?"),
    (("affiliation", "title"), "What is your place here?"),
    (("lineage",), "Whose child are you?"),
)


def openers(situation: Situation, known: Set[str]) -> list[str]:
    """At most four. `situation` has the names that a reader is shown; `known` are those a reader has come across."""
    if situation.persona.language != "en":
        return []
    return list(islice(dict.fromkeys(_questions(situation, known)), MAX_OPENERS))


def _questions(situation: Situation, known: Set[str]) -> Iterator[str]:
    persona = situation.persona
    faced = None if situation.faced is None else situation.faced.name
    ties = _strongest_ties(persona)
    if faced in ties:
        yield "What do you think of me?"
    elif persona.profile:
        yield "Who are you?"
    others = [name for name in ties if name in known and name != faced]
    for name in others[:MAX_ABOUT_OTHERS]:
        yield f"What do you think of {name}?"
    if len(persona.past):
        yield "What happened last?"
    for attributes, question in BY_ATTRIBUTE:
        if any(persona.attributes.get(attribute) for attribute in attributes):
            yield question


def _strongest_ties(persona: Persona) -> list[str]:
    """Those the character has ties to, whoever moves it most first."""
    strength: dict[str, int] = {}
    for tie in persona.relations:
        strength[tie.to] = max(strength.get(tie.to, 0), abs(tie.level or 0) if tie.kind == "affection" else 0)
    return sorted(strength, key=lambda name: -strength[name])
