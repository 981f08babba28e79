"""Lines to score, from text, JSON lines, tables or Parquet files or stdin, and files split into parts.

A text file has a line each. The text of JSON lines and of a row of a table is the key or column `text`, else one of the
usual names of it (see `sources.columns`), else the one that is named.

A part says where its lines are and what its file of scores is called; parts come in the order of files and lines. Text
files are split by counting line ends, Parquet files (lines in a column `text`) by counting rows. No file is ever held
whole. Text must be UTF-8: a guessed encoding could change the words.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from glob import glob
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from understudy.errors import InputError
from understudy.formats.table import open_parquet, table_texts
from understudy.sources.columns import TABLE_SUFFIXES, Columns
from understudy.sources.source import SourceFile

JSON_SUFFIXES = (".jsonl", ".ndjson")

PIECE_LINES = 4096
PIECE_BYTES = 1 << 22
LONGEST = 64 << 20
OTHER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

PART_LINES = 8 * PIECE_LINES
BLOCK = 1 << 22
NEWLINE = 10
TEXT = "text"
STOP = ".stop.partial"  # where this is, no worker begins another part


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Some whole lines of a file: from which byte up to which, and the number of the first line."""

    start: int
    stop: int
    first: int


def pieces(path: Path, span: LineSpan | None = None, text: str | None = None) -> Iterator[list[str]]:
    """The lines of a file, or of a span of it, some at a time; `-` is stdin. Every line counts, blank ones too.

    `text` names the column of a table, or the key of JSON lines, that holds the text. Tables have no spans.
    """
    if str(path) == "-":
        yield from _pieces(sys.stdin.buffer, Path("stdin"), None)
        return
    if is_table(path) or (text is not None and path.suffix.lower() not in JSON_SUFFIXES):
        yield from _row_pieces(path, Columns(text=text))
        return
    if path.is_dir():
        raise InputError("is a folder, not a file of lines", path)
    if not path.exists():
        raise InputError("no such file", path)
    with path.open("rb", buffering=1 << 18) as file:
        yield from _pieces(file, path, span, text)


def is_table(path: Path) -> bool:
    """Is it a table by its name: CSV or TSV?"""
    return path.suffix.lower() in TABLE_SUFFIXES


def _row_pieces(path: Path, named: Columns) -> Iterator[list[str]]:
    rows = table_texts(SourceFile(path), named)
    first = next(rows, None)
    if first is None:
        raise InputError("has no row below its header: there is no line to score", path)
    rows = chain((first,), rows)
    while piece := list(islice(rows, PIECE_LINES)):
        yield piece


def _pieces(file: BinaryIO, path: Path, span: LineSpan | None, key: str | None = None) -> Iterator[list[str]]:
    as_json = path.suffix.lower() in JSON_SUFFIXES
    piece: list[str] = []
    size = number = 0
    if span is not None:
        file.seek(span.start)
        number = span.first - 1
    while (span is None or file.tell() < span.stop) and (raw := file.readline(LONGEST + 1)):
        number += 1
        if len(raw) > LONGEST:
            raise InputError(f"a line of over {LONGEST >> 20} MB: this is not a file of lines", path, number)
        text = _decoded(raw, path, number)
        piece.append(_text_of(text, path, number, key) if as_json else text)
        size += len(raw)
        if len(piece) == PIECE_LINES or size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if not number:
        raise InputError("is empty: there is no line to score", path)
    if piece:
        yield piece


def _decoded(raw: bytes, path: Path, number: int) -> str:
    if number == 1:
        if raw.startswith(OTHER_MARKS):
            raise InputError("is UTF-16: convert it to UTF-8 first", path)
        raw = raw.removeprefix(codecs.BOM_UTF8)
    if b"\0" in raw:
        raise InputError("holds NUL bytes: this is not a text file, or it is damaged", path, number)
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8: convert it first, as with iconv -f SHIFT_JIS -t UTF-8", path, number) from error


def _text_of(line: str, path: Path, number: int, key: str | None) -> str:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", path, number) from error
    if not isinstance(document, dict):
        raise InputError('is not an object with a text: {"text": "..."}', path, number)
    if key is None:
        key = TEXT if TEXT in document else Columns().completed(document).text or TEXT
    if not isinstance(document.get(key), str):
        there = ", ".join(map(repr, document)) or "nothing"
        raise InputError(
            f"is not an object with a text in '{key}', but has {there[:200]}: say --columns text=NAME", path, number
        )
    text = str(document[key])
    if "\0" in text:
        raise InputError("has a NUL character in its text: clean the file first", path, number)
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError("has half a character (a lone surrogate) in its text", path, number)
    return text


