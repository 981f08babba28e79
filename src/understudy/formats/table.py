"""Tables: CSV and TSV with a header row, one speech a row.

Cells are separated by commas, semicolons, tabs or bars, whichever makes the rows agree in width. A quoted cell may run
over several lines; where quotation marks do not work as quotes (`Ann<TAB>"Well," he said.`), they belong to the text.
Columns are recognised by their usual names (see `columns`), or named by who reads; a table whose columns cannot be told
is refused with a list of them. The units of a row are its non-blank lines.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import UnknownFormat
from understudy.formats.rows import TableRow, row_events
from understudy.sources.columns import Columns
from understudy.sources.events import Event, Heading, Reader, Unread
from understudy.sources.source import HEAD_BYTES, SourceFile

__all__ = ["READER", "TABLE_SUFFIXES", "table_reader", "table_texts"]

DELIMITERS = (",", ";", "\t", "|")
SEPARATOR_LINE = "sep="  # a first line by which spreadsheets note the delimiter
SAMPLE_ROWS = 200
LONGEST_NAME = 60
MOST_NAMES = 40  # listed in an error
LONGEST_ROW = 1_000  # lines: a quote that is never closed would otherwise take in the rest of the file
NUMBER = re.compile(r"\s*\d+(?:\.\d*)?\s*|\s*")
TABLE_SUFFIXES = (".csv", ".tsv", ".tab")


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How the cells of a table are separated, and whether quotation marks are quotes."""

    delimiter: str
    quoted: bool

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        if not self.quoted:
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        return csv.reader(lines, delimiter=self.delimiter, strict=True)


@dataclass(frozen=True, slots=True)
class _Sample:
    """What the first rows show of a table."""

    form: TableFormat
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def agreement(self) -> float:
        """The share of rows that are as wide as the header."""
        return sum(len(row) == len(self.header) for row in self.rows) / max(len(self.rows), 1)

    def columns(self, named: Columns) -> Columns:
        return named.completed(self.header, self._numeric())

    def _numeric(self) -> frozenset[str]:
        columns = self._cells().items()
        return frozenset(name for name, cells in columns if any(cells) and all(map(NUMBER.fullmatch, cells)))

    def _cells(self) -> dict[str, list[str]]:
        return {name: [row[at] for row in self.rows if at < len(row)] for at, name in enumerate(self.header)}

    def suggestion(self, columns: Columns) -> str:
        """What to name columns that are not known: the longest cells may be the text, words before it the speaker."""
        taken = {*columns.named().values(), "", *self._numeric()}
        free = {name: sum(map(len, cells)) for name, cells in self._cells().items() if name not in taken}
        if columns.text is None and free:
            text = max(free, key=lambda name: free[name])
            del free[text]
        else:
            text = columns.text or "NAME"
        return f"speaker={columns.speaker or next(iter(free), 'NAME')},text={text}"

    def is_plainly_a_table(self, path: Path) -> bool:
        """Told by its shape alone, where its columns have names of their own."""
        names = [name for name in self.header if 0 < len(name) <= LONGEST_NAME and name[-1] not in ".:!?"]
        if len(self.rows) < 2 or self.agreement < 1 or len({*names}) < len(self.header):
            return False
        return len(self.header) > 2 or self.form.delimiter == "\t" or path.suffix.lower() in TABLE_SUFFIXES


def table_reader(named: Columns | None = None) -> Reader:
    """The reader of tables, for the columns that somebody names or for those of the usual names."""
    given = Columns() if named is None else named

    def recognises(head: bytes, path: Path) -> bool:
        sample = _sample(head, given)
        if sample is None:
            return False
        columns = sample.columns(given)
        known = columns.speaker is not None and columns.text is not None
        return named is not None or known or sample.is_plainly_a_table(path)

    def events(source: SourceFile) -> Iterator[Event]:
        sample = _sample(source.head(), given)
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

    return Reader("csv", recognises, events)


def table_texts(source: SourceFile, named: Columns) -> Iterator[str]:
    """The text of each row of a table that need not say who speaks."""
    sample = _sample(source.head(), named)
    if sample is None:  # one column, whose texts may have commas; or nothing below the header
        lines = _lines(source.head())
        header = next(csv.reader(lines), []) if len(lines) == 1 else [lines[0].strip().strip('"')]
        sample = _Sample(TableFormat(",", True), tuple(header), ())
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


def _checked(source: SourceFile, sample: _Sample, columns: Columns) -> str:
    """The columns that a table has, for messages; raises where one that was named is not there."""
    there = ", ".join(name or "(no name)" for name in sample.header[:MOST_NAMES])
    if missing := [column for column in columns.named().values() if column not in sample.header]:
        raise source.error(f"has no column {missing[0]!r}; its columns are {there}: name one of these", 1)
    return there


def _check(source: SourceFile, sample: _Sample, columns: Columns) -> None:
    there = _checked(source, sample, columns)
    lacking = [kind for kind in ("speaker", "text") if getattr(columns, kind) is None]
    if lacking:
        command = shlex.join(["understudy", "read", source.path.name, "--columns", sample.suggestion(columns)])
        raise UnknownFormat(
            f"is a table, but which column holds the {' and which the '.join(lacking)} cannot be told; its columns are "
            f"{there}. Say it with --columns, such as: {command}",
            source.path,
        )


def _rows(source: SourceFile, sample: _Sample, columns: Columns, others: list[Event]) -> Iterator[TableRow]:
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


def _sample(head: bytes, named: Columns) -> _Sample | None:
    """The way of separating cells in which the columns are known and most rows agree; None where there is none."""
    whole = len(head) < HEAD_BYTES
    lines = _lines(head if whole else head[: max(head.rfind(b"\n"), head.rfind(b"\r"))])
    while lines and (lines[0].isspace() or lines[0].lower().startswith(SEPARATOR_LINE)):
        del lines[0]
    if not lines or lines[0].lstrip()[:1] in ("{", "[", "<", "#", "|"):
        return None
    samples = [
        sample
        for delimiter in DELIMITERS
        if delimiter in lines[0]
        for quoted in (True, False)
        if (sample := _parsed(lines, TableFormat(delimiter, quoted), whole)) is not None
    ]
    return max(samples, default=None, key=lambda sample: _rank(sample, named))


def _lines(head: bytes) -> list[str]:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return [line + "\n" for line in head.decode("utf-16", "ignore").split("\n")]
    lines = []
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        try:
            lines.append(line.decode() + "\n")
        except UnicodeDecodeError:
            lines.append(line.decode("cp1252", "replace") + "\n")
    return lines


def _rank(sample: _Sample, named: Columns) -> tuple[int, float, bool, int]:
    columns = sample.columns(named)
    known = sum(column in sample.header for column in (columns.speaker, columns.text))
    return known, sample.agreement, sample.form.quoted, len(sample.header)


def _parsed(lines: list[str], form: TableFormat, whole: bool) -> _Sample | None:
    rows: list[tuple[str, ...]] = []
    try:
        for row in form.rows(lines):
            if row:
                rows.append(tuple(row))
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error as error:
        if whole or "end of data" not in str(error):  # else a quoted cell that goes on behind the sample
            return None
    header = tuple(name.strip() for name in rows[0]) if rows else ()
    return _Sample(form, header, tuple(rows[1:])) if len(header) > 1 and len(rows) > 1 else None


READER = table_reader()
