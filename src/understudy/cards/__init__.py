"""The character card file format, versions 1 to 3: JSON documents, and PNG pictures that carry one."""

from understudy.cards.document import Card, json_of
from understudy.cards.file import parse_card, png_of, read_card, write_card
from understudy.cards.png import portrait

__all__ = ["Card", "json_of", "parse_card", "png_of", "portrait", "read_card", "write_card"]
