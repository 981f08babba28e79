"""DOCX: prose, or a script, that was written with a word processor."""

from understudy.formats.docx.reading import READER, docx_text

__all__ = ["READER", "docx_text"]
