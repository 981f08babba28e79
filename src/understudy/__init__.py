"""Understudy reads a story, knows each character as of any moment in it, and talks as that character.

    import understudy

    story = understudy.read("demo")
    situation = understudy.situation_at(story, "Zita Karst", "2.3", facing="Aurel Benedek")
    print(situation.persona.profile)

Names are loaded when they are first used, so that importing the package takes no time.
"""

from __future__ import annotations

TYPE_CHECKING = False  # true to type checkers; importing it from typing would take longer than everything else here
if TYPE_CHECKING:
    from typing import Any

    from understudy.cancellation import Cancellation
    from understudy.dialogue import (
        Agent,
        Candidate,
        Draft,
        Drafter,
        Evidence,
        Example,
        LanguageModel,
        Ranker,
        Reply,
        Sampling,
        Score,
        Situation,
        StreamingAgent,
        Turn,
        Usage,
        situation_at,
    )
    from understudy.errors import UnderstudyError
    from understudy.persona import Other, Persona, persona_at
    from understudy.readers import examples, read
    from understudy.story import Character, Fact, Line, Moment, Relation, Scene
    from understudy.storyfile import Story

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Cancellation",
    "Candidate",
    "Character",
    "Draft",
    "Drafter",
    "Evidence",
    "Example",
    "Fact",
    "LanguageModel",
    "Line",
    "Moment",
    "Other",
    "Persona",
    "Ranker",
    "Relation",
    "Reply",
    "Sampling",
    "Scene",
    "Score",
    "Situation",
    "Story",
    "StreamingAgent",
    "Turn",
    "UnderstudyError",
    "Usage",
    "__version__",
    "examples",
    "persona_at",
    "read",
    "situation_at",
]

HOMES = {
    "understudy.dialogue": (
        *("Agent", "Candidate", "Draft", "Drafter", "Evidence", "Example", "LanguageModel", "Ranker", "Reply"),
        *("Sampling", "Score", "Situation", "StreamingAgent", "Turn", "Usage", "situation_at"),
    ),
    "understudy.cancellation": ("Cancellation",),
    "understudy.errors": ("UnderstudyError",),
    "understudy.persona": ("Other", "Persona", "persona_at"),
    "understudy.readers": ("examples", "read"),
    "understudy.story": ("Character", "Fact", "Line", "Moment", "Relation", "Scene"),
    "understudy.storyfile": ("Story",),
}
"""Where each public name lives."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in HOMES.items():
        if name in names:
            value = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'understudy' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
