"""What of a scene an encoder reads for each mask."""

from __future__ import annotations

from understudy.guessing.pieces import ROWS, masks_of, rows, whole, windows
from understudy.story import Line, Moment, Scene


def scene(*lines: tuple[str | None, str]) -> Scene:
    told = tuple(Line(Moment((1, 1, place)), who, text) for place, (who, text) in enumerate(lines, 1))
    return Scene(Moment((1, 1)), "", (), told)


TALK = scene(
    ("P1", "One."), (None, "A knock."), ("Gunther", "Two."), ("P0", "Three."), ("P1", "Four."), ("Pat", "Five.")
)


def test_masks_come_in_the_order_of_speaking_and_nobody_else_does() -> None:
    assert masks_of(TALK) == ("P1", "P0")


def test_whole_is_all_that_a_mask_says() -> None:
    assert whole(TALK) == {"P1": ["One. Four."], "P0": ["Three."]}


def test_a_row_is_an_utterance_and_what_came_before_nearest_first() -> None:
    assert rows(TALK) == {"P1": ["Four. / Three. / Two. / One.", "One."], "P0": ["Three. / Two. / One."]}


def test_rows_are_taken_from_the_end_and_who_has_none_gets_one() -> None:
    long = scene(("P0", "Early."), *[("P1", f"Line {number}.") for number in range(ROWS + 3)])
    assert rows(long)["P0"] == ["Early."]
    assert rows(long, fill_empty=False)["P0"] == []
    assert rows(long)["P1"][0].startswith(f"Line {ROWS + 2}.")
    assert rows(long, from_end=False)["P0"] == ["Early."]
    assert rows(long, from_end=False)["P1"][0] == "Line 0. / Early."
    assert len(rows(long, from_end=False)["P1"]) == ROWS - 1


def test_a_row_ends_before_it_is_too_long() -> None:
    talk = scene(("P0", "word " * 40), ("P1", "word " * 9), ("P0", "Ha."))
    assert rows(talk)["P0"][0] == f"Ha. / {'word ' * 9}"


def test_a_window_is_heard_by_each_mask_in_its_own_way() -> None:
    assert windows(TALK) == {
        "P1": ["I: One. (A knock.) Gunther: Two. you: Three. I: Four. Pat: Five."],
        "P0": ["you: One. (A knock.) Gunther: Two. I: Three. you: Four. Pat: Five."],
    }


def test_windows_end_with_the_longest_scene_but_nobody_is_left_without() -> None:
    long = scene(*[("P0", "word " * 30)] * 5, ("P1", "Late."))
    found = windows(long, longest=100)
    assert [len(text.split()) for text in found["P0"]] == [93]
    assert found["P1"] == ["I: Late."]
