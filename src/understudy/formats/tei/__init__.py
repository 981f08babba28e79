"""Plays in TEI, as DraCor has them."""

from understudy.formats.tei.reading import READER

__all__ = ["READER"]
