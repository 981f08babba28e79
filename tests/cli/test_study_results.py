"""`understudy study import` and `correlate`, from published files to figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cliruns import Document, Run
from measured import chat, volunteers


def test_scores_of_others_are_imported_once_and_correlated(run: Run, document: Document, tmp_path: Path) -> None:
    volunteers(tmp_path, [chat(n, score=1 + n % 5, match=n % 2, turns=1 + n % 5) for n in range(20)])
    store = tmp_path / "studies.db"
    assert "20 answers of 20 people" in run("study", "import", "volunteers", tmp_path, "--store", store).stdout
    run("study", "results", "volunteers", "--store", store, "-o", "answers.jsonl")
    scored = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    values = {row["item"]: -row["answer"]["engagingness"] for row in scored}
    Path("measures.json").write_text(json.dumps({"gloom": values | {"nobody": 3}, "few": {}}))

    command = ("study", "correlate", "answers.jsonl", "measures.json", "--question", "engagingness")
    shown = run(*command).stdout

    assert [row["value"] for row in document(*command)["rows"]] == [pytest.approx(-1)]
    assert all(said in shown for said in ("gloom", "-1.000", "<.001", "1 items have no answer"))


def test_a_source_that_is_not_known_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("study", "import", "elsewhere", tmp_path, status=1)

    assert "use tvshowguess, volunteers" in result.stderr
