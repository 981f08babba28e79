"""Scores as Parquet: a folder of parts, or one file that is joined when all its parts are there.

    file, line, text, a column for each metric (null where a score is missing), reasons (a text for each metric)

A row for each line, in order; sums are in the metadata, so that means need no second pass. A stopped run resumes with
the parts that are missing; its request is stored beside them (in `_run.json`, or in the one file), so that runs are
never mixed. Parts of a file that has changed since are scored again.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from understudy.errors import InputError, UnderstudyError
from understudy.language import import_library
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.scoring import Tally
from understudy.metrics.scoring.engine import ScoringRequest
from understudy.metrics.scoring.inputs import STOP, FilePart, texts_of

if TYPE_CHECKING:
    import daft
else:
    daft = import_library("daft")


NOTE, TALLY = b"understudy", b"understudy.tally"
GROUP_BYTES = 64 << 20  # after which rows are written, however few they are
PARTIAL = ".partial"

RUN = "_run.json"
FORCE = "say --force to begin anew, or -o for another place"


def write_part(part: FilePart, metrics: Sequence[LineMetric], why: bool, folder: Path) -> None:
    """Scores the lines of a part; its file is there when all of them are in it, and never before."""
    schema = _schema([metric.name for metric in metrics])
    sums = {metric.name: 0.0 for metric in metrics}
    missing = dict.fromkeys(sums, 0)
    with _put_in_place(folder / part.name, schema) as writer:
        tables: list[pa.Table] = []
        line = part.first
        for texts in texts_of(part):
            table = _table(texts, part.file, line, metrics, why, schema)
            line += len(texts)
            for name in sums:
                missing[name] += table[name].null_count
                sums[name] += float(np.nansum(table[name].to_numpy()))
            tables.append(table)
            if sum(table.nbytes for table in tables) > GROUP_BYTES:
                writer.write_table(pa.concat_tables(tables))
                tables = []
        if tables:
            writer.write_table(pa.concat_tables(tables))
        writer.add_key_value_metadata({TALLY: json.dumps(asdict(Tally(line - part.first, sums, missing)))})


def tally_of(path: Path) -> Tally:
    return Tally(**json.loads(parquet.read_metadata(path).metadata[TALLY]))


def note_of(path: Path) -> str | None:
    """The note that `join` stored in the metadata; None where the file is not one of ours."""
    try:
        note = (parquet.read_metadata(path).metadata or {}).get(NOTE)
    except pa.ArrowInvalid:
        return None
    return None if note is None else str(note, "utf-8")


def join(paths: Sequence[Path], whole: Path, note: str) -> None:
    """One file from many, a group of rows at a time."""
    with _put_in_place(whole, parquet.read_schema(paths[0])) as writer:
        for path in paths:
            with parquet.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    writer.write_table(file.read_row_group(group))
        tally = Tally.total([tally_of(path) for path in paths])
        writer.add_key_value_metadata({NOTE: note, TALLY: json.dumps(asdict(tally))})


@contextmanager
def _put_in_place(path: Path, schema: pa.Schema) -> Iterator[Any]:
    """A Parquet file that goes by another name, with its writer's in it, until it is whole."""
    partial = path.with_name(f".{path.name}.{platform.node()}-{os.getpid()}{PARTIAL}")
    try:
        with parquet.ParquetWriter(partial, schema) as writer:
            yield writer
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _schema(names: Iterable[str]) -> pa.Schema:
    metrics = [pa.field(name, pa.float64()) for name in names]
    reasons = pa.struct([pa.field(metric.name, pa.string()) for metric in metrics])
    return pa.schema(
        [("file", pa.string()), ("line", pa.int64()), ("text", pa.string()), *metrics, ("reasons", reasons)]
    )


def _table(
    texts: list[str], file: str, first: int, metrics: Sequence[LineMetric], why: bool, schema: pa.Schema
) -> pa.Table:
    lines = metrics[0].samples.tokenize(texts)
    values = [metric.values(lines) for metric in metrics]
    reasons = [
        [metric.reason(lines, index, value) if why or value != value else None for index, value in enumerate(column)]
        for metric, column in zip(metrics, (texts_of_metric.tolist() for texts_of_metric in values))
    ]
    unexplained = np.logical_and.reduce([[reason is None for reason in struct] for struct in reasons])
    struct = pa.StructArray.from_arrays(
        [pa.array(texts_of_metric, pa.string()) for texts_of_metric in reasons],
        fields=list(schema.field("reasons").type),
        mask=pa.array(unexplained),
    )
    return pa.Table.from_arrays(
        [
            pa.repeat(file, len(texts)),
            pa.array(np.arange(first, first + len(texts))),
            pa.array(texts, pa.string()),
            *(pa.array(column, from_pandas=True) for column in values),  # NaN becomes null
            struct,
        ],
        schema=schema,
    )


