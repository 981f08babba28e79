"""SubRip (`.srt`): a number, the times, lines of text, a blank line.

Files found in the wild leave out numbers or blank lines, or put blank lines into a text: what counts is the line of
times. Times are not kept; a line's place is its line in the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from understudy.formats.subtitles.reading import subtitle_events
from understudy.formats.subtitles.timed_text import TimedText, times_of
from understudy.sources.events import Event, Reader, Unread
from understudy.sources.source import SourceFile

__all__ = ["READER"]

LONGEST_NUMBER = 9


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    yield from subtitle_events(source, _subtitles)


def _subtitles(source: SourceFile) -> Iterator[TimedText | Event]:
    subtitle: TimedText | None = None
    held: list[tuple[int, str]] = []  # a number: of the next subtitle if times follow, else text
    for number, line in source.lines():
        if not line or line.isspace():
            continue
        if (times := times_of(line)) is not None:
            if subtitle is not None:
                yield subtitle
            subtitle = TimedText(held[0][0] if held else number, *times, (), 1 + len(held))
            held = []
            continue
        texts, held = (held, [(number, line)]) if _is_number(line.strip()) else ([*held, (number, line)], [])
        for text in texts:
            if subtitle is None:
                yield _outside(source, *text)
                continue
            if subtitle.is_full:
                yield subtitle
                subtitle = subtitle.rest(number)
            subtitle = subtitle.with_line(*text)
    for text in held:
        if subtitle is None:
            yield _outside(source, *text)
        else:
            subtitle = subtitle.with_line(*text)
    if subtitle is not None:
        yield subtitle


def _outside(source: SourceFile, number: int, line: str) -> Unread:
    return Unread(source.at(number), line.strip()[:200], "stands before the first subtitle")


def _is_number(line: str) -> bool:
    return line.isdecimal() and len(line) <= LONGEST_NUMBER


READER = Reader("subrip", events)
