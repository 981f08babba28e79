"""The character card file format, versions 1 to 3: JSON documents, PNG pictures that carry one, and CHARX archives."""

from understudy.formats.cards.document import Card, card_from_text, greetings_for, json_of
from understudy.formats.cards.file import (
    is_charx,
    missing_assets,
    parse_card,
    picture_of,
    png_of,
    read_assets,
    read_card,
    read_charx,
    write_card,
)
from understudy.formats.cards.lore_files import read_lore
from understudy.formats.cards.lorebook import keys_named, lore_for
from understudy.formats.cards.png import portrait
from understudy.story.wording import fill_macros

__all__ = [
    "Card",
    "card_from_text",
    "fill_macros",
    "greetings_for",
    "is_charx",
    "json_of",
    "keys_named",
    "lore_for",
    "missing_assets",
    "parse_card",
    "picture_of",
    "png_of",
    "portrait",
    "read_assets",
    "read_card",
    "read_charx",
    "read_lore",
    "write_card",
]
