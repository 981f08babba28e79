"""Character cards V1 to V3, JSON and PNG: read as small stories, kept whole, and made of a character at a moment."""

from understudy.readers.card.reading import READER

__all__ = ["READER"]
