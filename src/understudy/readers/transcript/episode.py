"""Season and episode of a file, from its name or from its first lines."""

from __future__ import annotations

import html
import re
from pathlib import Path

__all__ = ["episode_numbers", "episode_title"]

NAMED = re.compile(r"(?<![a-z0-9])s(\d{1,2})[\s._-]*e(\d{1,3})|(?<!\d)(\d{1,2})x(\d{2,3})", re.IGNORECASE)
DIGITS = re.compile(r"(\d{1,2})(\d{2})(?=\D|$)")
SPOKEN = re.compile(r"season\s+(\d{1,2})\W{1,3}(?:episode|ep\.?)\s+(\d{1,3})", re.IGNORECASE)
HTML_TITLE = re.compile(r"<title>\s*(.*?)\s*</title>", re.IGNORECASE | re.DOTALL)
NUMBERED_TITLE = re.compile(
    r"^\s*(?:\d{1,2}x\d{2,3}|s\d{1,2}e\d{1,3})\s*[-–:]\s*(\S.{0,120}?)\s*$", re.IGNORECASE | re.MULTILINE
)
TOP = 3000


def episode_numbers(path: Path, head: bytes) -> tuple[int, ...] | None:
    """(season, episode), or None where neither the name nor the top of the file says."""
    if match := NAMED.search(path.stem):
        first, second = [int(group) for group in match.groups() if group]
        return first, second
    if match := DIGITS.match(path.stem):
        return int(match[1]), int(match[2])
    top = _top(head)
    if match := NAMED.search(top) or SPOKEN.search(top):
        first, second = [int(group) for group in match.groups() if group]
        return first, second
    return None


def episode_title(path: Path, head: bytes) -> str:
    """What the file calls itself, else its name."""
    top = _top(head)
    match = HTML_TITLE.search(top) or NUMBERED_TITLE.search(top)
    own_title = " ".join(html.unescape(match[1]).split()) if match else ""
    return own_title or path.stem


def _top(head: bytes) -> str:
    return head[:TOP].decode("utf-8", errors="replace")
