"""Dialogues in Markdown."""

from understudy.formats.markdown.reading import READER

__all__ = ["READER"]
