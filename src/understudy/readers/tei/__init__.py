"""Plays in TEI, as DraCor has them."""

from understudy.readers.tei.reading import READER

__all__ = ["READER"]
