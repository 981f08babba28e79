from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Document = Callable[..., Any]


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
