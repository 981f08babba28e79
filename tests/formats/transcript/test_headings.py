from __future__ import annotations

import pytest

from understudy.formats.transcript.headings import (
    is_bare_location,
    is_boilerplate,
    is_credit,
    is_cut,
    is_page_text,
    is_scene_mark,
    present,
    setting,
    split_page_text,
)


@pytest.mark.parametrize(
    "text",
    [
        "[Scene: The quay, Ann is there.]",
        "Scene: The quay.",
        "SCENE 3: THE QUAY",
        "Sceme: The quay.",
        "Scene The harbour office.",
        "(scene changes)",
        "[ New Scene ]",
        "[SCENE_BREAK]",
        "Act One, Scene Two - The quay",
    ],
)
def test_marked_scenes(text: str) -> None:
    assert is_scene_mark(text)


@pytest.mark.parametrize("text", ["Scene of the crime, eh?", "Ann: Scene?", "He made a scene: a big one.", "Seen it."])
def test_the_word_alone_is_no_mark(text: str) -> None:
    assert not is_scene_mark(text)


@pytest.mark.parametrize(
    "text", ["CUT TO THE QUAY", "[Cut to the quay]", "INT. OFFICE - DAY", "OPEN IN HARBOUR TOWN", "(Fade to the quay.)"]
)
def test_cuts(text: str) -> None:
    assert is_cut(text)


@pytest.mark.parametrize("text", ["Cut to the chase, will you?", "Open in case of fire.", "INTO the boat!"])
def test_sentences_are_no_cuts(text: str) -> None:
    assert not is_cut(text)


@pytest.mark.parametrize(
    "text", ["ANN'S HOUSE – KITCHEN", "The cafeteria.", "Ann and Bob's apartment", "[Harbour Inn: kitchen]"]
)
def test_bare_locations(text: str) -> None:
    assert is_bare_location(text)


@pytest.mark.parametrize(
    "text", ["GET OUT!", "I am in the kitchen.", "(OFFICE)", "Nothing at all", "Come into the house."]
)
def test_no_locations(text: str) -> None:
    assert not is_bare_location(text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[Scene: The quay]", "The quay"),
        ("Scene 3 - The quay.", "The quay."),
        ("CUT TO THE QUAY", "THE QUAY"),
        ("(scene changes)", ""),
        ("[Scene changes to the quay]", "the quay"),
        ("LUKE'S DINER", "LUKE'S DINER"),
    ],
)
def test_the_setting_is_what_is_left(text: str, where: str) -> None:
    assert setting(text) == where


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The quay, Ann, Bob, and Cyril are there.", ("Ann", "Bob", "Cyril")),
        ("Ann and Bob's, Cyril is sleeping.", ("Cyril",)),
        ("Ann is packing Bob's bag.", ("Ann",)),
        ("The quay, everyone but Ann is there.", ()),
        ("The quay", ()),
    ],
)
def test_who_is_there(text: str, names: tuple[str, ...]) -> None:
    assert present(text) == names


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
