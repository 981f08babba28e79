"""Character cards as tiny stories: somebody with a profile, and a scene for every greeting and example talk.

What is counted are a card's fields and the entries of its lorebook, those that are not empty. Name, description and
scenario become the cast and the settings, greetings and examples become lines, and the rest is listed as unread: it
instructs programs or belongs to the card's maker, and stays in the card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy.readers.card.document import Card
from understudy.readers.card.file import LARGEST_FILE, parse_card
from understudy.readers.card.png import SIGNATURE
from understudy.readers.card.talk import Names, Said, conversations, one_line, sentences
from understudy.readers.events import CastEntry, Description, Event, Opening, SceneStart, Speech, Unread
from understudy.readers.reader import Reader
from understudy.readers.source import SourceFile
from understudy.story import Character, Source
from understudy.text import LANGUAGES, guess_language

__all__ = ["READER"]

KEPT = "kept in the card, not part of the story"
NOTHING_TOLD = "holds no text to read: kept in the card"
PROFILE = ("description", "personality")
GREETINGS = ("first_mes", "alternate_greetings", "group_only_greetings")
STORY = frozenset({"name", "nickname", "scenario", "mes_example", *PROFILE, *GREETINGS})
MARKS = re.compile(
    r'"spec"\s*:\s*"chara_card_v\d"|"(?:first_mes|mes_example|alternate_greetings|post_history_instructions)"\s*:'
)
LONGEST_SHOWN = 200


def recognises(head: bytes, _path: Path) -> bool:
    """Any PNG, for the card may lie behind the picture; and JSON with fields that only cards have."""
    if head.startswith(SIGNATURE):
        return True
    text = head.decode(json.detect_encoding(head), "ignore").lstrip("\ufeff \t\r\n")
    return text.startswith("{") and MARKS.search(text) is not None


def events(source: SourceFile) -> Iterator[Event]:
    if source.size > LARGEST_FILE:
        raise source.error(f"has {source.size:,} bytes, more than a card may ({LARGEST_FILE:,}): make it smaller")
    card = parse_card(b"".join(source.chunks()), source.path)
    if not card.name:
        raise source.error("the card has no name: fill in its 'name' field, then read it again")
    telling = _Telling(card, source)
    source.units = len(telling.units)
    yield from telling.events()


@dataclass(slots=True)
class _Unit:
    """A field or lorebook entry that is not empty, and whether the story has it already."""

    source: Source
    name: str
    value: Any
    told: bool = False

    def takes(self) -> int:
        """1 for the first event made of it, 0 for those that follow."""
        first, self.told = not self.told, True
        return int(first)


@dataclass(slots=True)
class _Telling:
    card: Card
    source: SourceFile
    units: dict[str, _Unit] = field(init=False)
    names: Names = field(init=False)

    def __post_init__(self) -> None:
        card = self.card
        fields = {name: value for name, value in card.data.items() if not _empty(value)}
        entries = {f"character_book entry {n}": entry for n, entry in enumerate(card.book, 1) if not _empty(entry)}
        everything = [*fields.items(), *entries.items()]
        self.units = {
            name: _Unit(self.source.at(number), name, value) for number, (name, value) in enumerate(everything, 1)
        }
        sample = "\n".join(card.text(name) for name in ("description", "first_mes", "mes_example"))
        language = card.extension("understudy").get("language")
        name = one_line(card.name)
        called = one_line(card.text("nickname")) or name
        self.names = Names(name, called, language if language in LANGUAGES else guess_language(sample))

    def events(self) -> Iterator[Event]:
        yield Opening(title=self.names.name, language=self.names.language)
        yield from self._cast()
        for name in GREETINGS:
            yield from self._greetings(name)
        for talk in conversations(self.card.text("mes_example"), self.names):
            yield from self._scene("mes_example", talk)
        if (scenario := self.units.get("scenario")) and not scenario.told and self._setting():
            yield SceneStart(scenario.source, self._setting(), takes=scenario.takes())
        for unit in self.units.values():
            if not unit.told:
                reason = NOTHING_TOLD if unit.name in STORY else KEPT
                yield Unread(unit.source, _shown(unit.name, unit.value), reason, takes=unit.takes())

    def _cast(self) -> Iterator[Event]:
        """The character, made of up to four fields."""
        made_of = ["name"]
        if one_line(self.card.text("nickname")):
            made_of.append("nickname")
        profile: list[str] = []
        for name in PROFILE:
            if found := sentences(self.names.filled(self.card.text(name))):
                made_of.append(name)
                profile += found
        aliases = (self.names.called,) if self.names.called != self.names.name else ()
        yield CastEntry(
            self.units["name"].source,
            Character(self.names.name, aliases, tuple(dict.fromkeys(profile))),
            takes=sum(self.units[name].takes() for name in made_of),
        )

    def _greetings(self, name: str) -> Iterator[Event]:
        texts = (self.card.text(name),) if name == "first_mes" else self.card.texts(name)
        for text in texts:
            if told := one_line(self.names.filled(text)):
                yield from self._scene(name, [Said(self.names.name, told)])
        unit = self.units.get(name)
        if unit is not None and unit.told and isinstance(unit.value, list):
            for odd in unit.value:
                if not isinstance(odd, str):
                    yield Unread(unit.source, _shown(name, odd), NOTHING_TOLD, takes=0)

    def _setting(self) -> str:
        return one_line(self.names.filled(self.card.text("scenario")))

    def _scene(self, name: str, talk: list[Said]) -> Iterator[Event]:
        unit, scenario = self.units[name], self.units.get("scenario")
        setting = self._setting()
        yield SceneStart(unit.source, setting, takes=scenario.takes() if scenario and setting else 0)
        for said in talk:
            if said.speaker is None:
                yield Description(unit.source, said.text, takes=unit.takes())
            else:
                yield Speech(unit.source, (said.speaker,), said.text, takes=unit.takes())


def _empty(value: object) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _shown(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(f"{name}: {text[: 4 * LONGEST_SHOWN]}")
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


READER = Reader("card", recognises, events)
