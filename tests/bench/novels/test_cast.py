"""Figures of a cast, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import realdata
from quoted_prose import quoted_prose
from understudy.bench.novels.cast import AnnotatedCharacter, annotated_cast, cast_figures
from understudy.novels.cast import find_cast
from understudy.novels.prose import NovelCharacter


def annotated(name: str, *aliases: str, gender: str = "f", category: str = "major", **more: bool) -> AnnotatedCharacter:
    flags = {"is_narrator": False, "is_reviewed": True} | more
    return AnnotatedCharacter(name, frozenset((name, *aliases)), gender, category, **flags)


GOLD = [
    annotated("Ada Vane", "Ada", "Miss Vane"),
    annotated("Mr. Vane", "Vane", gender="m", category="intermediate"),
    annotated("Felix", gender="m", is_narrator=True),
    annotated("The Porter", gender="m", category="minor"),
    annotated("Marlow", is_reviewed=False, category="minor"),
]


def test_figures_of_a_cast() -> None:
    found = [
        NovelCharacter("Ada", ("Miss Vane",), "f"),
        NovelCharacter("ada vane", (), "m"),
        NovelCharacter("Mr Vane", ("Felix",), "m"),
        NovelCharacter("Narrator", (), "m", is_narrator=True),
        NovelCharacter("the porter"),
        NovelCharacter("Marlow"),
        NovelCharacter("Oxford"),
    ]
    figures = cast_figures(found, GOLD)
    assert figures.found == pytest.approx(2 / 3), "Ada and Felix; Mr. Vane shares somebody with Felix"
    assert figures.missed == ("Mr. Vane",)
    assert figures.found_minor == 1.0
    assert figures.pure == pytest.approx(4 / 5)
    assert figures.split == pytest.approx(1 / 3), "Ada is two of ours"
    assert figures.gender == pytest.approx(2 / 4)
    assert figures.somebody == pytest.approx(6 / 7)
    assert figures.size == 7


def test_an_annotated_cast_is_read(tmp_path: Path) -> None:
    rows = ["Character ID,Main Name,Aliases,Gender,Category", "0,Ada,\"{'Ada', '_narr'}\",F,major"]
    rows += ["1,_group,{'_group'},X,minor", "2,Marlow,['Marlow'],X,minor"]
    (tmp_path / "character_info.csv").write_text("\n".join(rows), encoding="utf-8")
    assert annotated_cast(tmp_path) == [
        AnnotatedCharacter("Ada", frozenset({"Ada"}), "f", "major", is_narrator=True, is_reviewed=True),
        AnnotatedCharacter("Marlow", frozenset({"Marlow"}), "", "minor", is_narrator=False, is_reviewed=False),
    ]


def test_the_people_of_a_real_novel_are_found() -> None:
    novel = realdata.folder("pdnc") / "Emma"
    text = (novel / "novel_text.txt").read_text(encoding="utf-8")
    figures = cast_figures(find_cast(quoted_prose(text)), annotated_cast(novel))
    assert figures.missed == ()
    assert figures.gender is not None and figures.gender > 0.95
