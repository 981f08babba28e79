from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Document = Callable[..., Any]


def test_who_she_is_at_a_moment(document: Document, story: Path) -> None:
    ines = document("persona", story, "Ines", "--at", "2.1")
    assert list(ines) == ["character", "moment", "profile", "attributes", "relations", "lines", "memory"]
    assert (ines["character"], ines["moment"]) == ("Ines Vale", "2.1")
    assert ines["profile"] == ["I keep the keys of the harbour."]
    assert ines["attributes"] == {}
    (tie,) = ines["relations"]
    assert (tie["to"], tie["kind"], tie["level"], tie["since"]) == ("Tobias Rook", "affection", -6, "2.1")
    assert "Tobias Rook" in tie["sentence"]
    assert [line["moment"] for line in ines["lines"]] == ["1.1.2", "1.1.4"]
    (scene,) = ines["memory"]
    assert (scene["moment"], scene["setting"]) == ("1.1", "The chandlery, noon")
    assert scene["present"] == ["Ines Vale", "Tobias Rook"]
    assert scene["lines"][1] == {
        "moment": "1.1.2",
        "speaker": "Ines Vale",
        "text": "The brass key was on its hook at noon, Tobias.",
    }


def test_an_attribute_is_there_as_long_as_it_holds(document: Document, story: Path) -> None:
    assert document("persona", story, "Ines", "--at", "1.1")["attributes"] == {"belongings": ["the brass key"]}


@pytest.mark.parametrize("form", [(), ("--json",), ("--facing", "Tobias"), ("--author",), ("--facing", "Mara")])
def test_nothing_later_and_nothing_unwitnessed_is_shown(run: Run, story: Path, form: tuple[str, ...]) -> None:
    shown = run("persona", story, "Ines", "--at", "2.1", *form).stdout
    for hidden in ("lighthouse", "sold", "coat", "+3", "2.2", "by his shoes"):
        assert hidden not in shown


def test_the_last_ones_are_kept(document: Document, story: Path) -> None:
    ines = document("persona", story, "Ines", "--last", "1")
    assert [line["text"] for line in ines["lines"]] == ["You must be cold, Tobias."]
    assert [scene["moment"] for scene in ines["memory"]] == ["2.2"]


def test_whom_she_faces_as_she_knows_them(document: Document, story: Path) -> None:
    faced = document("persona", story, "Ines", "--at", "2.1", "--facing", "Tobias")["facing"]
    assert faced["name"] == "Tobias Rook"
    assert [tie["level"] for tie in faced["relations"]] == [-6]


def test_what_others_feel_is_for_the_author_alone(document: Document, run: Run, story: Path) -> None:
    assert "felt_towards" not in document("persona", story, "Ines")
    (felt,) = document("persona", story, "Ines", "--author")["felt_towards"]
    assert (felt["of"], felt["to"], felt["level"]) == ("Tobias Rook", "Ines Vale", 9)
    assert "affection +9" not in run("persona", story, "Ines").stdout
    shown = run("persona", story, "Ines", "--author").stdout
    assert shown.index("does not know") < shown.index("affection +9")


def test_the_chart_shows_the_turn_and_fits_80_columns(run: Run, story: Path) -> None:
    shown = run("persona", story, "Ines", "--facing", "Tobias").stdout
    assert "Ines Vale's affection towards Tobias Rook, up to the end" in shown
    for level in ("┤── +7 ─", "└─ -6 ─", "┌─ +3 ─"):
        assert level in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_tie_that_never_moved_is_not_charted_unasked(run: Run, story: Path) -> None:
    assert "affection towards" not in run("persona", story, "Tobias").stdout
    assert "affection towards" in run("persona", story, "Tobias", "--facing", "Ines").stdout


def test_nobody_of_that_name(run: Run, story: Path) -> None:
    failed = run("persona", story, "Hugo", "--json", status=1)
    assert "nobody in 'The Brass Key' is called 'Hugo'" in failed.stderr
    assert failed.stdout == ""
