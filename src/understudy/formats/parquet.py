"""Tables in Parquet files, as `understudy export` writes them or with columns of the usual names: one speech a row.

A unit is a row, and its line number is that of the row. Rows are read a batch at a time, and only the columns that hold
something of a story: whatever else a file has is never decoded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from understudy.errors import MissingExtra, UnknownFormat
from understudy.formats.rows import TableRow, row_events
from understudy.sources.columns import Columns
from understudy.sources.events import Event, Reader
from understudy.sources.source import LONGEST_LINE, SourceFile

if TYPE_CHECKING:
    import pyarrow

__all__ = ["READER"]

MAGIC = b"PAR1"
MOMENTS = ("moment", "scene")  # columns by which exported rows are dated
BATCH_ROWS = 500
LARGEST_GROUP = 2**30  # bytes of a row group once it is decoded
MOST_NAMES = 40  # listed in an error
LONGEST_REASON = 200


def parquet_reader(named: Columns | None = None) -> Reader:
    """The reader of Parquet files, for columns of the given names, or of the usual ones."""

    def events(source: SourceFile) -> Iterator[Event]:
        file = _opened(source)
        columns = _columns(source, file.schema_arrow, named or Columns())
        yield from row_events(source, _rows(source, file, columns), lambda _: columns)

    return Reader("parquet", events, with_columns=parquet_reader)


def _opened(source: SourceFile) -> Any:
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
        raise source.error(f"is a damaged Parquet file ({reason}): write it again") from error


def _columns(source: SourceFile, schema: pyarrow.Schema, named: Columns) -> Columns:
    names = [field.name for field in schema if _is_readable(field.type)]
    columns = named.completed(names, frozenset(field.name for field in schema if _is_number(field.type)))
    there = ", ".join(schema.names[:MOST_NAMES])
    if missing := [column for column in columns.named().values() if column not in names]:
        raise source.error(f"has no column of texts or numbers {missing[0]!r}; its columns are {there}")
    if columns.speaker is None or columns.text is None:
        lacking = "speaker" if columns.speaker is None else "text"
        raise UnknownFormat(
            f"is a table, but which column holds the {lacking} cannot be told; its columns are {there}. "
            "Say it with --columns speaker=NAME,text=NAME",
            source.path,
        )
    return columns


def _rows(source: SourceFile, file: Any, columns: Columns) -> Iterator[TableRow]:
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


READER = parquet_reader()
