from __future__ import annotations

from pathlib import Path

from cliruns import Document, Run
from novel_texts import write_novels


def test_the_shipped_model_judges_other_novels(run: Run, document: Document, tmp_path: Path) -> None:
    folder = write_novels(tmp_path / "novels", ("Quay", "Orchard"))
    options = ("bench", "novels", "--data", folder, "--judge", folder, "--shipped")
    shown = run(*options, "-o", "novels.json").stdout
    assert "accuracy" in shown and "Quay" not in shown and Path("novels.json").is_file()
    saved = document(*options)
    assert {row["novel"] for row in saved["rows"]} == {"Quay", "Orchard", "all"}
    assert {row["kind"] for row in saved["rows"] if row["metric"] == "accuracy"} == {
        "explicit", "anaphoric", "implicit", "all"
    }  # fmt: skip
    assert saved["manifest"]["bench"] == "novels"


def test_the_shipped_model_is_not_judged_on_what_it_learned_from(run: Run, tmp_path: Path) -> None:
    refused = run("bench", "novels", "--data", tmp_path, "--shipped", status=2)
    assert "--judge" in refused.output
