"""A story's character as a card, at a moment.

The card is made from a `Situation`, never from a story, so nothing of the character's future can get into it. Which
story and moment it was made from stands in `extensions.understudy`, so that a program can return to it.

Somebody who came from a card goes back into that one: all of its fields stay as they were, those that no program here
knows too, and what the story has beyond it is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.cards.document import Card, in_version, one_line
from understudy.cards.lore_files import book_document, book_entries, entry_document
from understudy.dialogue import Situation
from understudy.documents import found_sentences, tie_document
from understudy.persona import Other, Persona
from understudy.story import Line, Relation
from understudy.wording import tie_sentence

__all__ = ["NAMESPACE", "card_at"]

NAMESPACE = "understudy"
EXTENSION_VERSION = 1
EXCHANGES = 8
TYPICAL, TYPICAL_OF, LONGEST_TYPICAL = 3, 400, 160  # own lines in a description, out of how many, of what length
RECENT = 12  # own lines among which one that can open a talk is looked for
FULL_LINE = {"en": 20, "ja": 8, "zh": 6}  # characters from which a line says enough to open a talk
JOIN = {"en": ", ", "ja": "、", "zh": "、"}
WHO = {
    "en": "{name} is one of the people of '{title}'.",
    "ja": "{name}は「{title}」の登場人物。",
    "zh": "{name}是《{title}》中的人物。",
}
TALKS = {"en": "{name} talks like this:", "ja": "{name}の話し方:", "zh": "{name}这样说话:"}
GREETING = {"en": "I am {name}.", "ja": "{name}です。", "zh": "我是{name}。"}


def card_at(situation: Situation, title: str, version: int | None = None, original: Card | None = None) -> Card:
    """The card of the character who answers in a situation; `title` is its story's, `original` the card it came from.

    It is of the version asked for, else of the original's, else the newest.
    """
    persona = situation.persona
    if original is not None and one_line(original.name) == persona.name:
        return in_version(_extended(original, situation, title), version or max(original.version, 2))
    greetings = persona.greetings or (_greeting(persona),)
    data: dict[str, Any] = {
        "name": persona.name,
        "description": _description(persona, title),
        "personality": JOIN.get(persona.language, ", ").join(persona.attributes.get("character", ())),
        "scenario": _scenario(situation),
        "first_mes": greetings[0],
        "mes_example": _examples(persona),
        "creator_notes": _notes(persona, title),
        "system_prompt": "",
        "post_history_instructions": "",
        "alternate_greetings": list(greetings[1:]),
        "tags": [NAMESPACE, title],
        "creator": title,
        "character_version": persona.moment.dotted,
        "extensions": {NAMESPACE: _origin(situation, title)},
    }
    entries = _people_entries(situation)
    if entries or persona.lore:
        lore = [entry_document(entry, number) for number, entry in enumerate(persona.lore, len(entries))]
        data["character_book"] = {**book_document(persona.lore, title), "entries": [*entries, *lore]}
    card = Card({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}, 2)
    return in_version(card, version or 3)


def _origin(situation: Situation, title: str) -> dict[str, Any]:
    """Which story and moment a card was made from, and which of its sentences nobody wrote."""
    persona = situation.persona
    origin: dict[str, Any] = {
        "story": title,
        "character": persona.name,
        "moment": persona.moment.dotted,
        "language": persona.language,
        "version": EXTENSION_VERSION,
    }
    found = [*found_sentences(persona.found), *(_found_tie(tie, persona) for tie in persona.relations if tie.found)]
    return {**origin, "found": found} if found else origin


def _found_tie(tie: Relation, persona: Persona) -> dict[str, Any]:
    document = tie_document(tie, persona.language)
    return {"sentence": document["sentence"], "found": document["found"]}


def _extended(original: Card, situation: Situation, title: str) -> Card:
    """The card somebody came from, with what the story says of them beyond it."""
    card, persona = in_version(original, max(original.version, 2)), situation.persona
    data = dict(card.data)
    if not card.text("description").strip():
        data["description"] = _description(persona, title)
    extensions = data.get("extensions")
    data["extensions"] = {**(extensions if isinstance(extensions, dict) else {}), NAMESPACE: _origin(situation, title)}
    own_entries = len(book_entries(data.get("character_book")))
    lore = [entry_document(entry, len(card.book) + number) for number, entry in enumerate(persona.lore[own_entries:])]
    if added := [*_people_entries(situation, len(card.book) + len(lore)), *lore]:
        book = data.get("character_book")
        base_book = book if isinstance(book, dict) else {"name": title, "extensions": {}}
        data["character_book"] = {**base_book, "entries": [*card.book, *added]}
    return Card({**card.document, "data": data}, card.version)


def _description(persona: Persona, title: str) -> str:
    """What is known of the character; where the story says nothing of it, what it feels and how it talks."""
    sentences = (*persona.profile, *_unsaid(persona))
    if sentences:
        return "\n".join(sentences)
    parts = [WHO.get(persona.language, WHO["en"]).format(name=persona.name, title=title)]
    parts += persona.feelings()
    if typical := _typical_lines(persona):
        parts += [TALKS.get(persona.language, TALKS["en"]).format(name=persona.name), *typical]
    return "\n".join(parts)


def _typical_lines(persona: Persona) -> list[str]:
    """The own lines whose words are most like those of all, in their order."""
    from understudy.lexical import TfIdf  # imports numpy, which a program that only starts should not

    enough = FULL_LINE.get(persona.language, FULL_LINE["en"])
    lines = list(dict.fromkeys(one_line(line.text) for line in persona.past.lines(last=TYPICAL_OF)))
    full = [text for text in lines if enough <= len(text) <= LONGEST_TYPICAL]
    index = TfIdf(full, persona.language)
    chosen = sorted(chosen_index for chosen_index, _ in index.top(" ".join(lines), TYPICAL))
    return [f'"{full[chosen_index]}"' for chosen_index in chosen]


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
    thoughts = {line.moment for line in persona.past.thoughts()}
    lines = [one_line(line.text) for line in persona.past.lines(last=RECENT) if line.moment not in thoughts]
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
    thoughts = {line.moment for line in persona.past.thoughts()}
    while True:  # backwards from the moment, a few scenes at first: a past may be long
        scenes = list(persona.past.scenes(last=scene_limit))
        exchanges: list[_ExamplePair] = []
        for number, scene in enumerate(scenes):
            heard: Line | None = None
            for line in scene.lines:
                if line.moment in thoughts:
                    continue
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
    found = len(persona.found) + sum(tie.found is not None for tie in persona.relations)
    mark = (
        f" {found} of its sentences were found in the text (extensions.{NAMESPACE}.found says where)." if found else ""
    )
    return f"{persona.name} as of '{title}', {when}. The card holds nothing that happens later.{mark}"


def _others(situation: Situation) -> list[Other]:
    """Everybody the character has a tie to, faces or stands beside, each once."""
    ties = situation.persona.relations
    tied = [Other(tie.to, relations=tuple(relation for relation in ties if relation.to == tie.to)) for tie in ties]
    others: dict[str, Other] = {}
    for other in (*([situation.faced] if situation.faced else []), *situation.present, *tied):
        others.setdefault(other.name, other)
    return list(others.values())


def _people_entries(situation: Situation, start: int = 0) -> list[dict[str, Any]]:
    aliases = {other.name: other.aliases for other in situation.acquaintances}
    language = situation.persona.language
    return [
        _entry(other, aliases.get(other.name, ()), language, order)
        for order, other in enumerate(_others(situation), start)
    ]


def _entry(other: Other, aliases: Sequence[str], language: str, order: int) -> dict[str, Any]:
    ties = (tie_sentence(tie, language) for tie in other.relations)
    return {
        "keys": list(dict.fromkeys((other.name, *other.aliases, *aliases))),
        "content": "\n".join((*other.profile, *ties)),
        "extensions": {},
        "enabled": True,
        "insertion_order": order,
        "name": other.name,
    }
