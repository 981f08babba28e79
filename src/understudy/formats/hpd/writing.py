"""A question in HPD's own form: a session with its position, scene, dialogue, attributes, relations and replies.

    {"position": "Book2-chapter3", "speakers": [...], "scene": "...", "dialogue": ["Ines: ...", ...],
     "positive_response": "...", "negative_response": [...],
     "attributes": {name: {...}}, "relations with Ines": {name: {...}}}

Written is what the character knows at the moment: all of itself, of others what it can tell or has heard, its
own ties. Only the others' levels of affection and familiarity towards it are theirs, as in HPD; who answers from a
session is not given them (`formats.hpd`).

**Positions.** The levels above a story's scenes, from the largest down: two of them are book and chapter, whatever they
are called (part and chapter, season and episode). One alone is the chapter of Book1. Where there is none, scenes are
the chapters. With three or more, or with numbers above 9999, books and chapters are counted in story order.

**Attributes** have HPD's names where it has one; others keep their own, as lists. **Relations** have a column for each
of HPD's kinds, 1 or 0; whoever is kin is family, and the nearest kin immediate family. Kinds that HPD has not, and the
exact kinship, have columns of their own. A level that nobody has stated has no column, since a blank one means 0.

What `draft` found in the text, and no author wrote, is listed under "found".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Persona, facts_known_of, false_names, felt_towards, own_facts, witnessed
from understudy.story.storyfile import Story
from understudy.story.types import KIN, PROFILE, Fact, Moment, Relation
from understudy.story.wording import fact_sentence

ATTRIBUTES = {
    name: "hobby" if name == "hobbies" else name
    for name in (
        *("nickname", "gender", "age", "looks", "hobbies", "character", "talents", "export", "belongings"),
        *("affiliation", "lineage", "title", "spells", "achievement"),
    )
}
"""HPD's attributes in the order of its files, each with the story's name for it; its files have no achievement."""
KINDS = (
    *("friend", "classmate", "teacher", "family", "immediate family", "lover", "opponent", "colleague", "teammate"),
    "enemy",
)
IMMEDIATE = frozenset({"spouse", "parent", "child", "sibling"})
NAME = "name"
ABSENT = "None"
LONGEST_LABEL = 80  # that a line of dialogue can begin with
LARGEST_NUMBER = 9999
COLON = re.compile(r"[:：]")


@dataclass(frozen=True, slots=True)
class Positions:
    """HPD's position of each scene of a story."""

    chapters: Mapping[tuple[int, ...], tuple[int, int]]
    """By the numbers above the scene; of a story without levels there, by the scene's own."""

    @classmethod
    def of(cls, story: Story) -> Positions:
        scenes = [moment.numbers for moment, _, _ in story.outline()]
        above = list(dict.fromkeys(numbers[:-1] or numbers for numbers in scenes))
        if all(len(numbers) <= 2 and max(numbers) <= LARGEST_NUMBER for numbers in above):
            return cls(
                {numbers: (1, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1]) for numbers in above}
            )
        books: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for numbers in above:
            books.setdefault(numbers[:-1], []).append(numbers)
        return cls(
            {
                numbers: (book, chapter)
                for book, chapters in enumerate(books.values(), 1)
                for chapter, numbers in enumerate(chapters, 1)
            }
        )

    def at(self, scene: Moment) -> str:
        book, chapter = self.chapters[scene.numbers[:-1] or scene.numbers]
        return f"Book{book}-chapter{chapter}"


