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

    from understudy.errors import UnderstudyError
    from understudy.formats import examples, read
    from understudy.progress import Cancellation
    from understudy.story.dialogue import (
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
    from understudy.story.persona import Other, Persona, persona_at
    from understudy.story.storyfile import Story
    from understudy.story.types import Character, Fact, Line, Moment, Relation, Scene

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
    "understudy.story.dialogue": (
        *("Agent", "Candidate", "Draft", "Drafter", "Evidence", "Example", "LanguageModel", "Ranker", "Reply"),
        *("Sampling", "Score", "Situation", "StreamingAgent", "Turn", "Usage", "situation_at"),
    ),
    "understudy.progress": ("Cancellation",),
    "understudy.errors": ("UnderstudyError",),
    "understudy.story.persona": ("Other", "Persona", "persona_at"),
    "understudy.formats": ("examples", "read"),
    "understudy.story.types": ("Character", "Fact", "Line", "Moment", "Relation", "Scene"),
    "understudy.story.storyfile": ("Story",),
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
