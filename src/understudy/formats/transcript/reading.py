"""Transcripts as found: plain text or HTML, `Name: text`, directions in brackets, scene markers of all kinds.

Two passes over the lines: the first counts labels and how lines wrap, the second makes events. A file of ordinary
size is kept in memory for that; a larger one is read twice as a stream, so that memory does not grow with it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from understudy.formats.evidence import FileEvidence, measure
from understudy.formats.transcript.labels import collect_statistics
from understudy.formats.transcript.line_parser import parse_lines
from understudy.formats.transcript.markup import TextLine, page_lines
from understudy.sources.events import Event, Heading, Opening, Reader
from understudy.sources.source import SourceFile

__all__ = ["READER", "episode_title", "events", "text_lines"]

LOST = " "
LOOK_AHEAD = 4 * 1024 * 1024
LEVELS = ("season", "episode", "scene", "line")


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    evidence = measure(source.head(), source.path)
    numbers = evidence.episode
    yield Opening(LEVELS if numbers else LEVELS[-2:])
    if numbers:
        yield Heading(source.at(1), episode_title(evidence), numbers, units=0)
    if source.size <= LOOK_AHEAD:
        lines = list(text_lines(source))
        yield from parse_lines(source, lines, collect_statistics(lines))
    else:
        stats = collect_statistics(text_lines(source.reopened()))
        yield from parse_lines(source, text_lines(source), stats)


def text_lines(source: SourceFile) -> Iterator[TextLine]:
    """The non-blank lines of a file without its markup, counted into `source.units`."""
    if not measure(source.head(), source.path).is_html:
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


READER = Reader("transcript", events)


TOP = 3000  # characters in which a title stands
HTML_TITLE = re.compile(r"<title>\s*(.*?)\s*</title>", re.IGNORECASE | re.DOTALL)
NUMBERED_TITLE = re.compile(
    r"^\s*(?:\d{1,2}x\d{2,3}|s\d{1,2}e\d{1,3})\s*[-–:]\s*(\S.{0,120}?)\s*$", re.IGNORECASE | re.MULTILINE
)


def episode_title(evidence: FileEvidence) -> str:
    """What the file calls itself, else its name."""
    top = evidence.text[:TOP]
    match = HTML_TITLE.search(top) or NUMBERED_TITLE.search(top)
    own_title = " ".join(html.unescape(match[1]).split()) if match else ""
    return own_title or evidence.path.stem
