"""Speeches in rows: JSONL with a speaker and what is said, and perhaps season, episode, scene.

One row is one unit. A row that cannot be a speech or a description is listed as unread; a row that is no JSON at all
is an error, for then the file is damaged. Keys are recognised by their usual names (see `columns`), or named by whoever
reads the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from understudy.formats.rows import TableRow, row_events
from understudy.sources.columns import Columns
from understudy.sources.events import Event, Reader
from understudy.sources.jsonstream import SURROGATE
from understudy.sources.source import SourceFile

__all__ = ["READER", "speeches_reader"]

MOST_KEYS = 20  # named in an error


def speeches_reader(named: Columns | None = None) -> Reader:
    """The reader of JSON lines, for the keys that somebody names or for the usual ones."""
    given = Columns() if named is None else named

    @lru_cache(maxsize=256)
    def columns_of_keys(keys: tuple[str, ...]) -> Columns:
        return given.completed(keys)

    def events(source: SourceFile) -> Iterator[Event]:
        rows = _rows(source) if named is None else _with_named_keys(source, given)
        yield from row_events(source, rows, lambda cells: columns_of_keys(tuple(cells)))

    return Reader("speeches", events, with_columns=speeches_reader)


def _rows(source: SourceFile) -> Iterator[TableRow]:
    for number, line in source.lines():
        if line and not line.isspace():
            yield TableRow(number, 1, line, _row(source, line, number))


def _with_named_keys(source: SourceFile, named: Columns) -> Iterator[TableRow]:
    """The rows of a file whose first one must have the keys that somebody named."""
    first = True
    for row in _rows(source):
        columns = named.completed(row.cells)
        missing = [column for column in columns.named().values() if column not in row.cells]
        if first and (missing or columns.speaker is None or columns.text is None):
            keys = ", ".join(map(repr, list(row.cells)[:MOST_KEYS]))
            wrong = f"has no key {missing[0]!r}" if missing else "has no key for who speaks and what is said"
            raise source.error(
                f"{wrong}; its keys are {keys}: name them with --columns speaker=KEY,text=KEY", row.number
            )
        first = False
        yield row


def _row(source: SourceFile, line: str, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not a row of JSON ({error}): the file is cut off or damaged", number) from error
    if SURROGATE.search(line):
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise source.error("holds half of a character (a lone surrogate): the file is damaged", number) from error
    if not isinstance(row, dict):
        raise source.error("is JSON, but not an object with a speaker and words", number)
    return row


READER = speeches_reader()
