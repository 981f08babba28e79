"""The character card file format, versions 1 to 3: JSON documents, PNG pictures that carry one, and CHARX archives."""

from understudy.cards.charx import is_charx, missing_assets, read_assets, read_charx
from understudy.cards.document import Card, card_from_text, greetings_for, json_of
from understudy.cards.file import parse_card, picture_of, png_of, read_card, write_card
from understudy.cards.lore_files import read_lore
from understudy.cards.lorebook import keys_named, lore_for
from understudy.cards.png import portrait
from understudy.macros import fill_macros

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
