from __future__ import annotations

from pathlib import Path

from cliruns import Document, Run
from measured import chat, volunteers


def judged(folder: Path) -> Path:
    chats = [chat(n, talks=n % 3 != 0, score=1 + n % 5, match=int(n % 3 != 0), turns=1 + n % 5) for n in range(40)]
    volunteers(folder, chats)
    return folder


def test_a_table_a_report_and_a_document(run: Run, document: Document, tmp_path: Path) -> None:
    data = judged(tmp_path / "data")
    command = ("bench", "judged-chats", "--data", data, "--scorers", "words")
    shown = run(*command, "--report", "out.html", "--items", "items.json", "-o", "out.json").stdout
    for said in ("r_s with the score", "turns", "both talk", "Which of two profiles", "people", "after Holm"):
        assert said in shown, said
    page = Path("out.html").read_text(encoding="utf-8")
    assert "Agreement with people" in page and "<circle" in page
    rows = document(*command)["rows"]
    assert {row["metric"] for row in rows} == {"spearman", "accuracy", "auc"}
    assert {"metric", "value", "low", "high", "n", "paper"} <= set(rows[0])
    moved = document("compare", "items.json", "items.json")
    assert all(row["value"] == 0 for row in moved["rows"])


def test_a_model_adds_perplexity(run: Run, document: Document, tmp_path: Path) -> None:
    Path("talker.py").write_text(
        "class Talker:\n"
        "    def reply(self, situation, history): raise NotImplementedError\n"
        "    def log_probs(self, situation, history, text): return [-1.0] * len(text.split())\n"
    )
    data = judged(tmp_path / "data")
    rows = document("bench", "judged-chats", "--data", data, "--scorers", "words", "--model", "talker:Talker")["rows"]
    assert any(row.get("measure") == "perplexity" for row in rows)
    mute = ("bench", "judged-chats", "--data", data, "--model", "judged:baker")
    assert "no log-probabilities" in run(*mute, status=1).stderr


def test_what_is_missing_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "volunteers" in run("bench", "judged-chats", "--data", tmp_path / "empty", status=1).stderr
