"""Files of lines, cut into parts that are scored one by one and can each be scored again.

A part says where its lines are and how its result is called; parts come in the order of files and lines. Text files
are cut by counting line ends, Parquet files (lines in a column `text`) by counting rows: nothing is read for it twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from glob import glob
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import InputError, MissingExtra
from understudy.scoring.lines import PIECE_LINES, Span, pieces

__all__ = ["STOP", "Part", "matching", "parts_of", "texts_of"]

PART_LINES = 8 * PIECE_LINES
BLOCK = 1 << 22
NEWLINE = 10
TEXT = "text"
STOP = ".stop.partial"  # where this is, no worker begins another part


@dataclass(frozen=True, slots=True)
class Part:
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
    def read(cls, text: str) -> Part:
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def matching(pattern: str) -> list[Path]:
    """The files that a pattern is meant for (** stands for folders in folders), by name."""
    if Path(pattern).is_file():  # also where its name has a bracket
        return [Path(pattern)]
    if Path(pattern).is_dir():
        raise InputError("is a folder: say which files in it, as with '*.parquet'", pattern)
    found = sorted(path for path in map(Path, glob(pattern, recursive=True)) if path.is_file())  # noqa: PTH207
    if not found:
        raise InputError("no such file", pattern)
    return found


def parts_of(files: Sequence[Path]) -> list[Part]:
    """All files are looked at, so that one that cannot be scored is told before anything is."""
    parts: list[Part] = []
    for number, file in enumerate(files):
        stat = file.stat()
        for place, span in enumerate(_row_spans(file) if _is_parquet(file) else _line_spans(file)):
            told = json.dumps((str(file), stat.st_size, stat.st_mtime_ns, span.start, span.stop))
            name = f"part-{number:05}-{place:05}-{blake2b(told.encode(), digest_size=8).hexdigest()}.parquet"
            parts.append(Part(name, str(file), str(file.resolve()), span.start, span.stop, span.first))
    if not parts:
        raise InputError("is empty: there is no line to score", files[0])
    return parts


def texts_of(part: Part) -> Iterator[list[str]]:
    """A part's lines, some at a time."""
    path = Path(part.path)
    return _row_texts(path, part) if _is_parquet(path) else pieces(path, Span(part.start, part.stop, part.first))


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _line_spans(path: Path) -> Iterator[Span]:
    start = offset = since = 0
    first = 1
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == NEWLINE) + offset + 1
            for end in ends[PART_LINES - since - 1 :: PART_LINES].tolist():
                yield Span(start, end, first)
                start, first = end, first + PART_LINES
            since = (since + len(ends)) % PART_LINES
            offset += len(block)
    if offset > start:
        yield Span(start, offset, first)


def _row_spans(path: Path) -> Iterator[Span]:
    with _opened(path) as file:
        kind = dict(zip(file.schema_arrow.names, map(str, file.schema_arrow.types))).get(TEXT)
        if kind is None:
            raise InputError(f"has no column '{TEXT}', but {', '.join(file.schema_arrow.names)}", path)
        if "string" not in kind.split("<")[0] and not kind.startswith("dictionary<values=string"):
            raise InputError(f"has no text in its column '{TEXT}', but {kind}", path)
        rows = file.metadata.num_rows
    for start in range(0, rows, PART_LINES):
        yield Span(start, min(start + PART_LINES, rows), start + 1)


def _row_texts(path: Path, part: Part) -> Iterator[list[str]]:
    with _opened(path) as file:
        counts = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        ends = np.cumsum(counts)
        held = np.flatnonzero((ends > part.start) & (ends - counts < part.stop)).tolist()
        row = int(ends[held[0]]) - counts[held[0]]
        for batch in file.iter_batches(PIECE_LINES, row_groups=held, columns=[TEXT]):
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


def _opened(path: Path) -> Any:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtra("reading Parquet", "scale") from error
    try:
        return ParquetFile(path)
    except ArrowInvalid as error:
        raise InputError(f"is not a Parquet file ({error})", path) from error