class Output:
    """`run` is what was asked for, as a document: two runs that differ in it cannot share an output."""

    def __init__(self, path: Path, run: dict[str, Any], parts: Sequence[FilePart], force: bool = False) -> None:
        self.path, self._names = path, [part.name for part in parts]
        self._parts = parts
        self._run: dict[str, Any] = json.loads(json.dumps(run))
        self._one_file = path.suffix.lower() == ".parquet"
        if self._one_file and path.is_dir():
            raise InputError("is a folder: name a new file, or a folder not called .parquet", path)
        if not self._one_file and path.is_file():
            raise InputError("is a file: name a folder, or a file that ends in .parquet", path)
        self.folder = (path.with_name(f"{path.name}.parts") if self._one_file else path).resolve()
        if force:
            self._clear()
        self._finished = self._one_file and path.exists()
        if self._finished:
            self._must_agree(note_of(path), {**self._run, "lines": self._lines()}, path)
        else:
            self._begin()

    def lacking(self) -> list[FilePart]:
        """The parts that are still to be scored, in order."""
        there = set(self._names) if self._finished else {path.name for path in self.folder.iterdir()}
        return [part for part in self._parts if part.name not in there]

    def finish(self) -> Tally:
        """Puts one file together, where one was wanted; says what is in it."""
        if self._finished:
            return tally_of(self.path)
        paths = [self.folder / name for name in self._names]
        for left in set(self._ours()).difference(paths):  # by workers that were killed, or of lines changed since
            left.unlink()
        if self._one_file:
            join(paths, self.path, json.dumps({**self._run, "lines": self._lines()}, ensure_ascii=False))
            shutil.rmtree(self.folder)
            return tally_of(self.path)
        return Tally.total([tally_of(path) for path in paths])

    def _lines(self) -> str:
        """Changes with any line; of the parts' names alone, so that millions of lines make no long note."""
        return blake2b(" ".join(self._names).encode(), digest_size=16).hexdigest()

    def _begin(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        run = self.folder / RUN
        if run.exists():
            self._must_agree(run.read_text(encoding="utf-8"), self._run, self.folder)
        elif any(self.folder.iterdir()):
            raise InputError("is a folder with something else in it: say -o for another place", self.folder)
        else:
            partial = self.folder / f".{RUN}{PARTIAL}"
            partial.write_text(json.dumps(self._run, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            os.replace(partial, run)

    def _clear(self) -> None:
        """Only what is ours goes."""
        if self._one_file:
            self.path.unlink(missing_ok=True)
        if (self.folder / RUN).exists():
            for path in (*self._ours(), self.folder / RUN):
                path.unlink()

    def _ours(self) -> Iterator[Path]:
        yield from self.folder.glob("part-*.parquet")
        yield from self.folder.glob(f".*{PARTIAL}")

    @staticmethod
    def _must_agree(note: str | None, run: dict[str, Any], path: Path) -> None:
        try:
            written = json.loads(note or "null")
        except ValueError:
            written = None
        if not isinstance(written, dict):
            raise InputError(f"is there already and holds something else: {FORCE}", path)
        differing = [key for key, value in run.items() if written.get(key) != value]
        if differing:
            raise InputError(f"was written with other {', '.join(differing)}: {FORCE}", path)


class Worker:
    """A process that scores parts, and makes its metrics once, from the request.

    It writes scores straight into the folder and returns error messages, empty where nothing went wrong.
    """

    def __init__(self, request: str, folder: str) -> None:
        self._request, self._folder = ScoringRequest.read(request), Path(folder)
        self._metrics: list[LineMetric] = []
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it says when to stop

    @daft.method.batch(return_dtype=daft.DataType.string(), batch_size=1)
    def score(self, parts: daft.Series) -> list[str]:
        return [self._scored(FilePart.read(part)) for part in parts.to_pylist()]

    def _scored(self, part: FilePart) -> str:
        if (self._folder / STOP).exists():
            return ""
        try:
            self._metrics = self._metrics or self._request.build_metrics()
            write_part(part, self._metrics, self._request.why, self._folder)
        except UnderstudyError as error:
            return str(error)
        except OSError as error:
            return f"{error} (on {platform.node()}: every worker must find the story and the lines, and write scores)"
        return ""
