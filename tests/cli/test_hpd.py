from __future__ import annotations

from pathlib import Path

import pytest

import hpdsessions
from cliruns import Document, Run
from understudy.papers.hpd import bench as hpd_bench
from understudy.papers.hpd.features import SHARED_WORDS
from understudy.papers.hpd.own_text import OWN_TEXT


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(hpd_bench, "feature_groups", lambda: [OWN_TEXT, SHARED_WORDS])
    monkeypatch.setattr(hpd_bench, "open_reranked", lambda _cache: "no reranker in this test")
    return hpdsessions.folder(tmp_path / "hpd")


def test_a_table_a_report_and_items(run: Run, data: Path) -> None:
    arguments = ("--agents", "tfidf,fitted", "--given", "dialogue,dialogue+scene", "--report", "r.html")
    shown = run("bench", "hpd", "--data", data, *arguments, "--items", "i.json").stdout
    assert "en_test_set.json" in shown and "zh_test_set.json" in shown
    assert "candidates" in shown and "dialogue+sce" in shown and "BERT-FP" in shown
    assert "what the parts add" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "dialogue+scene" in Path("r.html").read_text(encoding="utf-8")
    assert "r10@5" in Path("i.json").read_text(encoding="utf-8")


def test_a_document(document: Document, data: Path) -> None:
    saved = document("bench", "hpd", "--data", data, "--agent", "fitted", "--given", "dialogue", "--limit", "6")
    rows = [row for row in saved["rows"] if row.get("file") == "en_test_set.json" and row["metric"] == "r10@1"]
    assert [(row["agent"], row["given"], row["n"]) for row in rows] == [
        ("fitted", "candidates", 6),
        ("fitted", "dialogue", 6),
    ]
    assert saved["manifest"]["bench"] == "hpd"


def test_generation_comes_with_a_report(run: Run, data: Path) -> None:
    (data / "zh_test_set.json").unlink()
    arguments = ("--agents", "judged:Chimes,judged:Baker", "--given", "dialogue", "--generation", "--report", "r.html")
    shown = run("bench", "hpd", "--data", data, *arguments).stdout
    assert "perplexity" in shown
    page = Path("r.html").read_text(encoding="utf-8")
    assert "in their own words" in page
    for model, *figures in (("GPT-2", "18.3", "3.34"), ("Per-BOB", "2.41", "2.16"), ("Dialog-GPT", "37.8", "2.04")):
        told = [line for line in shown.splitlines() if model in line]
        assert all(any(figure in line for line in told) for figure in figures)
        assert all(f"paper {float(figure):.4f}"[:11] in page for figure in figures)
    assert max(map(len, shown.splitlines())) <= 80


def test_what_cannot_be_given_is_said(run: Run, data: Path) -> None:
    refused = run("bench", "hpd", "--data", data, "--agents", "tfidf", "--given", "weather", status=1)
    assert "'weather' cannot be given" in refused.output


def test_a_story_beside_hpd(run: Run, story: Path) -> None:
    shown = run("stats", story).stdout
    assert "The Brass Key" in shown
    rows = {" ".join(line.split()[:3]): line.split() for line in shown.splitlines() if line.strip()}
    assert rows["turns a dialogue"][3:] == ["2.5", "2..3", "13.8", "8.6"]
    assert rows["speakers a dialogue"][-2:] == ["2..20", "2..8"]
    assert max(map(len, shown.splitlines())) <= 80


def test_one_document(document: Document, story: Path) -> None:
    told = document("stats", story)
    assert told["utterances"] == 10
    assert told["paper"]["test"]["dialogues"] == 178
    assert [chapter["chapter"] for chapter in told["chapters"]] == ["1", "2"]


def test_many_chapters_are_cut_unless_wanted(run: Run, tmp_path: Path) -> None:
    chapters = "".join(f"# chapter {number}\n## scene 1: Here\nANN: Hi.\nBEN: Ho.\n" for number in range(1, 31))
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "script.txt").write_text(chapters, encoding="utf-8")
    (tmp_path / "long" / "cast.toml").write_text(
        '[[character]]\nname = "Ann"\n[[fact]]\nwho = "Ann"\nattribute = "age"\nvalue = "9"\nfrom = "1"\n',
        encoding="utf-8",
    )
    assert "6 more: --chapters" in run("stats", tmp_path / "long").stdout
    assert "more" not in run("stats", tmp_path / "long", "--chapters").stdout
