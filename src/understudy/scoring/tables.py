"""Scores as Parquet: a row for each line, in order.

    file, line, text, a column for each metric (null where a score is missing), reasons (a text for each metric)

Beside the rows stands a tally, from which means are had without reading them again.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from understudy.metrics.measure import LineMetric
from understudy.scoring.parts import Part, texts_of

__all__ = ["PARTIAL", "Tally", "join", "note_of", "tally_of", "write_part"]

NOTE, TALLY = b"understudy", b"understudy.tally"
GROUP_BYTES = 64 << 20  # after which rows are written, however few they are
PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many lines, and of each metric the sum of its values and how many lines have none."""

    count: int
    sums: Mapping[str, float]
    missing: Mapping[str, int]

    @classmethod
    def total(cls, tallies: Sequence[Tally]) -> Tally:
        names = tallies[0].sums
        return cls(
            sum(one.count for one in tallies),
            {name: sum(one.sums[name] for one in tallies) for name in names},
            {name: sum(one.missing[name] for one in tallies) for name in names},
        )

    def document(self) -> dict[str, Any]:
        """Of each metric the mean of those that have a value, and how many have none."""
        scored = {name: self.count - missing for name, missing in self.missing.items()}
        return {
            name: {"mean": total / scored[name] if scored[name] else None, "missing": self.missing[name]}
            for name, total in self.sums.items()
        }


def write_part(part: Part, metrics: Sequence[LineMetric], why: bool, folder: Path) -> None:
    """Scores the lines of a part; its file is there when all of them are in it, and never before."""
    schema = _schema([metric.name for metric in metrics])
    sums = {metric.name: 0.0 for metric in metrics}
    missing = dict.fromkeys(sums, 0)
    with _put_in_place(folder / part.name, schema) as writer:
        held: list[pa.Table] = []
        line = part.first
        for texts in texts_of(part):
            table = _table(texts, part.file, line, metrics, why, schema)
            line += len(texts)
            for name in sums:
                missing[name] += table[name].null_count
                sums[name] += float(np.nansum(table[name].to_numpy()))
            held.append(table)
            if sum(one.nbytes for one in held) > GROUP_BYTES:
                writer.write_table(pa.concat_tables(held))
                held = []
        if held:
            writer.write_table(pa.concat_tables(held))
        writer.add_key_value_metadata({TALLY: json.dumps(asdict(Tally(line - part.first, sums, missing)))})


def tally_of(path: Path) -> Tally:
    return Tally(**json.loads(parquet.read_metadata(path).metadata[TALLY]))


def note_of(path: Path) -> str | None:
    """What `join` was told to write beside the rows; None where the file is not one of ours."""
    try:
        found = (parquet.read_metadata(path).metadata or {}).get(NOTE)
    except pa.ArrowInvalid:
        return None
    return None if found is None else str(found, "utf-8")


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
    told = [
        [metric.reason(lines, place, value) if why or value != value else None for place, value in enumerate(found)]
        for metric, found in zip(metrics, (one.tolist() for one in values))
    ]
    untold = np.logical_and.reduce([[reason is None for reason in reasons] for reasons in told])
    reasons = pa.StructArray.from_arrays(
        [pa.array(one, pa.string()) for one in told], fields=list(schema.field("reasons").type), mask=pa.array(untold)
    )
    return pa.Table.from_arrays(
        [
            pa.repeat(file, len(texts)),
            pa.array(np.arange(first, first + len(texts))),
            pa.array(texts, pa.string()),
            *(pa.array(found, from_pandas=True) for found in values),  # NaN becomes null
            reasons,
        ],
        schema=schema,
    )
