from __future__ import annotations

import pytest

from understudy.readers.transcript.boilerplate import is_boilerplate, is_credit, is_page_text, split_page_text


@pytest.mark.parametrize(
    "text",
    [
        "Opening Credits",
        "*Opening Credits*",
        "--- End ---",
        "THE END",
        "COMMERCIAL BREAK",
        "Commerical Break",
        "Credits sequence.",
        "[Cut to opening credits.]",
        "To be continued...",
        "Written by: Ann Archer",
        "Part II Transcribed by: Bob Baker & Cyril Cope",
        "Teleplay: Dora Dunn",
        "{Transcriber’s Note: the tide was really out.}",
        "https://harbour.example/viewtopic.php?t=1",
        "Powered by phpBB® Forum Software © phpBB Limited",
    ],
)
def test_what_is_no_part_of_the_story(text: str) -> None:
    assert is_boilerplate(text)


@pytest.mark.parametrize(
    "text", ["Tag: Good morning.", "In the end he left.", "The credits of the bank.", "Story hour!"]
)
def test_what_is(text: str) -> None:
    assert not is_boilerplate(text)


def test_credits_are_told_from_breaks() -> None:
    assert is_credit("Directed by: Ann")
    assert not is_credit("Opening Credits")


def test_page_matter_comes_off_the_text_it_sticks_to() -> None:
    pieces = split_page_text("So be it.Posted: 10/17/00 10:42ANN: Yes, it is 10:42.")
    assert pieces == ["So be it.", "Posted: 10/17/00 10:42", "ANN: Yes, it is 10:42."]
    assert [is_page_text(piece) for piece in pieces] == [False, True, False]
    assert split_page_text("Page 1 of 1ANN: Yes.All times are UTC-05:00") == [
        "Page 1 of 1",
        "ANN: Yes.",
        "All times are UTC-05:00",
    ]
    assert split_page_text("Ann: one of them.") == ["Ann: one of them."]
