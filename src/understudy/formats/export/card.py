"""A story's character as a card, at a moment.

The card is made from a `Situation`, never from a story, so nothing of the character's future can get into it. Which
story and moment it was made from stands in `extensions.understudy`, so that a program can return to it.

Somebody who came from a card goes back into that one: all of its fields stay as they were, those that no program here
knows too, and what the story has beyond it is added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from understudy.formats.cards.document import Card, in_version, one_line
from understudy.formats.cards.lore_files import book_document, book_entries, entry_document
from understudy.formats.documents import found_sentences, tie_document
from understudy.formats.export.card_scene import FULL_LINE, CardScene
from understudy.story.dialogue import Situation
from understudy.story.persona import Other, Persona
from understudy.story.types import Relation
from understudy.story.wording import tie_sentence

__all__ = ["NAMESPACE", "card_at"]

NAMESPACE = "understudy"
NOT_IN_FILE_NAMES = re.compile(r'[\x00-\x1f\\/:*?"<>|]')
EXTENSION_VERSION = 1
TYPICAL, TYPICAL_OF, LONGEST_TYPICAL = 3, 400, 160  # own lines in a description, out of how many, of what length
JOIN = {"en": ", ", "ja": "、", "zh": "、"}
WHO = {
    "en": "{name} is one of the people of '{title}'.",
    "ja": "{name}は「{title}」の登場人物。",
    "zh": "{name}是《{title}》中的人物。",
}
TALKS = {"en": "{name} talks like this:", "ja": "{name}の話し方:", "zh": "{name}这样说话:"}


def card_at(situation: Situation, title: str, version: int | None = None, original: Card | None = None) -> Card:
    """The card of the character who answers in a situation; `title` is its story's, `original` the card it came from.

    It is of the version asked for, else of the original's, else the newest.
    """
    persona = situation.persona
    if original is not None and one_line(original.name) == persona.name:
        return in_version(_extended(original, situation, title), version or max(original.version, 2))
    scene = CardScene(situation)
    greetings = persona.greetings or scene.greetings()
    data: dict[str, Any] = {
        "name": persona.name,
        "description": _description(persona, title),
        "personality": JOIN.get(persona.language, ", ").join(persona.attributes.get("character", ())),
        "scenario": scene.scenario(),
        "first_mes": greetings[0],
        "mes_example": scene.examples(),
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
        data["character_book"] = {
            **book_document(persona.lore, _book_name(persona, title)),
            "entries": [*entries, *lore],
        }
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
        base_book = book if isinstance(book, dict) else {"name": _book_name(persona, title), "extensions": {}}
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
    from understudy.language.lexical import TfIdf  # imports numpy, which a program that only starts should not

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


def _book_name(persona: Persona, title: str) -> str:
    """What a program keeps the lorebook as: a file by its name, in the place of any other of that name."""
    return NOT_IN_FILE_NAMES.sub("", f"{persona.name} {persona.moment.dotted} ({title})")


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
