"""The character card file format, versions 1 to 3: JSON documents, and PNG pictures that carry one."""

from understudy.cards.document import Card, card_from_text, json_of
from understudy.cards.file import parse_card, picture_of, png_of, read_card, write_card
from understudy.cards.greetings import greetings_for
from understudy.cards.lore_files import read_lore
from understudy.cards.lorebook import lore_for
from understudy.cards.png import portrait
from understudy.macros import fill_macros

__all__ = [
    "Card",
    "card_from_text",
    "fill_macros",
    "greetings_for",
    "json_of",
    "lore_for",
    "parse_card",
    "picture_of",
    "png_of",
    "portrait",
    "read_card",
    "read_lore",
    "write_card",
]
