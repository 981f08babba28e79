from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Document = Callable[..., Any]


def test_the_cast_with_how_much_and_when(document: Document, story: Path) -> None:
    assert document("cast", story)["cast"] == [
        {"name": "Ines Vale", "aliases": ["Ines"], "lines": 5, "first": "1.1.2", "last": "2.2.3"},
        {"name": "Tobias Rook", "aliases": ["Tobias"], "lines": 4, "first": "1.1.3", "last": "2.2.2"},
        {"name": "Mara Quill", "aliases": ["Mara"], "lines": 1, "first": "1.2.2", "last": "1.2.2"},
    ]


def test_the_cast_before_a_moment_says_nothing_of_later_lines(document: Document, story: Path) -> None:
    before = document("cast", story, "--at", "1.2.2")["cast"]
    assert [(member["name"], member["lines"], member["last"]) for member in before] == [
        ("Ines Vale", 2, "1.1.4"),
        ("Tobias Rook", 2, "1.2.1"),
    ]


def test_who_speaks_most_has_the_longest_bar(run: Run, story: Path) -> None:
    shown = run("cast", story).stdout
    bars = {
        name: line.count("█") for line in shown.splitlines() for name in ("Ines Vale", "Mara Quill") if name in line
    }
    assert bars["Ines Vale"] > bars["Mara Quill"] > 0


def test_numbers_are_kept_whole_where_names_are_many_and_long(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "long.txt"
    names = [f"Count Number {number} of the Long Marsh" for number in range(3)]
    script.write_text("# season 12\n## scene 1234\n" + "".join(f"{name}: Good day.\n" for name in names * 400))
    shown = run("cast", script).stdout
    assert shown.count(" 400 ") == 3
    assert "12.1234.1198" in shown
    assert max(map(len, shown.splitlines())) <= 80
