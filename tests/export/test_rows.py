"""Rows hold every line of a story, in order, whichever the format."""

from __future__ import annotations

import io
import json
from pathlib import Path

from understudy.export import export_jsonl, export_parquet
from understudy.readers import read


def test_json_lines_hold_every_line_in_order() -> None:
    story = read("demo-zh")
    stream = io.StringIO()
    count = export_jsonl(story, stream)
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert count == len(rows) == story.count()[1]
    assert set(rows[0]) == {"moment", "scene", "speaker", "text", "source"}
    expected = [(line.moment.dotted, line.speaker, line.text) for scene in story.scenes() for line in scene.lines]
    assert [(row["moment"], row["speaker"], row["text"]) for row in rows] == expected
    assert rows[1]["source"].startswith("act-1.txt:")


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    import pyarrow.parquet

    story = read("demo-zh")
    export_parquet(story, tmp_path / "out.parquet")
    stream = io.StringIO()
    export_jsonl(story, stream)
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.to_pylist() == [json.loads(line) for line in stream.getvalue().splitlines()]
