"""What the turns bring up of a lorebook stands in the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.agents.prompting import build_prompt
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import LoreEntry

GATE = LoreEntry("The gate is {{user}}'s work.", ("gate",))
SITUATION = Situation(Persona("Mira", profile=("Mira is a pilot.",), lore=(GATE,)), faced=Other("Tom"))


def prompt(message: str, style: str = "instructions", lore: Sequence[str] | None = None) -> str:
    built = build_prompt(SITUATION, [Turn("Tom", message)], style=style, lore=lore)
    return "\n".join(item.content for item in built.messages)


def test_a_key_brings_its_entry_up_and_names_are_filled_in() -> None:
    for style in ("instructions", "compact"):
        assert "The gate is Tom's work." in prompt("Is the gate open?", style)
        assert "The gate is" not in prompt("Is there fog?", style)


def test_whoever_gives_lore_gives_all_of_it() -> None:
    assert "The gate is" not in prompt("Is the gate open?", lore=())
    assert "Fog kills." in prompt("Is the gate open?", lore=("Fog kills.",))
