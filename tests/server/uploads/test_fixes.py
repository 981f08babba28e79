"""Fixes as edits of a cast.toml: each does what it says, and what it writes reads back."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stories import CAST
from understudy.errors import InputError
from understudy.formats.story_folder import read_cast
from understudy.server.uploads.fixes import (
    AddAlias,
    CastFix,
    Merge,
    Profile,
    Rename,
    SetLanguage,
    SetTitle,
    SplitAlias,
    WriteCast,
    apply_fix,
)
from understudy.story.types import Character

PEOPLE = (
    Character("Ines Vale", ("Ines",), ("I keep the keys of the harbour.",)),
    Character("Tobias Rook", ("Tobias",)),
    Character("Mara Quill", ("Mara",)),
    Character("Rook"),
)


def characters(text: str) -> dict[str, list[str]]:
    return {table["name"]: table.get("aliases", []) for table in tomllib.loads(text).get("character", [])}


def test_a_new_name_keeps_the_old_one_as_an_alias() -> None:
    text, what = apply_fix(CAST, Rename("Ines Vale", "Inês Vale-Rook"), PEOPLE)
    assert characters(text)["Inês Vale-Rook"] == ["Ines", "Ines Vale"]
    assert what == "Renamed Ines Vale to Inês Vale-Rook"


def test_somebody_the_reader_found_is_declared_when_renamed() -> None:
    text, _ = apply_fix("", Rename("Mara Quill", "Mara Q."), PEOPLE)
    assert characters(text) == {"Mara Q.": ["Mara", "Mara Quill"]}


def test_two_become_one_with_all_their_names_and_what_is_said_of_them() -> None:
    text, what = apply_fix(CAST, Merge("Mara Quill", "Tobias Rook"), PEOPLE)
    assert characters(text) == {"Ines Vale": ["Ines"], "Tobias Rook": ["Tobias", "Mara Quill", "Mara"]}
    assert what == "Merged Mara Quill into Tobias Rook"
    text, _ = apply_fix(CAST, Merge("Ines Vale", "Mara Quill"), PEOPLE)
    (merged,) = (table for table in tomllib.loads(text)["character"] if table["name"] == "Mara Quill")
    assert merged["profile"] == ["I keep the keys of the harbour."]


def test_an_alias_is_added_once() -> None:
    text, _ = apply_fix(CAST, AddAlias("Tobias Rook", "Toby"), PEOPLE)
    assert characters(text)["Tobias Rook"] == ["Tobias", "Toby"]
    text, _ = apply_fix(text, AddAlias("Tobias Rook", "TOBY"), PEOPLE)
    assert characters(text)["Tobias Rook"] == ["Tobias", "TOBY"]


def test_an_alias_that_cast_toml_gives_is_taken_away() -> None:
    text, _ = apply_fix(CAST, SplitAlias("Tobias Rook", "Tobias"), PEOPLE)
    assert characters(text)["Tobias Rook"] == []


def test_an_alias_that_the_reader_gave_becomes_somebody() -> None:
    text, what = apply_fix("", SplitAlias("Tobias Rook", "Tobias"), PEOPLE)
    assert characters(text) == {"Tobias Rook": [], "Tobias": []}
    assert what == "Tobias is not Tobias Rook"


def test_title_language_and_profile() -> None:
    text = CAST
    for fix in (
        SetTitle(" The \x00 Iron\nKey "),
        SetLanguage("ja"),
        Profile("Mara Quill", ["I read.", " ", "I wait."]),
    ):
        text, _ = apply_fix(text, fix, PEOPLE)
    document = tomllib.loads(text)
    assert (document["title"], document["language"]) == ("The Iron Key", "ja")
    assert document["character"][2]["profile"] == ["I read.", "I wait."]


def test_what_is_written_by_hand_is_kept_as_it_is() -> None:
    assert apply_fix(CAST, WriteCast("# mine\n"), PEOPLE) == ("# mine\n", "Wrote cast.toml")


@pytest.mark.parametrize(
    ("fix", "message"),
    [
        (Rename("Nobody", "Somebody"), "nobody in this story is called 'Nobody'"),
        (Rename("Mara Quill", "tobias"), "'tobias' is a name of Tobias Rook: merge"),
        (Rename("Mara Quill", " \n"), "a name is a text of 1 to 200"),
        (Rename("Mara Quill", "x" * 201), "a name is a text of 1 to 200"),
        (AddAlias("Mara Quill", "ROOK"), "'ROOK' is a name of Rook: merge"),
        (Merge("Mara Quill", "Mara Quill"), "cannot be merged with themselves"),
        (SplitAlias("Mara Quill", "Toby"), "is not called 'Toby'"),
        (SetLanguage("tlh"), "not one of"),
        (WriteCast("x" * 1_000_001), "longer than"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(fix: CastFix, message: str) -> None:
    with pytest.raises(InputError, match=message):
        apply_fix(CAST, fix, PEOPLE)


BLANKS = st.text(" \t\n\u3000", max_size=2)
PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=26)
NAMES = st.tuples(BLANKS, PRINTABLE.filter(str.strip), BLANKS).map("".join)


@given(st.lists(st.one_of(st.builds(SetTitle, NAMES), st.builds(Profile, st.just("Mara Quill"), st.lists(NAMES)))))
def test_whatever_is_written_reads_back_with_everything_else(
    tmp_path_factory: pytest.TempPathFactory, fixes: list[CastFix]
) -> None:
    text = CAST
    for fix in fixes:
        text, _ = apply_fix(text, fix, PEOPLE)
    path = tmp_path_factory.mktemp("cast") / "cast.toml"
    path.write_text(text, encoding="utf-8")
    before = Path(path.with_name("before.toml"))
    before.write_text(CAST, encoding="utf-8")
    levels = ("act", "scene", "line")
    read, expected = read_cast(path, levels), read_cast(before, levels)
    assert [fact for _, fact in read.facts] == [fact for _, fact in expected.facts]
    assert [(tie.of, tie.to, tie.level) for _, tie in read.relations] == [
        (tie.of, tie.to, tie.level) for _, tie in expected.relations
    ]
    assert [character.name for _, character in read.characters] == [
        character.name for _, character in expected.characters
    ]
