"""How a character opens a talk: the greeting of its card, and the alternatives."""

from __future__ import annotations

from understudy.dialogue import Situation
from understudy.errors import StoryError
from understudy.macros import fill_macros

__all__ = ["greeting_number", "greetings_for"]


def greetings_for(situation: Situation) -> tuple[str, ...]:
    """The greetings of the character's card, with the name of the one faced filled in; empty without a card."""
    persona = situation.persona
    user = situation.faced.name if situation.faced else ""
    return tuple(fill_macros(text, persona.name, user, persona.language) for text in persona.greetings)


def greeting_number(situation: Situation, number: int) -> str:
    """The greeting of a number, counted from 1."""
    greetings = greetings_for(situation)
    if not 1 <= number <= len(greetings):
        name = situation.persona.name
        has = f"has {len(greetings)}: choose from 1 to {len(greetings)}" if greetings else "has no card with greetings"
        raise StoryError(f"there is no greeting {number}, {name} {has}")
    return greetings[number - 1]
