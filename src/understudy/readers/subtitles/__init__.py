"""Subtitles in which speakers are named: SubRip and WebVTT."""

from understudy.readers.subtitles.subrip import READER as SUBRIP
from understudy.readers.subtitles.webvtt import READER as WEBVTT

__all__ = ["SUBRIP", "WEBVTT"]
