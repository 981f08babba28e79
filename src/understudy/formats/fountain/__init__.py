"""Screenplays in Fountain, the plain text that screenwriting programs share."""

from understudy.formats.fountain.reading import READER

__all__ = ["READER"]
