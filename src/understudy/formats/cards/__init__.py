"""A character card as a document: versions 1, 2 and 3, kept whole.

    V1   six texts side by side: name, description, personality, scenario, first_mes, mes_example
    V2   {"spec": "chara_card_v2", "spec_version": "2.0", "data": {...}}: the six, greetings, a lorebook, extensions
    V3   {"spec": "chara_card_v3", "spec_version": "3.0", "data": {...}}: V2's, nickname, assets, group greetings

Programs put fields of their own anywhere in a card, and some put the wrong type into a known one. So a `Card` keeps
the document as it was read, order of keys included, and its properties only look into it.

Its prose is for people: macros are filled in, descriptions cut into sentences, example talk into turns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from understudy.errors import InputError, StoryError
from understudy.story.dialogue import Situation
from understudy.story.wording import CHARACTER, USERS, fill_macros
from understudy.text import fold
from understudy.text import sentences as sentences_of

LARGEST_CARD = 16 * 1024 * 1024
DEEPEST = 100  # levels of nesting; far more would overflow the stack of a JSON reader or writer

SPECS = {"chara_card_v2": 2, "chara_card_v3": 3}
HEADS = {version: {"spec": spec, "spec_version": f"{version}.0"} for spec, version in SPECS.items()}
V1_FIELDS = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
V2_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(V1_FIELDS, ""),
    **dict.fromkeys(("creator_notes", "system_prompt", "post_history_instructions"), ""),
    "alternate_greetings": (),
    "tags": (),
    **dict.fromkeys(("creator", "character_version"), ""),
    "extensions": {},
}
"""What every V2 card must have; a tuple stands for an empty list."""

SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Card:
    """A card's whole document, and which version of the format it is in."""

    document: dict[str, Any]
    version: int

    @property
    def data(self) -> dict[str, Any]:
        """The fields of the character; in a V1 card they are the document itself."""
        data: dict[str, Any] = self.document if self.version == 1 else self.document["data"]
        return data

    @property
    def name(self) -> str:
        return self.text("name").strip()

    @property
    def book(self) -> list[Any]:
        """The entries of the character's lorebook."""
        book = self.data.get("character_book")
        entries = book.get("entries") if isinstance(book, dict) else None
        return entries if isinstance(entries, list) else []

    def text(self, field: str) -> str:
        value = self.data.get(field)
        return value if isinstance(value, str) else ""

    def texts(self, field: str) -> tuple[str, ...]:
        value = self.data.get(field)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()

    def extension(self, namespace: str) -> Mapping[str, Any]:
        """What one program keeps in the card under its own name."""
        extensions = self.data.get("extensions")
        own = extensions.get(namespace) if isinstance(extensions, dict) else None
        return own if isinstance(own, dict) else {}


def card_of(document: object, path: Path | None = None) -> Card:
    """Check that a document is a card, and find its version."""
    if not isinstance(document, dict):
        raise InputError("is JSON, but not a character card: a card is an object with named fields", path)
    if _nested_over(DEEPEST, document):
        raise InputError(f"is nested over {DEEPEST} levels deep: no card is, so this one is not read", path)
    spec = document.get("spec")
    version = SPECS.get(spec) if isinstance(spec, str) else None
    if version is not None:
        if not isinstance(document.get("data"), dict):
            raise InputError(f"says it is a {spec}, but has no 'data': export the card again", path)
        return Card(document, version)
    if spec is None and isinstance(document.get("name"), str) and any(f in document for f in V1_FIELDS[1:]):
        return Card(document, 1)
    raise InputError(
        "is not a character card that can be read: its 'spec' should be 'chara_card_v2' or 'chara_card_v3', or it "
        "should have a name and a description at its top (V1)",
        path,
    )


def card_from_json(content: bytes, path: Path | None = None) -> Card:
    if len(content) > LARGEST_CARD:
        raise InputError(f"is a card of over {LARGEST_CARD:,} bytes: make it smaller (are pictures in it?)", path)
    try:
        document = json.loads(content, parse_constant=_not_json, parse_float=_number)
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}; export the card again", path, error.lineno) from error
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"is not JSON that can be read ({reason}): export the card again", path) from error
    return card_of(document, path)


def card_from_text(text: str | None) -> Card | None:
    """A card that was kept as JSON text, if there is one."""
    return None if text is None else card_of(json.loads(text))


def json_of(card: Card, indent: int | None = 2) -> bytes:
    """The document as it is, in UTF-8."""
    try:
        text = json.dumps(card.document, ensure_ascii=False, allow_nan=False, indent=indent)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"the card holds what JSON cannot ({error}): take that out of it") from error
    # a lone surrogate, left where a program cut a text, is no UTF-8 but can be written as a JSON escape
    return SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def in_version(card: Card, version: int) -> Card:
    """The same card as another version; fields that version does not know stay in it.

    A card converted to V1 loses most of its fields.
    """
    if version == card.version:
        return card
    if version not in (2, 3):
        raise InputError(f"a V{card.version} card cannot be made a V{version} card: ask for version 2 or 3")
    document, data = card.document, card.data
    if card.version == 1:
        data = {field: value for field, value in document.items() if field in V2_DEFAULTS or field == "character_book"}
        other_fields = {field: value for field, value in document.items() if field not in data}
        document = {**HEADS[version], **other_fields}
    data = {**data, **{field: _fresh(value) for field, value in V2_DEFAULTS.items() if field not in data}}
    if version == 3:
        data = _with_v3_fields(data)
    return Card({**document, **HEADS[version], "data": data}, version)


