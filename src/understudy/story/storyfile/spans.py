"""Where lines stand in the text they were read from, and how surely their speakers are known.

A novel's lines are cut out of running text, so that a line number says little: a span is a pair of character offsets
into the source's text (line ends are one character, a byte order mark is none). A quotation that narration interrupts
has several. Who says it was worked out, with a confidence between 0 and 1; lines whose source names the speaker have
none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from understudy.story.types import Line

__all__ = ["DOUBTFUL", "SPANS_VERSION", "AttributedLines", "LineSpans", "Spans", "span_problems", "write_spans"]

SPANS_VERSION = 4
"""The migration that has the tables."""

DOUBTFUL = 0.6
"""A speaker who is known less surely should be looked at by the story's author."""

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Character offsets (start, end), in order."""


@dataclass(frozen=True, slots=True)
class LineSpans:
    """A line with its spans; `confidence` is that of its speaker, None where the source says who it is."""

    line: Line
    spans: Spans
    confidence: float | None


class AttributedLines(NamedTuple):
    """How many lines have speakers that were worked out, how surely on average, and how many are doubtful."""

    lines: int
    confidence: float | None
    doubtful: int


def write_spans(connection: sqlite3.Connection, rows: Iterable[tuple[int, Spans, float | None]]) -> None:
    """`rows` are line numbers with what is known of the lines."""
    for line, spans, confidence in rows:
        connection.executemany("INSERT INTO spans VALUES (?, ?, ?)", ((line, start, stop) for start, stop in spans))
        if confidence is not None:
            connection.execute("INSERT INTO attributions VALUES (?, ?)", (line, confidence))


def span_problems(connection: sqlite3.Connection) -> Iterator[str]:
    if connection.execute("SELECT 1 FROM spans WHERE start < 0 OR stop < start LIMIT 1").fetchone():
        yield "a line stands nowhere in its source"
    if connection.execute("SELECT 1 FROM attributions WHERE confidence NOT BETWEEN 0 AND 1 LIMIT 1").fetchone():
        yield "a speaker's confidence is none"
