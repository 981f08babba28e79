"""Dialogues in Markdown."""

from understudy.readers.markdown.reading import READER

__all__ = ["READER"]
