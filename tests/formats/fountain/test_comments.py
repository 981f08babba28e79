from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.fountain.comments import BONEYARD, NOTE, ScriptLine, UnclosedBoneyard, script_lines
from understudy.formats.screenplay import ScreenplayElement


def cut(text: str) -> tuple[list[str], list[tuple[str, str, int]]]:
    """(lines that are left, what was cut out with its reason and units); nothing may be lost."""
    items = list(script_lines(enumerate(text.split("\n"), 1)))
    lines = [item for item in items if isinstance(item, ScriptLine)]
    comments = [item for item in items if isinstance(item, ScreenplayElement)]
    assert sum(item.units for item in items) == sum(bool(line.strip()) for line in text.split("\n"))
    return [line.text for line in lines], [(item.text, item.key, item.units) for item in comments]


def test_a_boneyard_leaves_an_empty_line_where_it_took_one() -> None:
    left, comments = cut("CUT TO:\n/*\nBRICK\n\n*/\nEXT. YARD")
    assert left == ["CUT TO:", "", "", "", "", "EXT. YARD"]
    assert comments == [("", BONEYARD, 1), ("BRICK", BONEYARD, 1), ("", BONEYARD, 1)]


def test_boneyards_within_a_line() -> None:
    assert cut("He /* she */ goes /* or\nnot */ away.") == (
        ["He  goes ", " away."],
        [("she   or", BONEYARD, 0), ("not", BONEYARD, 0)],
    )


def test_a_boneyard_without_an_end_says_where_it_began() -> None:
    with pytest.raises(UnclosedBoneyard, match="never closed") as caught:
        cut("one\ntwo /* three\nfour")
    assert caught.value.line == 2


def test_notes_within_a_line_and_over_several() -> None:
    assert cut("JACK[[Or Jim?]] drinks.") == (["JACK drinks."], [("Or Jim?", NOTE, 0)])
    assert cut("He waits.[[Why?\nNo idea.\n  \nReally.]] He goes.") == (
        ["He waits. He goes."],
        [("Why? No idea. Really.", NOTE, 1)],
    )


def test_a_line_that_is_all_note_is_not_there() -> None:
    assert cut("BOB\n[[Softer?]]\nHello.") == (["BOB", "Hello."], [("Softer?", NOTE, 1)])
    assert cut("[[one]][[two\n]]") == ([], [("one", NOTE, 2), ("two", NOTE, 0)])


def test_a_note_does_not_go_over_an_empty_line() -> None:
    assert cut("One [[two\n\nthree]] four") == (["One [[two", "", "three]] four"], [])
    assert cut("One [[two [[three") == (["One [[two [[three"], [])


@given(st.text("[]/*a \n", max_size=60))
def test_every_line_is_accounted_for(text: str) -> None:
    try:
        cut(text)
    except UnclosedBoneyard as error:
        assert 1 <= error.line <= text.count("\n") + 1


@pytest.mark.parametrize("text", ["[[" * 200_000, "[[a\n" * 20_000, "[[]" * 100_000, "/**/" * 100_000])
def test_a_long_text_of_marks_does_not_hang(text: str) -> None:
    before = time.process_time()
    cut(text)
    assert time.process_time() - before < 10  # forty times what is needed
