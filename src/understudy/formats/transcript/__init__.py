"""Transcripts as found: plain text and web pages, with all the mess they come in."""

from understudy.formats.transcript.reading import READER, episode_numbers

__all__ = ["READER", "episode_numbers"]
