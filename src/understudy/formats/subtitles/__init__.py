"""Subtitles in which speakers are named: SubRip and WebVTT."""

from understudy.formats.subtitles.subrip import READER as SUBRIP
from understudy.formats.subtitles.webvtt import READER as WEBVTT

__all__ = ["SUBRIP", "WEBVTT"]
