"""Reader of character cards, as tiny stories: a character with a profile, a scene for every greeting and example talk.

What is counted are a card's fields and the entries of its lorebook, those that are not empty, and the assets of a
CHARX file. Name, description and scenario become the cast and the settings, greetings and examples become lines,
entries of the lorebook become lore, and the rest is listed as unread: it instructs programs or belongs to the card's
maker. The story keeps the whole card, and its picture, for whoever wants it back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from understudy.formats.cards import (
    Card,
    CardNames,
    ExampleTurn,
    conversations,
    json_of,
    one_line,
    sentences,
    whole_characters,
)
from understudy.formats.cards.file import ARCHIVES, LARGEST_FILE, Charx, parse_card, picture_of, read_charx
from understudy.formats.cards.lore_files import read_book
from understudy.formats.cards.lorebook import unsupported_patterns
from understudy.formats.cards.profiles import CardProfile, parse_profile
from understudy.sources import (
    CardSource,
    CastEntry,
    Description,
    Event,
    Lore,
    Opening,
    Reader,
    SceneStart,
    Speech,
    Unread,
    check_names,
)
from understudy.sources.source import SourceFile
from understudy.story.storyfile import CardRecord
from understudy.story.types import Character, Fact, LoreEntry, Moment, Source
from understudy.story.wording import about_other, fact_sentence, fill_macros
from understudy.text import LANGUAGES, guess_language

NOT_STORY = "kept in the card, not part of the story"
ASSET = "an asset: stays in the CHARX file, the story keeps only a main icon that is a PNG"
NO_TEXT = "holds no text to read: kept in the card"
NO_PATTERN = "a key that is a pattern, taken as a plain text: {reason}"
PROFILE = ("description", "personality")
TALK = (*PROFILE, "mes_example")
GREETINGS = ("first_mes", "alternate_greetings", "group_only_greetings")
STORY = frozenset({"name", "nickname", "scenario", "mes_example", *PROFILE, *GREETINGS})
LONGEST_SHOWN = 200


def events(source: SourceFile) -> Iterator[Event]:
    charx = _charx(source)
    card, picture = (charx.card, charx.icon) if charx else _card_and_picture(source)
    if not card.name:
        raise source.error("the card has no name: fill in its 'name' field, then read it again")
    check_names((card.name, card.text("nickname")), source.error, 1)  # macros are about to be filled in with them
    card_story = _CardStory(card, source, picture, charx)
    source.units = len(card_story.fields)
    yield from card_story.events()


def _charx(source: SourceFile) -> Charx | None:
    """A CHARX file, which may be large: of its assets only the icon is read."""
    if not source.head().startswith(ARCHIVES):
        return None
    charx = read_charx(source.path)
    source.reach(1.0)
    return charx


def _card_and_picture(source: SourceFile) -> tuple[Card, bytes | None]:
    if source.size > LARGEST_FILE:
        raise source.error(f"has {source.size:,} bytes, more than a card may ({LARGEST_FILE:,}): make it smaller")
    content = b"".join(source.chunks())
    return parse_card(content, source.path), picture_of(content, source.path)


@dataclass(slots=True)
class _CardField:
    """A field or lorebook entry that is not empty, and whether an event has been made of it."""

    source: Source
    name: str
    value: Any
    is_read: bool = False

    def claim(self) -> int:
        """How many units the next event made of it accounts for: 1 for the first, 0 for those that follow."""
        is_first, self.is_read = not self.is_read, True
        return int(is_first)


@dataclass(slots=True)
class _CardStory:
    """Makes the events of one card."""

    card: Card
    source: SourceFile
    picture: bytes | None
    charx: Charx | None = None
    fields: dict[str, _CardField] = field(init=False)
    names: CardNames = field(init=False)
    profiles: dict[str, CardProfile] = field(init=False)

    def __post_init__(self) -> None:
        card = self.card
        fields = {name: value for name, value in card.data.items() if not _empty(value)}
        entries = {f"character_book entry {n}": entry for n, entry in enumerate(card.book, 1) if not _empty(entry)}
        assets = {f"asset {asset.path}": f"{asset.size:,} bytes" for asset in self.charx.assets} if self.charx else {}
        numbered = enumerate([*fields.items(), *entries.items(), *assets.items()], 1)
        self.fields = {name: _CardField(self.source.at(number), name, value) for number, (name, value) in numbered}
        sample = "\n".join(card.text(name) for name in ("description", "first_mes", "mes_example"))
        language = card.extension("understudy").get("language")
        name = one_line(card.name)
        called = one_line(card.text("nickname")) or name
        self.names = CardNames(name, called, language if language in LANGUAGES else guess_language(sample))
        self.profiles = {
            field: parse_profile(self._named(card.text(field)), self._is_own, field == "personality")
            for field in PROFILE
        }

    def events(self) -> Iterator[Event]:
        yield Opening(title=self.names.name, language=self.names.language)
        yield from self._cast()
        icon = self.fields.get(f"asset {self.charx.icon_path}") if self.charx else None
        yield CardSource(
            self.fields["name"].source,
            self.names.name,
            CardRecord(
                self._greeting_texts(),
                one_line(self._named(self.card.text("scenario"))),
                self._profile(),
                json_of(self.card, indent=None).decode(),
                self.picture,
            ),
            units=icon.claim() if icon and self.picture else 0,
        )
        yield from self._lore()
        for name in GREETINGS:
            yield from self._greetings(name)
        for name in TALK:
            talk = self.card.text(name) if name == "mes_example" else self.profiles[name].talk
            for turns in conversations(talk, self.names):
                yield from self._scene(name, turns)
        if (scenario := self.fields.get("scenario")) and not scenario.is_read and self._setting():
            yield SceneStart(scenario.source, self._setting(), units=scenario.claim())
        for unit in self.fields.values():
            if not unit.is_read:
                reason = NO_TEXT if unit.name in STORY else ASSET if unit.name.startswith("asset ") else NOT_STORY
                yield Unread(unit.source, _shown(unit.name, unit.value), reason, units=unit.claim())

    def _cast(self) -> Iterator[Event]:
        """The character, made of up to four fields."""
        used_fields = ["name"]
        if one_line(self.card.text("nickname")):
            used_fields.append("nickname")
        used_fields += [name for name, profile in self.profiles.items() if profile.traits or sentences(profile.prose)]
        profile = map(self.names.filled, self._profile())
        aliases = (self.names.called,) if self.names.called != self.names.name else ()
        yield CastEntry(
            self.fields["name"].source,
            Character(self.names.name, aliases, tuple(dict.fromkeys(profile))),
            units=sum(self.fields[name].claim() for name in used_fields),
        )

    def _profile(self) -> tuple[str, ...]:
        """What the fields of the profile list, each attribute once, then their prose."""
        listed: dict[tuple[str, str], dict[str, None]] = {}
        for profile in self.profiles.values():
            for trait in profile.traits:
                listed.setdefault((trait.who, trait.attribute), {}).update(dict.fromkeys(trait.values))
        listed_sentences = [
            self._sentence(who, attribute, tuple(values)) for (who, attribute), values in listed.items()
        ]
        return (
            *listed_sentences,
            *(sentence for profile in self.profiles.values() for sentence in sentences(profile.prose)),
        )

    def _is_own(self, label: str) -> bool:
        return self.names.speaker(label) == self.names.name

    def _sentence(self, who: str, attribute: str, values: tuple[str, ...]) -> str:
        fact, language = Fact(self.names.name, attribute, values, Moment((0,))), self.names.language
        return one_line(about_other(fact, who, language) if who else fact_sentence(fact, language))

    def _greeting_texts(self) -> tuple[str, ...]:
        """What opens a talk between two, line ends and all."""
        texts = (self.card.text("first_mes"), *self.card.texts("alternate_greetings"))
        return tuple(self._named(text).strip() for text in texts if self.names.filled(text).strip())

    def _named(self, text: str) -> str:
        """The text with everything filled in but `{{user}}`, who has no name yet."""
        return fill_macros(whole_characters(text), self.names.called, user=None)

    def _lore(self) -> Iterator[Event]:
        entries = list[LoreEntry]()
        units = 0
        for number, entry in enumerate(read_book(self.card.data.get("character_book"), self.names.name), 1):
            if entry is not None:
                keys = tuple(map(self._named, entry.keys)), tuple(map(self._named, entry.secondary_keys))
                content = self._named(entry.content)
                entries.append(replace(entry, content=content, keys=keys[0], secondary_keys=keys[1]))
                units += self.fields[f"character_book entry {number}"].claim()
        if entries:
            book = self.fields["character_book"]
            yield Lore(book.source, self.names.name, tuple(entries), units=units + book.claim())
            for entry, key, reason in unsupported_patterns(entries):
                text = _shown(f"character_book entry {entry.name!r}", key)
                yield Unread(book.source, text, NO_PATTERN.format(reason=reason), units=0)

    def _greetings(self, name: str) -> Iterator[Event]:
        texts = (self.card.text(name),) if name == "first_mes" else self.card.texts(name)
        for text in texts:
            if greeting := one_line(self.names.filled(text)):
                yield from self._scene(name, [ExampleTurn(self.names.name, greeting)])
        unit = self.fields.get(name)
        if unit is not None and unit.is_read and isinstance(unit.value, list):
            for item in unit.value:
                if not isinstance(item, str):
                    yield Unread(unit.source, _shown(name, item), NO_TEXT, units=0)

    def _setting(self) -> str:
        return one_line(self.names.filled(self.card.text("scenario")))

    def _scene(self, name: str, turns: list[ExampleTurn]) -> Iterator[Event]:
        unit, scenario = self.fields[name], self.fields.get("scenario")
        setting = self._setting()
        yield SceneStart(unit.source, setting, units=scenario.claim() if scenario and setting else 0)
        for turn in turns:
            if turn.speaker is None:
                yield Description(unit.source, turn.text, units=unit.claim())
            else:
                yield Speech(unit.source, (turn.speaker,), turn.text, units=unit.claim())


def _empty(value: object) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _shown(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(f"{name}: {text[: 4 * LONGEST_SHOWN]}")
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


READER = Reader("card", events)
