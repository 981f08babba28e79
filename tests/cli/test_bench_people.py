from __future__ import annotations

from pathlib import Path

from cliruns import Document, Run


def test_a_table_and_a_document(run: Run, document: Document, tmp_path: Path) -> None:
    shown = run("bench", "people", "--data", tmp_path, "--task", "familiarity", "-o", "people.json").stdout
    assert "spearman" in shown and Path("people.json").is_file()
    saved = document("bench", "people", "--data", tmp_path, "--task", "familiarity,addressee")
    assert {row["task"] for row in saved["rows"]} == {"familiarity", "addressee"}
    absent = next(row for row in saved["rows"] if row["task"] == "addressee")
    assert absent["value"] is None and "pdnc" in absent["reason"]
    assert saved["manifest"]["bench"] == "people"


def test_a_task_that_is_not_there(run: Run, tmp_path: Path) -> None:
    refused = run("bench", "people", "--data", tmp_path, "--task", "addresee", status=1)
    assert "'addresee'" in refused.output and "addressee" in refused.output
