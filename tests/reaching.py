"""Everything that can be got hold of from a `Situation`: by walking its objects, and by putting its queries."""

from __future__ import annotations

import sqlite3
import types
from collections.abc import Iterator
from typing import Any

from understudy.story.dialogue import Situation
from understudy.story.storyfile import Story
from understudy.story.storyfile.past import StoryPast
from understudy.story.types import Moment
from understudy.story.wording import fill_macros

NOT_WALKED = (type, types.ModuleType, types.BuiltinFunctionType)


def strings_in(root: object) -> Iterator[str]:
    """All texts in an object graph: fields, slots, closures, bound objects, containers."""
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, NOT_WALKED):
            continue
        seen.add(id(thing))
        assert not isinstance(thing, Story), "a Story can be reached from a Situation"
        if isinstance(thing, str):
            yield thing
        elif isinstance(thing, bytes):
            yield thing.decode("latin-1")
        elif isinstance(thing, dict):
            waiting.extend([*thing.keys(), *thing.values()])
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting.extend(thing)
        elif isinstance(thing, types.FunctionType):
            waiting.extend(cell.cell_contents for cell in thing.__closure__ or ())
            waiting.append(thing.__defaults__)
        elif isinstance(thing, types.MethodType):
            waiting.append(thing.__self__)
        else:
            waiting.append(getattr(thing, "__dict__", None))
            for cls in type(thing).__mro__:
                slots = cls.__dict__.get("__slots__", ())
                names = (slots,) if isinstance(slots, str) else slots
                waiting.extend(getattr(thing, name) for name in names if hasattr(thing, name))


def strings_by_query(situation: Situation) -> Iterator[str]:
    """All texts that the persona's views give, asked for everything they have."""
    past = situation.persona.past
    yield from strings_in([*past.lines(), *past.scenes(), *past.exchanges(), *past.thoughts()])


def reachable(situation: Situation) -> set[str]:
    return {*strings_in(situation), *strings_by_query(situation)}


def tables_that_open(past: StoryPast, story: Story) -> list[str]:
    """Tables of the story file that can be read through a persona's own connection: there must be none."""
    opened = []
    tables = [name for (name,) in story._db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in [*tables, "sqlite_master", "known"]:
        try:
            past._db.row(f"SELECT * FROM {table} LIMIT 1")
            opened.append(table)
        except sqlite3.DatabaseError:
            continue
    return opened


def unwitnessed_texts(story: Story, name: str, at: Moment) -> set[str]:
    """Texts that a character has not come across by a moment: said later, or where it was not.

    What its own card says of it has no date, though a card's greetings and scenario are scenes as well.
    """
    card = story.card_texts(name)
    timeless = (fill_macros(text, "", language=story.language) for text in (*card.greetings, card.scenario))
    own = (" ".join(text.split()) for text in timeless)
    known: set[str] = {story.character(name).name, *own}
    unknown: set[str] = set()
    for scene in story.scenes():
        there = [(first, last) for who, first, last in story.presence_intervals(scene.moment) if who == name]
        began = any(first <= len(scene.lines) for first, _ in there) and scene.moment < at
        (known if began else unknown).add(scene.setting)
        for number, line in enumerate(scene.lines, 1):
            witnessed = line.moment < at and any(first <= number <= last for first, last in there)
            (known if witnessed else unknown).add(line.text)
    everything_known = "\n".join(known)  # a short line may stand in a longer one that was heard
    return {text for text in unknown if text not in everything_known}


def assert_nothing_withheld_is_reached(story: Story, situation: Situation) -> None:
    persona = situation.persona
    assert isinstance(persona.past, StoryPast)
    assert tables_that_open(persona.past, story) == []
    reached = reachable(situation)
    for text in unwitnessed_texts(story, persona.name, persona.moment):
        assert not any(text in string for string in reached), f"{persona.name} at {persona.moment} reaches {text!r}"
