"""A story as a table, one row a line: JSON lines, or Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from understudy.errors import MissingExtra
from understudy.storyfile import Story

__all__ = ["export_jsonl", "export_parquet", "rows_of"]

BATCH_ROWS = 20_000


def rows_of(story: Story) -> Iterator[dict[str, str | None]]:
    """One row a line, in story order."""
    for scene in story.scenes():
        for line in scene.lines:
            yield {
                "moment": line.moment.dotted,
                "scene": scene.moment.dotted,
                "speaker": line.speaker,
                "text": line.text,
                "source": str(line.source),
            }


def export_jsonl(story: Story, stream: IO[str], ascii_only: bool = False) -> int:
    """`{moment, scene, speaker, text, source}`, one object a line; returns how many."""
    count = 0
    for row in rows_of(story):
        stream.write(json.dumps(row, ensure_ascii=ascii_only) + "\n")
        count += 1
    return count


def export_parquet(story: Story, path: Path) -> int:
    """The same columns as the JSON lines, in row groups, so that memory stays small."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("writing Parquet", "parquet") from error
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("moment", "scene", "speaker", "text", "source")])
    partial = path.with_name(f".{path.name}.partial")
    count = 0
    try:
        with pyarrow.parquet.ParquetWriter(partial, schema) as writer:
            batch: list[dict[str, Any]] = []
            for row in rows_of(story):
                batch.append(row)
                count += 1
                if len(batch) == BATCH_ROWS:
                    writer.write_table(pyarrow.Table.from_pylist(batch, schema))
                    batch.clear()
            writer.write_table(pyarrow.Table.from_pylist(batch, schema))
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return count
