r"""Marks inside a line of Markdown: an emphasised name before what is said, an emphasised description, backslashes.

`**Odile:** Well.`, `**Odile**: Well.`, `*Odile:* Well.`, `__Odile__ (low): Well.` and `**ODILE (low):** Well.` are all
the same label; the note on how something is said stays with what is said.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from understudy.formats.transcript.labels import TranscriptStatistics
from understudy.sources.directions import WHOLE

__all__ = ["EmphasisedLabel", "emphasised_label", "speakers_of", "without_emphasis", "without_escapes"]

NAME = r"(?P<name>(?:\\.|[^\\*_:：]){1,200}?)"
NOTE = r"(?P<note>[*_]{0,2}[(\[（][^()\[\]（）]{0,200}[)\]）][*_]{0,2})"
INSIDE = re.compile(rf"(?P<mark>\*{{1,3}}|_{{1,3}}){NAME}\s{{0,9}}[:：]\s{{0,9}}(?P=mark)(?P<text>.*)")
OUTSIDE = re.compile(rf"(?P<mark>\*{{1,3}}|_{{1,3}}){NAME}(?P=mark)\s{{0,9}}{NOTE}?\s{{0,9}}[:：](?P<text>.*)")
NOTED = re.compile(r"(.*?[^\s\\])\s*([(（][^()（）\\]*[)）])")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|(&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)")
STARRED = re.compile(r"(\*{1,3})((?:\\.|[^\\*])+)\1")
UNDERSCORED = re.compile(r"(_{1,3})((?:\\.|[^\\_])+)\1")
NO_NAMES = frozenset("note notes warning tip tips important example caution info todo update edit summary".split())
LONGEST_NAME = 80


class EmphasisedLabel(NamedTuple):
    """A name as it is written, with its backslashes, and what is said."""

    raw_name: str
    text: str


def emphasised_label(text: str) -> EmphasisedLabel | None:
    """The label that a line begins with."""
    if text[:1] not in ("*", "_"):
        return None
    match = INSIDE.fullmatch(text) or OUTSIDE.fullmatch(text)
    if match is None:
        return None
    name, said = match["name"].strip(), match["text"].strip()
    note = (match.groupdict().get("note") or "").strip("*_")
    if noted := NOTED.fullmatch(name):
        name, note = noted[1], f"{noted[2]} {note}".strip()
    if not 0 < len(name) <= LONGEST_NAME or name.casefold() in NO_NAMES or not without_escapes(name).strip():
        return None
    return EmphasisedLabel(name, f"{note} {said}".strip())


def speakers_of(raw_name: str, statistics: TranscriptStatistics) -> tuple[str, ...]:
    """The people a label names; a name in which something is escaped is one."""
    name = " ".join(without_escapes(raw_name).split())
    return (name,) if ESCAPED.search(raw_name) else statistics.speakers(name)


def without_emphasis(text: str) -> str:
    """A description without the emphasis and the brackets around the whole of it."""
    if match := STARRED.fullmatch(text) or UNDERSCORED.fullmatch(text):
        text = match[2].strip() or text
    if text[0] in "([" and WHOLE.fullmatch(text):
        text = text[1:-1].strip() or text
    return text


def without_escapes(text: str) -> str:
    """Backslashes before marks taken off, entities read."""
    return ESCAPED.sub(lambda match: match[1] or html.unescape(match[2]), text)
