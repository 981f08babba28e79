"""The list of ties, and how what is found is judged by it."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

from understudy.bench.people.ties import GOLD, rows

SCRIPT = """Scene: The kitchen.

Nora: Meet my brother Pavel.

Ivo: Hello.

Pavel: Nora is my sister. And this is my wife, Ada.

Ada: Hello. I'm Pavel's wife.
"""
OWN = """
[{show}]
cast = ["Nora", "Pavel", "Ada"]
[{show}.ties]
sibling = [["Nora", "Pavel"]]
spouse = [["Pavel", "Ada", 1]]
in-law = [["Nora", "Ada", 1]]
"""


def test_the_list_names_only_its_cast_and_no_tie_twice() -> None:
    gold = tomllib.loads(files("understudy").joinpath("bench", "people", GOLD).read_text(encoding="utf-8"))
    for show in gold.values():
        for table in (show["ties"], show["unsure"]):
            pairs = [(kind, frozenset(entry[:2])) for kind, entries in table.items() for entry in entries]
            assert len(pairs) == len(set(pairs))
            assert {name for _, pair in pairs for name in pair} <= set(show["cast"])
        sure = {(kind, frozenset(entry[:2])) for kind, entries in show["ties"].items() for entry in entries}
        assert not sure & {(kind, frozenset(e[:2])) for kind, entries in show["unsure"].items() for e in entries}


def test_shows_of_ones_own_are_judged_by_ones_own_list(tmp_path: Path) -> None:
    for show in ("harbour", "island"):
        folder = tmp_path / "tvshowguess" / "transcripts" / show
        folder.mkdir(parents=True)
        (folder / "01x01.txt").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / GOLD).write_text(OWN.format(show="harbour") + OWN.format(show="island"), encoding="utf-8")
    found = {
        (row["kinds"], row["metric"]): row["value"]
        for row in rows(tmp_path)
        if row["show"] == "all" and row["people"] == "all listed"
    }
    assert found["kin", "precision"] == found["kin", "recall"] == 1
    assert found["kin", "dated"] == 1
