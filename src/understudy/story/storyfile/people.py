"""Who is in a story, looked up by name, alias, or a part of one that only one person has; and their cards."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from understudy.errors import UnknownCharacter
from understudy.story.storyfile.database import Row, SharedConnection, unpack
from understudy.story.types import Character, LoreEntry, Moment
from understudy.text import did_you_mean, fold

FIRST_AND_LAST = "first_scene.moment, first_line.number, last_scene.moment, last_line.number"
THEIR_LINES = """
    LEFT JOIN lines AS first_line ON first_line.id = people.first
    LEFT JOIN scenes AS first_scene ON first_scene.id = first_line.scene
    LEFT JOIN lines AS last_line ON last_line.id = people.last
    LEFT JOIN scenes AS last_scene ON last_scene.id = last_line.scene"""


@dataclass(frozen=True, slots=True)
class CastMember:
    """A character with how much it speaks, and from when to when."""

    character: Character
    lines: int
    first: Moment | None
    last: Moment | None


@dataclass(frozen=True, slots=True)
class SpokenNames:
    """The names of a character, or parts of them, that stand in the text before a moment, and only after it."""

    before: tuple[str, ...]
    later: tuple[str, ...]


class People:
    """The characters of a story file, by their numbers in it."""

    def __init__(self, db: SharedConnection, title: str, levels: tuple[str, ...]) -> None:
        self._db, self._title, self._levels = db, title, levels

    @cached_property
    def names(self) -> Mapping[int, str]:
        """By their numbers; those of groups as well."""
        return dict(self._db.rows("SELECT id, name FROM characters"))

    @cached_property
    def _members(self) -> Mapping[int, CastMember]:
        """By their numbers, those who speak most first."""
        aliases: dict[int, list[str]] = {}
        for number, alias in self._db.rows("SELECT character, alias FROM aliases ORDER BY alias"):
            aliases.setdefault(number, []).append(alias)
        rows = self._db.rows(
            f"""SELECT people.id, name, profile, lines, {FIRST_AND_LAST} FROM characters AS people {THEIR_LINES}
               WHERE NOT is_group ORDER BY lines DESC, people.id"""
        )
        return {
            number: CastMember(
                Character(name, tuple(a for a in aliases.get(number, ()) if a != name), tuple(json.loads(profile))),
                lines,
                *self._moments(row),
            )
            for number, name, profile, lines, *row in rows
        }

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {member.character.name: number for number, member in self._members.items()}

    @cached_property
    def cast(self) -> tuple[CastMember, ...]:
        """Everybody, those who speak most first."""
        return tuple(self._members.values())

    def number(self, name: str) -> int:
        if (exact := self._numbers.get(name)) is not None:
            return exact
        rows = self._db.rows("SELECT character FROM aliases WHERE folded = ?", (fold(name),))
        matches = {int(number) for (number,) in rows}
        if not matches and fold(name):
            matches = {
                number
                for number, alias in self._db.rows("SELECT character, alias FROM aliases")
                if fold(name) in {fold(part) for part in alias.split()}
            }
        if len(matches) == 1:
            return matches.pop()
        if matches:
            people = " or ".join(sorted(self.names[number] for number in matches))
            raise UnknownCharacter(f"'{name}' may be {people}: give the full name")
        characters = [member.character for member in self.cast]
        meant = did_you_mean(name, (known for who in characters for known in who.names))
        main = ", ".join(who.name for who in characters[:8])
        raise UnknownCharacter(f"nobody in '{self._title}' is called '{name}'{meant}; it has {main or 'no cast'}")

    def is_name(self, name: str) -> bool:
        """Is it somebody's name in full, as the story has it?"""
        return name in self._numbers

    def character(self, name: str) -> Character:
        return self._members[self.number(name)].character

    def heard_before(self, bound: int) -> tuple[CastMember, ...]:
        """Those who speak before a line, by how much they have said by then; names alone, the rest may come later."""
        rows = self._db.rows(
            f"""SELECT name, said, {FIRST_AND_LAST} FROM (
                   SELECT speaker, name, count(*) AS said, min(lines.id) AS first, max(lines.id) AS last
                   FROM lines JOIN characters ON characters.id = speaker
                   WHERE lines.id < ? AND NOT is_group GROUP BY speaker) AS people {THEIR_LINES}
               ORDER BY said DESC, people.speaker""",
            (bound,),
        )
        return tuple(CastMember(Character(name), lines, *self._moments(row)) for name, lines, *row in rows)

    def seen_before(self, bound: int) -> frozenset[str]:
        """Those who were in a scene before a line, or are there when the story begins; all where it has no scenes."""
        rows = self._db.rows(
            """SELECT name FROM characters WHERE NOT is_group AND (
                   NOT EXISTS (SELECT 1 FROM scenes)
                   OR (SELECT min(first) FROM presence WHERE character = characters.id)
                      < max(?, 1 + (SELECT first FROM scenes ORDER BY id LIMIT 1)))""",
            (bound,),
        )
        return frozenset(name for (name,) in rows)

    def spoken_names(self, bound: int) -> dict[str, SpokenNames]:
        """Which names, or parts of them, stand before a line; nobody's for a file of an older version."""
        before: dict[str, list[str]] = {}
        later: dict[str, list[str]] = {}
        for who, name, line in self._first_lines:
            (before if line < bound else later).setdefault(who, []).append(name)
        return {who: SpokenNames(tuple(before.get(who, ())), tuple(later.get(who, ()))) for who in {**before, **later}}

    @cached_property
    def _first_lines(self) -> list[Row]:
        """Every name that stands in the text, with whose it is and the first line that has it."""
        if not self._db.has_table("names"):
            return []
        return self._db.rows(
            """SELECT characters.name, names.name, line FROM names
               JOIN characters ON characters.id = character ORDER BY character, names.name"""
        )

    def _moments(self, row: Sequence[Any]) -> tuple[Moment | None, Moment | None]:
        first, first_number, last, last_number = row
        if first is None:
            return None, None
        return unpack(first, self._levels, first_number), unpack(last, self._levels, last_number)


