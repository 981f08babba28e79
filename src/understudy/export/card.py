"""A story's character as a card, at a moment.

The card is made from a `Situation`, never from a story, so nothing of the character's future can get into it. Which
story and moment it was made from stands in `extensions.understudy`, so that a program can return to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from understudy.cards.document import Card, in_version, one_line
from understudy.dialogue import Situation
from understudy.persona import Other, Persona
from understudy.story import Line
from understudy.wording import tie_sentence

__all__ = ["NAMESPACE", "card_at"]

NAMESPACE = "understudy"
EXTENSION_VERSION = 1
EXCHANGES = 8
RECENT = 12  # own lines among which one that can open a talk is looked for
FULL_LINE = {"en": 20, "ja": 8, "zh": 6}  # characters from which a line says enough to open a talk
JOIN = {"en": ", ", "ja": "、", "zh": "、"}
GREETING = {"en": "I am {name}.", "ja": "{name}です。", "zh": "我是{name}。"}


def card_at(situation: Situation, title: str, version: int = 3) -> Card:
    """The card of the character who answers in a situation; `title` is its story's."""
    persona = situation.persona
    data: dict[str, Any] = {
        "name": persona.name,
        "description": "\n".join((*persona.profile, *_unsaid(persona))),
        "personality": JOIN.get(persona.language, ", ").join(persona.attributes.get("character", ())),
        "scenario": _scenario(situation),
        "first_mes": _greeting(persona),
        "mes_example": _examples(persona),
        "creator_notes": _notes(persona, title),
        "system_prompt": "",
        "post_history_instructions": "",
        "alternate_greetings": [],
        "tags": [NAMESPACE, title],
        "creator": title,
        "character_version": persona.moment.dotted,
        "extensions": {
            NAMESPACE: {
                "story": title,
                "character": persona.name,
                "moment": persona.moment.dotted,
                "language": persona.language,
                "version": EXTENSION_VERSION,
            }
        },
    }
    if entries := [_entry(other, persona.language, order) for order, other in enumerate(_others(situation))]:
        data["character_book"] = {"name": title, "extensions": {}, "entries": entries}
    card = Card({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}, 2)
    return in_version(card, version)


def _unsaid(persona: Persona) -> Iterator[str]:
    """Attributes that no sentence of the profile tells already."""
    profile_text = "\n".join(persona.profile)
    for attribute, values in persona.attributes.items():
        if missing := [value for value in values if value not in profile_text]:
            yield f"{attribute}: {JOIN.get(persona.language, ', ').join(missing)}"


def _scenario(situation: Situation) -> str:
    """The place, and what the character feels for whom it faces there; with nobody faced, for all it knows."""
    persona, faced = situation.persona, situation.faced
    ties = persona.relations if faced is None else faced.relations
    return "\n".join(filter(None, (situation.setting, *(tie_sentence(tie, persona.language) for tie in ties))))


def _greeting(persona: Persona) -> str:
    """The newest own line that says enough to open a talk, or the newest at all; without any, who the character is."""
    lines = [one_line(line.text) for line in persona.past.lines(last=RECENT)]
    enough = FULL_LINE.get(persona.language, FULL_LINE["en"])
    if lines:
        return next((text for text in reversed(lines) if len(text) >= enough), lines[-1])
    introduction = GREETING.get(persona.language, GREETING["en"]).format(name=persona.name)
    return " ".join((introduction, *persona.profile[:1]))


@dataclass(frozen=True, slots=True)
class _ExamplePair:
    """What the character heard, if anything new, and said then."""

    scene: int
    heard: Line | None
    said: Line


def _examples(persona: Persona) -> str:
    """The last exchanges, a block for each scene; whoever was heard stands for the user."""
    parts: list[str] = []
    scene = None
    for exchange in _last_exchanges(persona):
        if exchange.scene != scene:
            parts.append("<START>")
            scene = exchange.scene
        if exchange.heard is not None:
            parts.append(f"{{{{user}}}}: {one_line(exchange.heard.text)}")
        parts.append(f"{{{{char}}}}: {one_line(exchange.said.text)}")
    return "\n".join(parts)


def _last_exchanges(persona: Persona) -> list[_ExamplePair]:
    scene_limit = EXCHANGES
    while True:  # backwards from the moment, a few scenes at first: a past may be long
        scenes = list(persona.past.scenes(last=scene_limit))
        exchanges: list[_ExamplePair] = []
        for number, scene in enumerate(scenes):
            heard: Line | None = None
            for line in scene.lines:
                if line.speaker == persona.name:
                    exchanges.append(_ExamplePair(number, heard, line))
                    heard = None
                elif line.speaker is not None:
                    heard = line
        if len(exchanges) >= EXCHANGES or len(scenes) < scene_limit:
            return exchanges[-EXCHANGES:]
        scene_limit *= 4


def _notes(persona: Persona, title: str) -> str:
    when = "by the end" if persona.moment.is_end else f"at {persona.moment}"
    return f"{persona.name} as of '{title}', {when}. The card holds nothing that happens later."


def _others(situation: Situation) -> list[Other]:
    """Everybody the character has a tie to, faces or stands beside, each once."""
    ties = situation.persona.relations
    tied = [Other(tie.to, relations=tuple(relation for relation in ties if relation.to == tie.to)) for tie in ties]
    others: dict[str, Other] = {}
    for other in (*([situation.faced] if situation.faced else []), *situation.present, *tied):
        others.setdefault(other.name, other)
    return list(others.values())


def _entry(other: Other, language: str, order: int) -> dict[str, Any]:
    ties = (tie_sentence(tie, language) for tie in other.relations)
    return {
        "keys": [other.name],
        "content": "\n".join((*other.profile, *ties)),
        "extensions": {},
        "enabled": True,
        "insertion_order": order,
        "name": other.name,
    }
