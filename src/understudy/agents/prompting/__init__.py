"""What a language model is given: a situation and the conversation so far as chat messages.

    compact        the form that the shipped writer was trained on, about 400 tokens
    instructions   for models that follow instructions: the same sections with directions, in the second person

What does not change in a chat stands first, so that a cached prefix holds; what bears on one message comes last. Where
a prompt is longer than its budget, sections give way in the order of `GIVES_WAY`, the oldest turns first; the
character's name and the message always stay.
"""

from __future__ import annotations

from understudy.agents.prompting.build import (
    BUDGET,
    GIVES_WAY,
    STYLES,
    Prompt,
    Section,
    build_prompt,
    estimate_tokens,
    render_compact,
)
from understudy.agents.prompting.contents import (
    ACTION,
    PastExchange,
    PastLine,
    PromptContents,
    Recalled,
    shows_actions,
)
from understudy.agents.prompting.introductions import first_person, introduced_name, introduced_names, introductions

__all__ = [
    "ACTION",
    "BUDGET",
    "GIVES_WAY",
    "STYLES",
    "PastExchange",
    "PastLine",
    "Prompt",
    "PromptContents",
    "Recalled",
    "Section",
    "build_prompt",
    "estimate_tokens",
    "first_person",
    "introduced_name",
    "introduced_names",
    "introductions",
    "render_compact",
    "shows_actions",
]
