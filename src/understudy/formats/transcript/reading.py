"""Transcripts as found: plain text or HTML, `Name: text`, directions in brackets, scene markers of all kinds.

Two passes over the lines: the first counts labels and how lines wrap, the second makes events. A file of ordinary
size is kept in memory for that; a larger one is read twice as a stream, so that memory does not grow with it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

from understudy.formats.transcript.headings import is_cut, is_scene_mark
from understudy.formats.transcript.labels import collect_statistics, looks_like_label, read_label
from understudy.formats.transcript.line_parser import parse_lines
from understudy.formats.transcript.markup import TextLine, looks_like_html, page_lines
from understudy.sources.events import Event, Heading, Opening, Reader
from understudy.sources.source import SourceFile

__all__ = ["EPISODE", "READER", "episode_numbers", "episode_title", "events", "recognises", "text_lines"]

LOST = " "
LOOK_AHEAD = 4 * 1024 * 1024
LEVELS = ("season", "episode", "scene", "line")
PERSONA_CHAT = re.compile(r"\d+ (?:your persona|partner's persona):|\d+ [^\t\n]*\t")
STRICT_SCRIPT = re.compile(r"#+\s")
OTHER_MARKUP = re.compile(r"<\?xml|<(?:TEI|PLAY|play|text|script|doc|root)\b|<!DOCTYPE (?!html)", re.IGNORECASE)
LONGEST_PROSE = 600


def recognises(head: bytes, path: Path) -> bool:
    """Text that shows labels or scene markers, or sits at a numbered episode; never another format's file."""
    text = _decoded(head)
    if text is None:
        return False
    lines = [line.strip() for line in text.splitlines() if line.strip()][:400]
    if not lines or PERSONA_CHAT.match(lines[0]) or STRICT_SCRIPT.match(lines[0]):
        return False
    if looks_like_html(text):
        return not OTHER_MARKUP.match(lines[0]) or "<html" in text[:2000].lower()
    if OTHER_MARKUP.match(lines[0]) or _is_json(lines[0], text):
        return False
    if any(is_scene_mark(line) or is_cut(line) for line in lines):
        return True
    labels = [label for line in lines if (label := read_label(line)) and looks_like_label(label.name)]
    if len(labels) >= 2 and len(labels) * 10 >= len(lines):
        return True
    return episode_numbers(path, head) is not None and max(map(len, lines)) <= LONGEST_PROSE


def _decoded(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="ignore")
    if head.count(b"\0") * 20 > len(head):
        return None
    return head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")


def _is_json(first: str, text: str) -> bool:
    if first[0] == "{" or first[:2] in ("[{", "[["):
        return first == "{" or '"' in first or first in ("[{", "[[")
    try:
        return isinstance(json.loads(first), (dict, list)) or text.lstrip().startswith("[\n")
    except RecursionError:
        return True
    except ValueError:
        return first == "["


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    head = source.head()
    numbers = episode_numbers(source.path, head)
    yield Opening(LEVELS if numbers else LEVELS[-2:])
    if numbers:
        yield Heading(source.at(1), episode_title(source.path, head), numbers, units=0)
    if source.size <= LOOK_AHEAD:
        lines = list(text_lines(source))
        yield from parse_lines(source, lines, collect_statistics(lines))
    else:
        stats = collect_statistics(text_lines(source.reopened()))
        yield from parse_lines(source, text_lines(source), stats)


def text_lines(source: SourceFile) -> Iterator[TextLine]:
    """The non-blank lines of a file without its markup, counted into `source.units`."""
    if not looks_like_html(_decoded(source.head()) or ""):
        yield from _plain(source)
        return
    # the units of a page are its lines without markup, not the lines of its source
    page = source.reopened(source.progress)
    try:
        for line in page_lines(page.lines(lost=LOST)):
            source.units += 1
            yield line
    except ValueError as error:
        raise source.error(*error.args) from error


def _plain(source: SourceFile) -> Iterator[TextLine]:
    gap = False
    for number, line in source.lines(lost=LOST):
        text = line.strip()
        if not line or line.isspace():
            gap = True
        else:
            yield TextLine(number, text, gap)
            gap = False


READER = Reader("transcript", recognises, events)


EPISODE = re.compile(r"(?<![a-z0-9])s(\d{1,2})[\s._-]*e(\d{1,3})|(?<!\d)(\d{1,2})x(\d{2,3})", re.IGNORECASE)
DIGITS = re.compile(r"(\d{1,2})(\d{2})(?=\D|$)")
SPOKEN = re.compile(r"season\s+(\d{1,2})\W{1,3}(?:episode|ep\.?)\s+(\d{1,3})", re.IGNORECASE)
HTML_TITLE = re.compile(r"<title>\s*(.*?)\s*</title>", re.IGNORECASE | re.DOTALL)
NUMBERED_TITLE = re.compile(
    r"^\s*(?:\d{1,2}x\d{2,3}|s\d{1,2}e\d{1,3})\s*[-–:]\s*(\S.{0,120}?)\s*$", re.IGNORECASE | re.MULTILINE
)
TOP = 3000


def episode_numbers(path: Path, head: bytes) -> tuple[int, ...] | None:
    """(season, episode), or None where neither the name nor the top of the file says."""
    if match := EPISODE.search(path.stem):
        first, second = [int(group) for group in match.groups() if group]
        return first, second
    if match := DIGITS.match(path.stem):
        return int(match[1]), int(match[2])
    top = _top(head)
    if match := EPISODE.search(top) or SPOKEN.search(top):
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
