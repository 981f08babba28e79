from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cliruns import Document, Run

ROWS = {
    "rows": [
        {"show": "Shore", "metric": "match", "value": 0.8125, "low": 0.8, "high": 0.825, "n": 7801, "paper": 0.511},
        {"show": "Quay", "metric": "match", "value": None, "reason": "no marks", "n": 0},
        {"show": "Quay", "metric": "files", "value": 12, "low": None, "high": None, "n": 12, "paper": None},
    ],
    "manifest": {"seed": 0},
}  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The bench is judged elsewhere; here, what the command asks it for."""
    asked: list[tuple[Any, ...]] = []
    bench = pytest.importorskip("understudy.bench.readers")

    def rows(*what: object) -> object:
        asked.append(what)
        return ROWS

    monkeypatch.setattr(bench, "bench_readers", rows)
    return asked


def test_rows_as_a_document_and_in_a_file(document: Document, asked: list[tuple[Any, ...]], tmp_path: Path) -> None:
    assert document("bench", "readers", "--data", tmp_path, "--limit", "5", "-o", "rows.json") == ROWS
    assert json.loads(Path("rows.json").read_text()) == ROWS
    assert asked == [(tmp_path, 5, 0)]


@pytest.mark.usefixtures("asked")
def test_rows_as_a_table_with_interval_and_reason(run: Run, tmp_path: Path) -> None:
    shown = run("bench", "readers", "--data", tmp_path).stdout
    for figure in ("0.8125", "0.8000..0.8250", "7,801", "0.511", "no marks"):
        assert figure in shown


def test_the_data_must_be_said_and_be_there(run: Run) -> None:
    run("bench", "readers", status=2)
    run("bench", "readers", "--data", "nowhere", status=2)
