"""What a story file keeps of character cards: greetings, lorebook entries, the card itself and its picture.

The card is kept as it was read, so that it can be written out again with everything that is in it. Lore belongs to one
character, or to all of a story.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from understudy.story.storyfile.database import SharedConnection
from understudy.story.types import LoreEntry

__all__ = ["CardFile", "CardRecord", "card_problems", "pack_entry", "unpack_entry", "write_cards"]

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
        self._is_there = db.row("SELECT 1 FROM sqlite_master WHERE name = 'cards'") is not None

    def texts(self, character: int) -> CardRecord:
        """A card without its document and picture, which are large; a blank one for somebody who has none."""
        query = "SELECT greetings, scenario, profile FROM cards WHERE character = ?"
        row = self._db.row(query, (character,)) if self._is_there else None
        if row is None:
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
        row = self._db.row("SELECT document FROM cards WHERE character = ?", (character,)) if self._is_there else None
        return None if row is None else str(row[0])

    def picture(self, character: int) -> bytes | None:
        row = self._db.row("SELECT picture FROM cards WHERE character = ?", (character,)) if self._is_there else None
        return None if row is None or row[0] is None else bytes(row[0])


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