# What a story file keeps of character cards: greetings, lorebook entries, the card itself and its picture.
#
# The card is kept as it was read, so that it can be written out again with everything that is in it. Lore belongs to
# one character, or to all of a story.


PNG = b"\x89PNG\r\n\x1a\n"
LOGICS = frozenset({"and any", "and all", "not any", "not all"})
POSITIONS = frozenset(
    {"before", "after", "note top", "note bottom", "at depth", "examples top", "examples bottom", "outlet"}
)
TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "int | None": (int, type(None)),
    "bool | None": (bool, type(None)),
    "tuple[str, ...]": (list,),
}


@dataclass(frozen=True, slots=True)
class CardRecord:
    """A character's card: texts in which `{{user}}` stands for whoever it talks with, and the card itself.

    `document` is its JSON, `picture` the PNG it came in. The same sentences as in `profile` are the character's own,
    there with 'you' for a name.
    """

    greetings: tuple[str, ...] = ()
    scenario: str = ""
    profile: tuple[str, ...] = ()
    document: str = "{}"
    picture: bytes | None = None


def pack_entry(entry: LoreEntry) -> str:
    return json.dumps(asdict(entry), ensure_ascii=False)


def unpack_entry(text: str) -> LoreEntry:
    """Raises a `ValueError` for what is no entry."""
    values: Any = json.loads(text)
    if not isinstance(values, dict) or values.keys() != {field.name for field in fields(LoreEntry)}:
        raise ValueError("not the fields of an entry")
    for field in fields(LoreEntry):
        value = values[field.name]
        if type(value) not in TYPES[str(field.type)]:
            raise ValueError(f"{field.name} is none")
        if isinstance(value, list):
            if not all(type(item) is str for item in value):
                raise ValueError(f"{field.name} are no texts")
            values[field.name] = tuple(value)
    if values["logic"] not in LOGICS or values["position"] not in POSITIONS:
        raise ValueError("no logic or position that there is")
    text.encode()  # half of a character can be written nowhere
    return LoreEntry(**values)


def write_cards(
    connection: sqlite3.Connection,
    numbers: Mapping[str, int],
    cards: Mapping[str, CardRecord],
    lore: Sequence[tuple[str | None, LoreEntry]],
) -> None:
    """`numbers` are those of the characters; lore of nobody is everybody's."""
    connection.executemany(
        "INSERT OR REPLACE INTO cards VALUES (?, ?, ?, ?, ?, ?)",
        (
            (numbers[name], _list(card.greetings), card.scenario, _list(card.profile), card.document, card.picture)
            for name, card in cards.items()
        ),
    )
    connection.executemany(
        "INSERT INTO lore (character, entry) VALUES (?, ?)",
        ((None if name is None else numbers[name], pack_entry(entry)) for name, entry in lore),
    )


def _list(texts: Sequence[str]) -> str:
    return json.dumps(texts, ensure_ascii=False)


class CardFile:
    """The cards of an open story file; an older file has none."""

    def __init__(self, db: SharedConnection) -> None:
        self._db = db
        self._is_there = db.has_table("cards")

    def texts(self, character: int) -> CardRecord:
        """A card without its document and picture, which are large; a blank one for somebody who has none."""
        if (row := self._row("greetings, scenario, profile", character)) is None:
            return CardRecord()
        greetings, scenario, profile = row
        return CardRecord(tuple(json.loads(greetings)), scenario, tuple(json.loads(profile)))

    def lore(self, character: int) -> tuple[LoreEntry, ...]:
        """The character's own and everybody's, in the order they were read in."""
        if not self._is_there:
            return ()
        rows = self._db.rows(
            "SELECT entry FROM lore WHERE character = ? OR character IS NULL ORDER BY id", (character,)
        )
        return tuple(unpack_entry(entry) for (entry,) in rows)

    def document(self, character: int) -> str | None:
        row = self._row("document", character)
        return None if row is None else str(row[0])

    def picture(self, character: int) -> bytes | None:
        row = self._row("picture", character)
        return None if row is None or row[0] is None else bytes(row[0])

    def _row(self, columns: str, character: int) -> Row | None:
        query = f"SELECT {columns} FROM cards WHERE character = ?"
        return self._db.row(query, (character,)) if self._is_there else None


def card_problems(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with the cards of a file that nobody has looked at yet."""
    for (entry,) in connection.execute("SELECT entry FROM lore"):
        try:
            unpack_entry(entry)
        except (TypeError, ValueError) as error:
            yield f"an entry of a lorebook is none: {error}"
    for greetings, profile, document in connection.execute("SELECT greetings, profile, document FROM cards"):
        for texts in (json.loads(greetings), json.loads(profile)):
            if not isinstance(texts, list) or not all(type(text) is str for text in texts):
                yield "a card's greetings or profile are no list of texts"
            else:
                "".join(texts).encode()  # as above
        if not isinstance(json.loads(document), dict):
            yield "a card is none"
    if connection.execute("SELECT 1 FROM cards WHERE substr(picture, 1, 8) <> ? LIMIT 1", (PNG,)).fetchone():
        yield "a card's picture is no PNG"
