"""Tables of speeches, one a row: CSV and TSV with a header row, and JSON lines.

Cells are separated by commas, semicolons, tabs or bars, whichever makes the rows agree in width. A quoted cell may run
over several lines; where quotation marks do not work as quotes (`Ann<TAB>"Well," he said.`), they belong to the text.
The units of a row are its non-blank lines.

Columns, and the keys of JSON lines, are recognised by their usual names (see `columns`), or named by whoever reads the
file; a table whose columns cannot be told is refused with a list of them. A row that cannot be a speech or a
description is listed as unread; a row of JSON lines that is no JSON at all is an error, for then the file is damaged.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from understudy.errors import UnknownFormat
from understudy.formats.rows import TableRow, row_events
from understudy.sources.columns import SEPARATOR_LINE, Columns, TableFormat, TableSample, table_lines, table_sample
from understudy.sources.events import Event, Heading, Reader, Unread
from understudy.sources.jsonstream import SURROGATE
from understudy.sources.source import SourceFile

__all__ = ["READER", "SPEECHES", "table_reader", "table_texts"]

MOST_NAMES = 40  # listed in an error
LONGEST_ROW = 1_000  # lines: a quote that is never closed would otherwise take in the rest of the file


def table_reader(named: Columns | None = None) -> Reader:
    """The reader of tables, for columns of the given names, or of the usual ones."""
    given = Columns() if named is None else named

    def events(source: SourceFile) -> Iterator[Event]:
        sample = table_sample(source.head(), given)
        if sample is None:
            raise UnknownFormat(
                "is no table: the first line should name the columns, such as speaker,text", source.path
            )
        columns = sample.columns(given)
        _check(source, sample, columns)
        others: list[Event] = []
        rows = _rows(source, sample, columns, others)
        for event in row_events(source, rows, lambda _: columns):
            yield event
            yield from others
            others.clear()
        yield from others

    return Reader("csv", events, with_columns=table_reader)


def table_texts(source: SourceFile, named: Columns) -> Iterator[str]:
    """The text of each row of a table that need not say who speaks."""
    sample = table_sample(source.head(), named)
    if sample is None:  # one column, whose texts may have commas; or nothing below the header
        lines = table_lines(source.head())
        header = next(csv.reader(lines), []) if len(lines) == 1 else [lines[0].strip().strip('"')]
        sample = TableSample(TableFormat(",", True), tuple(header), ())
    columns = sample.columns(named)
    there = _checked(source, sample, columns)
    if columns.text is None:
        raise UnknownFormat(
            f"is a table, but which column holds the text cannot be told; its columns are {there}. Say it with "
            "--columns text=NAME",
            source.path,
        )
    others: list[Event] = []
    for row in _rows(source, sample, columns, others):
        for other in others:
            if isinstance(other, Unread):
                raise source.error(other.reason, other.source.line)
        others.clear()
        yield row.cells[columns.text]


def _checked(source: SourceFile, sample: TableSample, columns: Columns) -> str:
    """The columns that a table has, for messages; raises where one that was named is not there."""
    there = ", ".join(name or "(no name)" for name in sample.header[:MOST_NAMES])
    if missing := [column for column in columns.named().values() if column not in sample.header]:
        raise source.error(f"has no column {missing[0]!r}; its columns are {there}: name one of these", 1)
    return there


def _check(source: SourceFile, sample: TableSample, columns: Columns) -> None:
    there = _checked(source, sample, columns)
    lacking = [kind for kind in ("speaker", "text") if getattr(columns, kind) is None]
    if lacking:
        command = shlex.join(["understudy", "read", source.path.name, "--columns", sample.suggestion(columns)])
        raise UnknownFormat(
            f"is a table, but which column holds the {' and which the '.join(lacking)} cannot be told; its columns are "
            f"{there}. Say it with --columns, such as: {command}",
            source.path,
        )


def _rows(source: SourceFile, sample: TableSample, columns: Columns, others: list[Event]) -> Iterator[TableRow]:
    """The rows below the header; what is none of them is put into `others`."""
    width, last_is_text = len(sample.header), sample.header[-1] == columns.text
    reading = _PhysicalLines(source)
    rows = sample.form.rows(reading)
    above = True
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise source.error(
                f"the quotation marks of this row do not match ({error}): a quoted cell ends with its second mark, "
                'and a mark inside it is written twice ("")',
                reading.first,
            ) from error
        if row is None:
            return
        number, units, raw = reading.row()
        if not units:
            continue
        if above:
            above = raw.lower().startswith(SEPARATOR_LINE)
            others.append(Heading(source.at(number), raw[:200], units=units))
            continue
        if len(row) > width and last_is_text:  # `Ann,Well, yes` without quotes
            row[width - 1 :] = [sample.form.delimiter.join(row[width - 1 :])]
        if len(row) > width and any(cell.strip() for cell in row[width:]):
            reason = f"has {len(row)} cells, but the table has {width} columns"
            others.append(Unread(source.at(number), raw[:200], reason, units))
            continue
        cells = dict(zip(reversed(sample.header), reversed([*row, *[""] * (width - len(row))][:width])))
        yield TableRow(number, units, raw, cells)


class _PhysicalLines:
    """The lines that a CSV parser takes, and which of them belong to the row it has just given."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._lines = source.lines()
        self._taken: list[tuple[int, str]] = []
        self.first = 1

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            if not self._taken:
                self.first = number
            elif len(self._taken) > LONGEST_ROW:
                raise self._source.error("a quotation mark opens in this row and is never closed", self.first)
            self._taken.append((number, line))
            yield line + "\n"

    def row(self) -> tuple[int, int, str]:
        """(first line, non-blank lines, text) of the last row."""
        taken, self._taken = self._taken, []
        written = [(number, line) for number, line in taken if line and not line.isspace()]
        return (written or taken)[0][0], len(written), "\n".join(line for _, line in written)


READER = table_reader()


# JSON lines.


MOST_KEYS = 20  # named in an error


def speeches_reader(named: Columns | None = None) -> Reader:
    """The reader of JSON lines, for keys of the given names, or of the usual ones."""
    given = Columns() if named is None else named

    @lru_cache(maxsize=256)
    def columns_of_keys(keys: tuple[str, ...]) -> Columns:
        return given.completed(keys)

    def events(source: SourceFile) -> Iterator[Event]:
        rows = _json_rows(source) if named is None else _with_named_keys(source, given)
        yield from row_events(source, rows, lambda cells: columns_of_keys(tuple(cells)))

    return Reader("speeches", events, with_columns=speeches_reader)


def _json_rows(source: SourceFile) -> Iterator[TableRow]:
    for number, line in source.lines():
        if line and not line.isspace():
            yield TableRow(number, 1, line, _row(source, line, number))


def _with_named_keys(source: SourceFile, named: Columns) -> Iterator[TableRow]:
    """The rows of a file whose first one must have the given keys."""
    first = True
    for row in _json_rows(source):
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


SPEECHES = speeches_reader()