def session_document(
    story: Story, situation: Situation, history: Sequence[Turn], position: str, positive: str, negatives: Sequence[str]
) -> dict[str, Any]:
    """The session that asks for a reply; the situation is of the reply's moment."""
    persona = situation.persona
    owner = label(persona.name)
    people = _company(story, situation)
    own = own_facts(story, persona.name, persona.moment)
    known = {name: facts_known_of(story, true_name, persona) for name, true_name in people.items()}
    felt = witnessed(story, felt_towards(story, persona.name, persona.moment), persona.name, persona.moment)
    ties = {
        name: (
            [tie for tie in persona.relations if tie.to == name],
            [tie for tie in felt if tie.of == true_name],
        )
        for name, true_name in people.items()
    }
    document = {
        "position": position,
        "speakers": list(dict.fromkeys((*(label(turn.speaker) for turn in history), owner))),
        "scene": situation.setting,
        "dialogue": [f"{label(turn.speaker)}: {turn.text}" for turn in history],
        "positive_response": positive,
        "negative_response": list(negatives),
        "attributes": {
            owner: _own_attributes(persona, own),
            **{label(name): {NAME: label(name), **_written(facts)} for name, facts in known.items()},
        },
        f"relations with {owner}": {label(name): _relation_row(owner, name, *both) for name, both in ties.items()},
    }
    found = [
        *(f"{label(persona.name)}, {fact.attribute}" for fact in own if fact.found),
        *(f"{label(name)}, {fact.attribute}" for name, facts in known.items() for fact in facts if fact.found),
        *(f"{owner} -> {label(name)}: {tie.kind}" for name, both in ties.items() for tie in both[0] if tie.found),
        *(f"{label(name)} -> {owner}: {tie.kind}" for name, both in ties.items() for tie in both[1] if tie.found),
    ]
    return document | ({"found": found} if found else {})


def _company(story: Story, situation: Situation) -> dict[str, str]:
    """Those who are there, by the name that the character knows, with the story's own name for them."""
    persona = situation.persona
    there = [*([] if situation.faced is None else [situation.faced]), *situation.present]
    true_names = {shown: true for true, shown in false_names(story, persona.name, persona.moment).items()}
    return {other.name: true_names.get(other.name, other.name) for other in there}


def label(name: str) -> str:
    """A name as it stands before a line of dialogue: without colons, and not too long."""
    return " ".join(COLON.sub(" ", name).split())[:LONGEST_LABEL].strip()


def _own_attributes(persona: Persona, facts: Sequence[Fact]) -> dict[str, Any]:
    stated = {fact_sentence(fact, persona.language) for fact in facts if fact.attribute != PROFILE}
    profile = {PROFILE: [sentence for sentence in persona.profile if sentence not in stated]}
    attributes = _written(fact for fact in facts if fact.attribute != PROFILE)
    return {NAME: label(persona.name), **dict.fromkeys(ATTRIBUTES, ABSENT), **attributes, **profile}


def _written(facts: Iterable[Fact]) -> dict[str, Any]:
    values: dict[str, list[str]] = {}
    for fact in facts:
        values.setdefault(fact.attribute, []).extend(fact.values)
    theirs = {ours: name for name, ours in ATTRIBUTES.items()} | {name: name for name in ATTRIBUTES}
    return {
        theirs.get(attribute, attribute): ", ".join(texts) if attribute in theirs else texts
        for attribute, texts in values.items()
        if attribute != NAME
    }


def _relation_row(owner: str, name: str, own: Sequence[Relation], theirs: Sequence[Relation]) -> dict[str, Any]:
    felt = {f"{owner}'s {_level(tie.kind)} him": float(tie.level) for tie in own if tie.level is not None}
    returned = {f"His {_level(tie.kind)} {owner}": float(tie.level) for tie in theirs if tie.level is not None}
    return {NAME: label(name), **dict.fromkeys(KINDS, 0.0), **dict.fromkeys(_columns(own), 1.0), **felt, **returned}


def _columns(ties: Sequence[Relation]) -> Iterator[str]:
    for tie in ties:
        if tie.level is not None:
            continue
        yield tie.kind
        if tie.kind in KIN:
            yield "family"
        if tie.kind in IMMEDIATE:
            yield "immediate family"


def _level(kind: str) -> str:
    return "affection to" if kind == "affection" else "familiarity with"
