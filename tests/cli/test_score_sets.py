"""`understudy score` with metrics that judge all lines together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cliruns import Document, Run
from understudy.formats import read
from understudy.metrics import Samples, persona_accuracy, personality_classification_accuracy

LINES = ["I keep the arrivals page.", "", "The tide is out.", "Who wrote it?", "Strike the bell twice.", "   ", "Zero."]
PERSONALITY, PERSONA = "personality_classification_accuracy", "persona_accuracy"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join([*LINES, ""]), encoding="utf-8")
    return path


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "labelled.jsonl"
    told = [
        ("the tide and the bell", True),
        ("the bell is mine", True),
        ("who is it", False),
        ("zero is a number", False),
    ]
    path.write_text("".join(json.dumps({"text": text, "fit": fit}) + "\n" for text, fit in told))
    return path


@pytest.mark.parametrize("piece", [2, 4096])
def test_the_share_is_that_of_the_whole_set(
    document: Document, lines: Path, labelled: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr("understudy.metrics.scoring.inputs.PIECE_LINES", piece)
    asked = ("score", lines, "--story", "demo", "--as", "Zita", "--at", "2.3")
    found = document(*asked, "--metrics", f"{PERSONALITY},{PERSONA}", "--labelled", labelled)
    wanted = (
        personality_classification_accuracy(Samples.of_story(read("demo"), "2.3"), "Zita Karst")(LINES),
        persona_accuracy(["the tide and the bell", "the bell is mine"], ["who is it", "zero is a number"])(LINES),
    )
    assert found["sets"] == {score.name: {"value": score.value, "reason": score.reason} for score in wanted}
    assert found["count"] == len(LINES) and found["summary"] == {} and "lines" not in found
    assert " of 5 lines" in found["sets"][PERSONA]["reason"]


def test_together_with_metrics_of_single_lines(run: Run, document: Document, lines: Path) -> None:
    asked = ("score", lines, "--story", "demo", "--as", "Zita", "--metrics", f"maxbleu,{PERSONALITY}")
    found = document(*asked)
    assert (
        len(found["lines"]) == len(LINES)
        and set(found["summary"]) == {"maxbleu"}
        and set(found["sets"]) == {PERSONALITY}
    )
    shown = run(*asked).stdout
    assert PERSONALITY in shown and "by chance" in shown and "maxbleu" in shown
    written = document(*asked, "-o", "scores.jsonl")
    assert written["sets"] == found["sets"]
    assert set(json.loads(Path("scores.jsonl").read_text().splitlines()[0])["scores"]) == {"maxbleu"}


def test_from_a_pipe_where_it_is_read_once(document: Document, run: Run, lines: Path) -> None:
    asked = ("score", "-", "--story", "demo", "--as", "Zita", "--metrics")
    found = document(*asked, PERSONALITY, stdin=lines.read_text())
    assert found["sets"] == document("score", lines, *asked[2:], PERSONALITY)["sets"]
    assert "read twice" in run(*asked, f"{PERSONALITY},maxbleu", stdin=lines.read_text(), status=1).stderr


def test_missing_evidence_is_said(document: Document, lines: Path, tmp_path: Path) -> None:
    asked = ("score", lines, "--story", "demo", "--as", "Zita", "--metrics", PERSONALITY)
    first = document(*asked, "--at", "start")["sets"][PERSONALITY]
    assert first["value"] is None and "no sample lines" in first["reason"]
    blank = tmp_path / "blank.txt"
    blank.write_text("\n\n")
    assert document("score", blank, *asked[2:])["sets"][PERSONALITY] == {"value": None, "reason": "no line has words"}


@pytest.mark.parametrize(
    ("told", "status", "said"),
    [
        (["--metrics", PERSONA], 2, "--labelled and --metrics persona_accuracy go together"),
        (["--metrics", "psprob", "--labelled", "labelled.jsonl"], 2, "go together"),
        (["--metrics", PERSONALITY, "-o", "out.jsonl"], 2, "leave -o out"),
        (["--metrics", PERSONALITY, "--engine", "daft", "-o", "out.parquet"], 2, "leave --engine daft out"),
        (["--metrics", PERSONA, "--labelled", "one-kind.jsonl"], 1, "both kinds"),
        (["--metrics", PERSONA, "--labelled", "nowhere.jsonl"], 1, "nowhere.jsonl"),
        (["--metrics", "psprob", "--model", "x"], 2, "--model is what uppl asks"),
    ],
)
def test_what_is_asked_for_wrongly(run: Run, lines: Path, told: list[str], status: int, said: str) -> None:
    Path("one-kind.jsonl").write_text('{"text": "the tide", "fit": true}\n')
    assert said in run("score", lines, "--story", "demo", "--as", "Zita", *told, status=status).stderr
