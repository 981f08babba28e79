"""WebVTT (`.vtt`): blocks between blank lines, after a first line that begins with `WEBVTT`.

A block is a cue (perhaps with a name of its own above its times), a NOTE, or a STYLE or REGION for the screen. The
first block may say the title and the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from understudy.formats.subtitles.reading import subtitle_events
from understudy.formats.subtitles.timed_text import TimedText, times_of
from understudy.sources.events import Event, Heading, Reader, Unread
from understudy.sources.source import SourceFile
from understudy.text import LANGUAGES

__all__ = ["READER"]

LANGUAGE = re.compile(rb"^Language:[ \t]*([a-zA-Z]{2})\b", re.MULTILINE)
NO_CUES = (
    (re.compile(r"NOTE(?:\s.*)?"), "a comment"),
    (re.compile(r"STYLE\s*"), "how it looks on the screen"),
    (re.compile(r"REGION\s*"), "where it stands on the screen"),
)
MOST_LINES = 500  # of one block; a longer one comes in pieces

Block = list[tuple[int, str]]


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    match = LANGUAGE.search(source.head()[:2000])
    language = match[1].decode().lower() if match else None
    yield from subtitle_events(source, _cues, language if language in LANGUAGES else None)


def _cues(source: SourceFile) -> Iterator[TimedText | Event]:
    for index, block in enumerate(_blocks(source)):
        reason = next((reason for mark, reason in NO_CUES if mark.fullmatch(block[0][1].strip())), None)
        if index == 0:
            timed = next((at for at, (_, line) in enumerate(block) if times_of(line)), len(block))
            for number, line in block[:timed]:
                yield Heading(source.at(number), line.strip())
            yield from _timed(source, block[timed:])
        elif reason is not None:
            text = " ".join(line.strip() for _, line in block)
            yield Unread(source.at(block[0][0]), text[:200], reason, len(block))
        else:
            yield from _timed(source, block)


def _blocks(source: SourceFile) -> Iterator[Block]:
    block: Block = []
    for number, line in source.lines():
        if line and not line.isspace():
            block.append((number, line))
        if block and (not line or line.isspace() or len(block) >= MOST_LINES):
            yield block
            block = []
    if block:
        yield block


def _timed(source: SourceFile, block: Block) -> Iterator[TimedText | Event]:
    """The cue of a block; several, where somebody forgot the blank lines between them."""
    starts = [index for index, (_, line) in enumerate(block) if times_of(line)]
    first = starts[0] if starts else len(block)
    named = bool(starts) and first == 1
    if not named:
        for number, line in block[:first]:
            yield Unread(source.at(number), line.strip()[:200], "stands outside any cue")
    for index, end in zip(starts, [*starts[1:], len(block)]):
        times = times_of(block[index][1])
        if times is None:
            continue
        above = 1 if named and index == first else 0
        cue = TimedText(block[index - above][0], *times, (), 1 + above)
        for number, line in block[index + 1 : end]:
            if cue.is_full:
                yield cue
                cue = cue.rest(number)
            cue = cue.with_line(number, line)
        yield cue


READER = Reader("webvtt", events)
