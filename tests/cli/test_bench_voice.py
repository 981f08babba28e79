from __future__ import annotations

import json
from pathlib import Path

import pytest

import measured
from cliruns import Run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "judged"
    folder.mkdir()
    (folder / "novel.json").write_text(json.dumps(measured.novel(1, 30), ensure_ascii=False), encoding="utf-8")
    for name, document in (
        ("gonta.json", measured.judged("ゴンタ", each=6)),
        ("names.json", {"gonta.json": ["novel.json", "ゴンタ"]}),
    ):
        (folder / name).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return folder


def test_judged_lines_are_told_as_tables_a_document_and_a_report(run: Run, data: Path, tmp_path: Path) -> None:
    report = tmp_path / "out.html"
    shown = run("bench", "voice", "--data", data, "--judge", data, "--report", report)
    assert "r_s with people" in shown.stdout and "ゴンタ" in shown.stdout
    assert "*** p < .001, ** p < .01, * p < .05 after Holm" in " ".join(shown.stdout.split())
    assert "by character: voice" in shown.stdout and " to " in shown.stdout
    assert "Precision and recall" in report.read_text(encoding="utf-8")
    document = json.loads(run("bench", "voice", "--data", data, "--judge", data, "--json").stdout)
    assert {row["metric"] for row in document["rows"]} == {"spearman", "aupr", "precision", "recall", "uppl"}
    assert document["manifest"]["bench"] == "voice"


def test_it_says_what_is_missing(run: Run, data: Path) -> None:
    assert "--data DIR" in run("bench", "voice", status=2).stderr
    assert "--from" in run("bench", "voice", "--story", "demo", status=2).stderr
    assert "names.json" in run("bench", "voice", "--data", data, status=1).stderr
