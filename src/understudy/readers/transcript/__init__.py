"""Transcripts as found: plain text and web pages, with all the mess they come in."""

from understudy.readers.transcript.reading import READER, place

__all__ = ["READER", "place"]