@dataclass(frozen=True, slots=True)
class FilePart:
    """Some lines of a file: bytes of a text file or rows of a Parquet file, up to `stop`, and the first one's number.

    `file` is called as it was asked for, `path` is where every worker finds it. `name` is the file of its scores: names
    are in the order of files and lines, and change with the lines, so that old scores are not taken for theirs.
    """

    name: str
    file: str
    path: str
    start: int
    stop: int
    first: int

    @classmethod
    def read(cls, text: str) -> FilePart:
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def matching(pattern: str) -> list[Path]:
    """The files that a pattern is meant for (** stands for folders in folders), by name."""
    if Path(pattern).is_file():  # also where its name has a bracket
        return [Path(pattern)]
    if Path(pattern).is_dir():
        raise InputError("is a folder: say which files in it, as with '*.parquet'", pattern)
    files = sorted(path for path in map(Path, glob(pattern, recursive=True)) if path.is_file())  # noqa: PTH207
    if not files:
        raise InputError("no such file", pattern)
    return files


def parts_of(files: Sequence[Path]) -> list[FilePart]:
    """All files are checked first, so that one that cannot be scored is reported before anything is."""
    parts: list[FilePart] = []
    for number, file in enumerate(files):
        stat = file.stat()
        for index, span in enumerate(_row_spans(file) if _is_parquet(file) else _line_spans(file)):
            key = json.dumps((str(file), stat.st_size, stat.st_mtime_ns, span.start, span.stop))
            name = f"part-{number:05}-{index:05}-{blake2b(key.encode(), digest_size=8).hexdigest()}.parquet"
            parts.append(FilePart(name, str(file), str(file.resolve()), span.start, span.stop, span.first))
    if not parts:
        raise InputError("is empty: there is no line to score", files[0])
    return parts


def texts_of(part: FilePart) -> Iterator[list[str]]:
    """A part's lines, some at a time."""
    path = Path(part.path)
    return _row_texts(path, part) if _is_parquet(path) else pieces(path, LineSpan(part.start, part.stop, part.first))


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _line_spans(path: Path) -> Iterator[LineSpan]:
    if is_table(path):  # a quoted cell may run over lines, so that it is read from its beginning
        yield LineSpan(0, path.stat().st_size, 1)
        return
    start = offset = since = 0
    first = 1
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == NEWLINE) + offset + 1
            for end in ends[PART_LINES - since - 1 :: PART_LINES].tolist():
                yield LineSpan(start, end, first)
                start, first = end, first + PART_LINES
            since = (since + len(ends)) % PART_LINES
            offset += len(block)
    if offset > start:
        yield LineSpan(start, offset, first)


def _row_spans(path: Path) -> Iterator[LineSpan]:
    with open_parquet(SourceFile(path)) as file:
        kind = dict(zip(file.schema_arrow.names, map(str, file.schema_arrow.types))).get(TEXT)
        if kind is None:
            raise InputError(f"has no column '{TEXT}', but {', '.join(file.schema_arrow.names)}", path)
        if "string" not in kind.split("<")[0] and not kind.startswith("dictionary<values=string"):
            raise InputError(f"has no text in its column '{TEXT}', but {kind}", path)
        rows = file.metadata.num_rows
    for start in range(0, rows, PART_LINES):
        yield LineSpan(start, min(start + PART_LINES, rows), start + 1)


def _row_texts(path: Path, part: FilePart) -> Iterator[list[str]]:
    with open_parquet(SourceFile(path)) as file:
        counts = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        ends = np.cumsum(counts)
        groups = np.flatnonzero((ends > part.start) & (ends - counts < part.stop)).tolist()
        row = int(ends[groups[0]]) - counts[groups[0]]
        for batch in file.iter_batches(PIECE_LINES, row_groups=groups, columns=[TEXT]):
            skipped = max(part.start - row, 0)
            wanted = batch.column(0)[skipped : max(part.stop - row, 0)]
            row += len(batch)
            if len(wanted):
                yield _texts(wanted, path, row - len(batch) + skipped + 1)


def _texts(column: Any, path: Path, first: int) -> list[str]:
    if column.null_count:
        raise InputError("has no text", path, first + column.is_null().to_pylist().index(True))
    try:
        texts: list[str] = column.to_pylist()
    except UnicodeDecodeError as error:
        raise InputError(f"has text that is not UTF-8 after row {first - 1}", path) from error
    return texts
