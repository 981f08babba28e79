"""Tables of speeches, one a row: CSV and TSV with a header row, JSON lines, and Parquet.

Cells are separated by commas, semicolons, tabs or bars, whichever makes the rows agree in width. A quoted cell may run
over several lines; where quotation marks do not work as quotes (`Ann<TAB>"Well," he said.`), they belong to the text.
The units of a row are its non-blank lines.

Columns, and the keys of JSON lines, are recognised by their usual names (see `columns`), or named by whoever reads the
file; a table whose columns cannot be told is refused with a list of them. A row that cannot be a speech or a
description is listed as unread; a row of JSON lines that is no JSON at all is an error, for then the file is damaged.

Of Parquet files, as `understudy export` writes them too, a unit is a row, and its line number is that of the row. Rows
are read a batch at a time, and only the columns that hold something of a story: nothing else is ever decoded.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from understudy.errors import MissingExtra, UnknownFormat
from understudy.formats.rows import TableRow, row_events
from understudy.sources import Event, Heading, Reader, Unread
from understudy.sources.columns import SEPARATOR_LINE, Columns, TableFormat, TableSample, table_lines, table_sample
from understudy.sources.jsonstream import parsed_json
from understudy.sources.source import LONGEST_LINE, SourceFile

if TYPE_CHECKING:
    import pyarrow


MOST_NAMES = 40  # listed in an error
LONGEST_ROW = 1_000  # lines: a quote that is never closed would otherwise take in the rest of the file


def table_reader(named: Columns | None = None) -> Reader:
    """The reader of tables, for columns of the given names, or of the usual ones."""
    wanted = named or Columns()

    def events(source: SourceFile) -> Iterator[Event]:
        sample = table_sample(source.head(), wanted)
        if sample is None:
            raise UnknownFormat(
                "is no table: the first line should name the columns, such as speaker,text", source.path
            )
        columns = sample.columns(wanted)
        command = shlex.join(["understudy", "read", source.path.name, "--columns", sample.suggestion(columns)])
        _check(source, sample.header, columns, f", such as: {command}")
        other_events: list[Event] = []
        rows = _rows(source, sample, columns, other_events)
        for event in row_events(source, rows, lambda _: columns):
            yield event
            yield from other_events
            other_events.clear()
        yield from other_events

    return Reader("csv", events, with_columns=table_reader)


def table_texts(source: SourceFile, named: Columns) -> Iterator[str]:
    """The text of each row of a table that need not say who speaks."""
    sample = table_sample(source.head(), named)
    if sample is None:  # one column, whose texts may have commas; or nothing below the header
        lines = table_lines(source.head())
        header = next(csv.reader(lines), []) if len(lines) == 1 else [lines[0].strip().strip('"')]
        sample = TableSample(TableFormat(",", True), tuple(header), ())
    columns = sample.columns(named)
    _check(source, sample.header, columns, " text=NAME", ("text",))
    assert columns.text is not None
    other_events: list[Event] = []
    for row in _rows(source, sample, columns, other_events):
        for other in other_events:
            if isinstance(other, Unread):
                raise source.error(other.reason, other.source.line)
        other_events.clear()
        yield row.cells[columns.text]


def _check(
    source: SourceFile,
    header: Sequence[str],
    columns: Columns,
    advice: str,
    needed: Sequence[str] = ("speaker", "text"),
    unreadable: Collection[str] = (),
) -> None:
    """Refuse a table without a column that was named, or whose columns for what is `needed` cannot be told."""
    there = ", ".join(name or "(no name)" for name in header[:MOST_NAMES])
    if missing := [column for column in columns.named().values() if column not in header or column in unreadable]:
        of_kind = " of texts or numbers" if unreadable else ""
        raise source.error(f"has no column{of_kind} {missing[0]!r}; its columns are {there}: name one of these", 1)
    if lacking := [kind for kind in needed if getattr(columns, kind) is None]:
        raise UnknownFormat(
            f"is a table, but which column holds the {' and which the '.join(lacking)} cannot be told; its columns are "
            f"{there}. Say it with --columns{advice}",
            source.path,
        )


def _rows(source: SourceFile, sample: TableSample, columns: Columns, other_events: list[Event]) -> Iterator[TableRow]:
    """The rows below the header; what is none of them is put into `other_events`."""
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
            other_events.append(Heading(source.at(number), raw[:200], units=units))
            continue
        if len(row) > width and last_is_text:  # `Ann,Well, yes` without quotes
            row[width - 1 :] = [sample.form.delimiter.join(row[width - 1 :])]
        if len(row) > width and any(cell.strip() for cell in row[width:]):
            reason = f"has {len(row)} cells, but the table has {width} columns"
            other_events.append(Unread(source.at(number), raw[:200], reason, units))
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
    wanted = named or Columns()

    @lru_cache(maxsize=256)
    def columns_of_keys(keys: tuple[str, ...]) -> Columns:
        return wanted.completed(keys)

    def events(source: SourceFile) -> Iterator[Event]:
        rows = _json_rows(source) if named is None else _with_named_keys(source, wanted)
        yield from row_events(source, rows, lambda cells: columns_of_keys(tuple(cells)))

    return Reader("speeches", events, with_columns=speeches_reader)


def _json_rows(source: SourceFile) -> Iterator[TableRow]:
    for number, line in source.lines():
        if line and not line.isspace():
            row = parsed_json(source, line, number)
            if not isinstance(row, dict):
                raise source.error("is JSON, but not an object with a speaker and words", number)
            yield TableRow(number, 1, line, row)


def _with_named_keys(source: SourceFile, named: Columns) -> Iterator[TableRow]:
    """The rows of a file whose first one must have the given keys."""
    for index, row in enumerate(_json_rows(source)):
        columns = named.completed(row.cells)
        missing = [column for column in columns.named().values() if column not in row.cells]
        if index == 0 and (missing or columns.speaker is None or columns.text is None):
            keys = ", ".join(map(repr, list(row.cells)[:MOST_KEYS]))
            wrong = f"has no key {missing[0]!r}" if missing else "has no key for who speaks and what is said"
            raise source.error(
                f"{wrong}; its keys are {keys}: name them with --columns speaker=KEY,text=KEY", row.number
            )
        yield row


SPEECHES = speeches_reader()


# Parquet.

MOMENTS = ("moment", "scene")  # columns by which exported rows are dated
BATCH_ROWS = 500
LARGEST_GROUP = 2**30  # bytes of a row group once it is decoded
LONGEST_REASON = 200


def parquet_reader(named: Columns | None = None) -> Reader:
    """The reader of Parquet files, for columns of the given names, or of the usual ones."""

    def events(source: SourceFile) -> Iterator[Event]:
        file = open_parquet(source)
        schema = file.schema_arrow
        unreadable = {field.name for field in schema if not _is_readable(field.type)}
        numbers = frozenset(field.name for field in schema if _is_number(field.type))
        columns = (named or Columns()).completed([name for name in schema.names if name not in unreadable], numbers)
        _check(source, schema.names, columns, " speaker=NAME,text=NAME", unreadable=unreadable)
        yield from row_events(source, _parquet_rows(source, file, columns), lambda _: columns)

    return Reader("parquet", events, with_columns=parquet_reader)


def open_parquet(source: SourceFile) -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "parquet") from error
    with _damage_reported(source):
        return parquet.ParquetFile(source.path)


@contextmanager
def _damage_reported(source: SourceFile) -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).strip().split("\n")[0][:LONGEST_REASON]
        raise source.error(f"is not a Parquet file, or damaged ({reason}): write it again") from error


def _parquet_rows(source: SourceFile, file: Any, columns: Columns) -> Iterator[TableRow]:
    wanted = sorted({*columns.named().values(), *(name for name in MOMENTS if name in file.schema_arrow.names)})
    total, number = max(file.metadata.num_rows, 1), 0
    for rows in _batches(source, file, wanted):
        for cells in rows:
            number += 1
            source.units += 1
            yield TableRow(number, 1, _shown(source, cells, number), cells)
        source.reach(number / total)


def _batches(source: SourceFile, file: Any, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
    for group in range(file.num_row_groups):
        if file.metadata.row_group(group).total_byte_size > LARGEST_GROUP:
            raise source.error(f"has a row group of over {LARGEST_GROUP // 2**20} MiB: write it in smaller ones")
        with _damage_reported(source):
            batches = file.iter_batches(BATCH_ROWS, [group], columns, use_threads=False)
        while True:
            with _damage_reported(source):
                batch = next(batches, None)
                rows = [] if batch is None else batch.to_pylist()
            if batch is None:
                break
            yield rows


def _shown(source: SourceFile, cells: dict[str, Any], number: int) -> str:
    written = json.dumps(cells, ensure_ascii=False, default=str)
    if len(written) > LONGEST_LINE:
        raise source.error(f"a row of over {LONGEST_LINE:,} characters: this is no table of speeches", number)
    return written


def _is_readable(kind: pyarrow.DataType) -> bool:
    """Texts and numbers, and lists of texts."""
    from pyarrow import types

    if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind):
        kind = kind.value_type
    elif types.is_null(kind) or _is_number(kind):
        return True
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_number(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


PARQUET = parquet_reader()
