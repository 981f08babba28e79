"""Screenplays in Fountain, the plain text that screenwriting programs share."""

from understudy.readers.fountain.reading import READER

__all__ = ["READER"]
