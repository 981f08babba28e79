"""Lorebooks as files hold them: a card's `character_book` (V2, V3), a V3 lorebook, and SillyTavern's world info.

SillyTavern keeps what the card format has no field for in an entry's `extensions`. Programs leave fields out, or put
the wrong type into one: what cannot be used is taken as if it were not there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.cards import card_of, one_line, whole_characters
from understudy.formats.cards.file import ARCHIVES, content_of, parse_card
from understudy.formats.cards.lorebook import POSITIONS
from understudy.formats.cards.png import SIGNATURE
from understudy.story.types import LoreEntry

LONGEST_NAME = 500  # characters of a label of an entry, a group or a book, which are shown beside the text
LOGICS = ("and any", "not all", "not any", "and all")  # by SillyTavern's numbers
NO_LORE = (
    "holds no lorebook: give a world info file of SillyTavern's (JSON with 'entries'), or a card with a character_book"
)

# The names of a field in a card's entry, in its extensions, and in a world info file.
SWITCHES = {
    "is_case_sensitive": ("case_sensitive", "case_sensitive", "caseSensitive"),
    "matches_whole_words": (None, "match_whole_words", "matchWholeWords"),
}
FLAGS = {
    "is_constant": ("constant", None, "constant"),
    "excludes_recursion": (None, "exclude_recursion", "excludeRecursion"),
    "prevents_recursion": (None, "prevent_recursion", "preventRecursion"),
    "is_group_winner": (None, "group_override", "groupOverride"),
    "ignores_budget": (None, "ignore_budget", "ignoreBudget"),
}
NUMBERS = {
    "order": ("insertion_order", None, "order"),
    "depth": (None, "depth", "depth"),
    "scan_depth": (None, "scan_depth", "scanDepth"),
    "delay": (None, "delay", "delay"),
    "group_weight": (None, "group_weight", "groupWeight"),
}

PROBABILITY = (None, "probability", "probability")
USES_PROBABILITY = (None, "useProbability", "useProbability")


def read_lore(path: Path) -> tuple[LoreEntry, ...]:
    """The entries of a lorebook in a file."""
    return parse_lore(content_of(path, "a lorebook"), path)


def parse_lore(content: bytes, path: Path | None = None) -> tuple[LoreEntry, ...]:
    if content.startswith((SIGNATURE, *ARCHIVES)):
        document: Any = parse_card(content, path).document
    else:
        try:
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not JSON that can be read ({error}): export the lorebook again", path) from error
    default_name = path.stem if path else ""
    if not isinstance(document, dict):
        raise InputError(NO_LORE, path)
    if document.get("spec") == "lorebook_v3":
        return book_entries(document.get("data"), default_name)
    if isinstance(document.get("entries"), dict | list):
        return world_info_entries(document, default_name)
    try:
        book = card_of(document, path).data.get("character_book")
    except InputError as error:
        raise InputError(NO_LORE, path) from error
    if not isinstance(book, dict):
        raise InputError(NO_LORE, path)
    return book_entries(book, default_name)


def book_entries(book: object, default_name: str = "") -> tuple[LoreEntry, ...]:
    """The entries of a card's `character_book`."""
    return tuple(entry for entry in read_book(book, default_name) if entry is not None)


def read_book(book: object, default_name: str = "") -> list[LoreEntry | None]:
    """Each entry of a card's `character_book`, None for one that says nothing."""
    if not isinstance(book, dict) or not isinstance(book.get("entries"), list):
        return []
    return _entries(book, book["entries"], default_name, in_card=True)


def world_info_entries(document: Mapping[str, Any], default_name: str = "") -> tuple[LoreEntry, ...]:
    """The entries of a world info file; some programs write cards' entries into one."""
    entries = document["entries"]
    listed = list(entries.values()) if isinstance(entries, dict) else entries
    in_card = any(isinstance(entry, dict) and "keys" in entry for entry in listed)
    return tuple(entry for entry in _entries(document, listed, default_name, in_card) if entry is not None)


def _entries(
    book: Mapping[str, Any], entries: Sequence[Any], default_name: str, in_card: bool
) -> list[LoreEntry | None]:
    name = one_line(_text(book.get("name")))[:LONGEST_NAME] or default_name
    return [_entry(fields, book, name, in_card) if isinstance(fields, dict) else None for fields in entries]