def _with_v3_fields(data: dict[str, Any]) -> dict[str, Any]:
    data.setdefault("group_only_greetings", [])
    book = data.get("character_book")
    if isinstance(book, dict) and isinstance(book.get("entries"), list):
        entries = [
            {**entry, "use_regex": entry.get("use_regex", False)} if isinstance(entry, dict) else entry
            for entry in book["entries"]
        ]
        data["character_book"] = {**book, "entries": entries}
    return data


def _fresh(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else dict(default) if isinstance(default, dict) else default


def _nested_over(limit: int, document: object) -> bool:
    level: list[Any] = [document]
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _number(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


USER = "User"


START = re.compile(r"<start>", re.IGNORECASE)
COLON = re.compile("[:：]")
LONGEST_LABEL = 80
MARKS = '*_"“” \t'
"""What may stand around a label: it is printed bold, or quoted."""
USER_LABELS = frozenset({"user", "you", "anon", "anonymous"})
RANDOM_USER = re.compile(r"\{\{random_user_\d{1,2}\}\}", re.IGNORECASE)
INLINE_LABEL = re.compile(
    r"[*_\"]{0,3}(?:\{\{(?:user|char)\}\}|<(?:user|char|bot)>)[*_\"]{0,3}[ \t]{0,4}[:：]", re.IGNORECASE
)
TURN_END = frozenset('.!?…。！？"”』」*)]>\n')
BULLET = re.compile(r"\s*(?:[-*•·+]\s+|\d{1,2}[.)]\s+)?")


@dataclass(frozen=True, slots=True)
class CardNames:
    """Whom a card's macros stand for: the character, what it is called in passing, and whoever reads."""

    name: str
    called: str
    language: str = "en"

    def filled(self, text: str) -> str:
        """The text with its macros filled in; whoever reads is 'you'."""
        return fill_macros(text, self.called, language=self.language)

    def speaker(self, label: str) -> str | None:
        """Who a label in front of a line stands for; None if it is no label but part of the line."""
        label = label.strip(MARKS)
        if CHARACTER.fullmatch(label):
            return self.name
        if USERS.fullmatch(label) or RANDOM_USER.fullmatch(label) or fold(label) in USER_LABELS:
            return USER
        own = {self.name, self.called, *self.name.split()}
        return self.name if fold(label) in {fold(name) for name in own} - {""} else None


class ExampleTurn(NamedTuple):
    """One turn of example talk; text before anybody speaks has no speaker."""

    speaker: str | None
    text: str


def conversations(examples: str, names: CardNames) -> Iterator[list[ExampleTurn]]:
    """The blocks of a card's example talk, each a conversation of its own.

    A turn begins with a label at the beginning of a line, or, where line ends were lost, with a macro as a label.
    """
    for block in START.split(examples):
        turns: list[tuple[str | None, list[str]]] = []
        for line in filter(str.strip, _turn_a_line(block).splitlines()):
            colon = COLON.search(line, 0, LONGEST_LABEL)
            speaker = names.speaker(line[: colon.start()]) if colon else None
            if colon and speaker is not None:
                turns.append((speaker, [_unmarked(line, colon)]))
            elif turns:
                turns[-1][1].append(line)
            else:
                turns.append((None, [line]))
        spoken = [ExampleTurn(speaker, one_line(names.filled("\n".join(lines)))) for speaker, lines in turns]
        if any(turn.text for turn in spoken):
            yield [turn for turn in spoken if turn.text]


def _turn_a_line(block: str) -> str:
    def broken(match: re.Match[str]) -> str:
        before = block[max(match.start() - 8, 0) : match.start()].rstrip(" \t")
        return f"\n{match[0]}" if before[-1:] in TURN_END else match[0]

    return INLINE_LABEL.sub(broken, block)


def _unmarked(line: str, colon: re.Match[str]) -> str:
    """What follows a label, without the end of the marks that the label begins with: '**Mira:** No.'"""
    begun = line[: len(line) - len(line.lstrip("*_ \t"))].strip()
    rest = line[colon.end() :]
    return rest.removeprefix(begun) if begun and not line[: colon.start()].rstrip().endswith(begun) else rest


def sentences(text: str) -> tuple[str, ...]:
    """A description as sentences: a line that is a point of a list is one by itself."""
    pieces = []
    for line in text.splitlines():
        bullet = BULLET.match(line)
        line = line[bullet.end() if bullet else 0 :]
        pieces += sentences_of(line)
    return tuple(one_line(piece) for piece in pieces if any(letter.isalnum() for letter in piece))


def one_line(text: str) -> str:
    """A text as a story keeps it: no line ends, and no half characters, which files cannot hold."""
    return " ".join(whole_characters(text).split())


def whole_characters(text: str) -> str:
    return SURROGATE.sub("\ufffd", text)


# How a character opens a talk: the greeting of its card, and the alternatives.


def greetings_for(situation: Situation) -> tuple[str, ...]:
    """The greetings of the character's card, with the interlocutor's name filled in; empty without a card."""
    persona = situation.persona
    user = situation.faced.name if situation.faced else ""
    return tuple(fill_macros(text, persona.name, user, persona.language) for text in persona.greetings)


def greeting_number(situation: Situation, number: int) -> str:
    """The greeting of a number, counted from 1."""
    greetings = greetings_for(situation)
    if not 1 <= number <= len(greetings):
        name = situation.persona.name
        has = f"has {len(greetings)}: choose from 1 to {len(greetings)}" if greetings else "has no card with greetings"
        raise StoryError(f"there is no greeting {number}, {name} {has}")
    return greetings[number - 1]