def _entry(fields: Mapping[str, Any], book: Mapping[str, Any], book_name: str, in_card: bool) -> LoreEntry | None:
    content, decorators = _without_decorators(_text(fields.get("content")))
    if not content.strip():
        return None
    extensions = fields.get("extensions")
    extensions = extensions if in_card and isinstance(extensions, dict) else {}

    def value_of(names: tuple[str | None, str | None, str]) -> Any:
        own, extended, world_info = names
        if not in_card:
            return fields.get(world_info)
        value = None if extended is None else extensions.get(extended)
        return fields.get(own) if value is None and own is not None else value

    values: dict[str, Any] = {field: value_of(names) is True for field, names in FLAGS.items()}
    values |= {
        field: value if isinstance(value := value_of(names), bool) else None for field, names in SWITCHES.items()
    }
    values |= {field: number for field, names in NUMBERS.items() if (number := _whole(value_of(names))) is not None}
    values.setdefault("scan_depth", _whole(book.get("scan_depth")))
    if book.get("recursive_scanning") is False:
        values |= {"excludes_recursion": True, "prevents_recursion": True}
    secondary = _texts(fields.get("secondary_keys" if in_card else "keysecondary"))
    is_selective = fields.get("selective") is True or not in_card
    level = value_of((None, "delay_until_recursion", "delayUntilRecursion"))
    return LoreEntry(
        content=content.strip(),
        keys=_texts(fields.get("keys" if in_card else "key")),
        secondary_keys=secondary if is_selective else (),
        logic=_choice(value_of((None, "selectiveLogic", "selectiveLogic")), LOGICS),
        is_enabled=_is_enabled(fields, in_card) and "dont_activate" not in decorators,
        position=_position(fields, extensions, in_card),
        probability=_probability(value_of(PROBABILITY), value_of(USES_PROBABILITY)),
        recursion_level=int(level) if isinstance(level, bool) else max(_whole(level) or 0, 0),
        group=_text(value_of((None, "group", "group")))[:LONGEST_NAME],
        name=one_line(_text(fields.get("name")) or _text(fields.get("comment")))[:LONGEST_NAME],
        book=book_name,
        book_budget=_whole(book.get("token_budget")),
        **(values | ({"is_constant": True} if "activate" in decorators else {})),
    )


def _is_enabled(fields: Mapping[str, Any], in_card: bool) -> bool:
    return fields.get("enabled") is not False if in_card else fields.get("disable") is not True


def _position(fields: Mapping[str, Any], extensions: Mapping[str, Any], in_card: bool) -> str:
    number = extensions.get("position") if in_card else fields.get("position")
    if in_card and _whole(number) is None:
        return "after" if fields.get("position") == "after_char" else "before"
    return _choice(number, POSITIONS)


def _probability(probability: object, is_used: object) -> float:
    if isinstance(probability, bool) or not isinstance(probability, int | float) or is_used is False:
        return 100.0
    return min(max(float(probability), 0.0), 100.0) if math.isfinite(probability) else 100.0


def _without_decorators(content: str) -> tuple[str, frozenset[str]]:
    """V3's `@@name` lines at the top of an entry; unknown ones are ignored."""
    lines, decorators = content.splitlines(), set[str]()
    while lines and lines[0].startswith("@@"):
        decorators.add(lines.pop(0).strip("@").split(" ")[0])
    return ("\n".join(lines), frozenset(decorators)) if decorators else (content, frozenset())


def _text(value: object) -> str:
    return whole_characters(value) if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_text(text) for text in value if _text(text).strip()) if isinstance(value, list) else ()


def _whole(value: object) -> int | None:
    """A number; JSON may hold true, 3.0 or numbers of any length."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 10**9:
        return None
    return int(value)


def _choice(number: object, names: tuple[str, ...]) -> str:
    index = _whole(number)
    return names[index] if index is not None and 0 <= index < len(names) else names[0]


def book_document(entries: Sequence[LoreEntry], name: str) -> dict[str, Any]:
    """A card's `character_book` of some entries."""
    budgets = {entry.book_budget for entry in entries if entry.book_budget is not None}
    document: dict[str, Any] = {"name": name, "extensions": {}}
    if len(budgets) == 1:
        document["token_budget"] = budgets.pop()
    return document | {"entries": [entry_document(entry, number) for number, entry in enumerate(entries)]}


def entry_document(entry: LoreEntry, number: int) -> dict[str, Any]:
    """An entry as a V2 card has it, with SillyTavern's extensions where it is not as they would take it to be."""
    default = LoreEntry("")
    extensions: dict[str, Any] = {
        extended: getattr(entry, field)
        for names in (SWITCHES, FLAGS, NUMBERS)
        for field, (_, extended, _) in names.items()
        if extended is not None and getattr(entry, field) != getattr(default, field)
    }
    if entry.secondary_keys:
        extensions["selectiveLogic"] = LOGICS.index(entry.logic)
    if entry.position not in ("before", "after"):
        extensions["position"] = POSITIONS.index(entry.position)
    if entry.probability < 100:
        extensions |= {"probability": entry.probability, "useProbability": True}
    if entry.recursion_level:
        extensions["delay_until_recursion"] = entry.recursion_level
    if entry.group:
        extensions["group"] = entry.group
    return {
        "keys": list(entry.keys),
        "secondary_keys": list(entry.secondary_keys),
        "content": entry.content,
        "extensions": extensions,
        "enabled": entry.is_enabled,
        "insertion_order": entry.order,
        "name": entry.name,
        "id": number,
        "selective": bool(entry.secondary_keys),
        "constant": entry.is_constant,
        "position": "before_char" if entry.position == "before" else "after_char",
    }
