"""How lines are spoken, as far as directions say so."""

from __future__ import annotations

import pytest

from understudy.story.storyfile.past import Delivery, deliveries
from understudy.story.types import Line, Moment


def spoken(*lines: tuple[str | None, str]) -> list[Delivery]:
    scene = [Line(Moment((1, number)), speaker, text) for number, (speaker, text) in enumerate(lines, 1)]
    return [delivery for line, delivery in zip(scene, deliveries(scene)) if line.speaker is not None]


@pytest.mark.parametrize(
    "direction", ["aside", "Aside.", "To herself", "beiseite", "für sich, leise", "à part", "傍白"]
)
def test_a_direction_makes_the_next_line_a_thought(direction: str) -> None:
    asked, thought, said = spoken(
        ("Ann", "Is it you?"), (None, direction), ("Bea", "I know that hat."), ("Ann", "Well?")
    )
    assert (asked.aloud, said.aloud) == ("Is it you?", "Well?")
    assert (thought.aloud, thought.aside, thought.to) == ("", "I know that hat.", "")


@pytest.mark.parametrize(
    "direction", ["They step aside.", "Puts the lamp aside", "to Ann", "Enter Ann, singing.", "She reads his palm"]
)
def test_other_directions_do_not(direction: str) -> None:
    (line,) = spoken((None, direction), ("Bea", "I know that hat."))
    assert (line.aloud, line.aside) == ("I know that hat.", "")


def test_an_aside_goes_on_until_somebody_is_spoken_to_or_speaks() -> None:
    first, second, third, other = spoken(
        (None, "Aside."),
        ("Bea", "He lies."),
        (None, "She takes the lamp."),
        ("Bea", "And he knows it."),
        (None, "To Ann."),
        ("Bea", "Good evening."),
        ("Ann", "Good evening."),
    )
    assert [line.aside for line in (first, second, third, other)] == ["He lies.", "And he knows it.", "", ""]
    assert third.aloud == "Good evening."


def test_an_aside_to_somebody_is_heard_by_them() -> None:
    (line,) = spoken((None, "Aside to Mr Gray."), ("Bea", "He lies."))
    assert line.is_heard_by("Casper Gray")
    assert not line.is_heard_by("Ann Archer")


def test_brackets_within_a_line() -> None:
    (line,) = spoken(("Bea", "Sit down. (aside) He has the key. (to Ann) Is it cold?"))
    assert (line.aloud, line.aside) == ("Sit down. (to Ann) Is it cold?", "He has the key.")
    (line,) = spoken(("Bea", "(shrugs) Sit down."))
    assert line == Delivery("(shrugs) Sit down.")


def test_what_is_read_sung_or_quoted_is_not_the_speakers_own() -> None:
    read, own, sung, quoted, stressed, whole = spoken(
        (None, "Reads the letter."),
        ("Bea", "Dear sister, I shall not come."),
        ("Ann", "That is his hand."),
        ("Bea", "(sings) The tide, the tide."),
        ("Ann", 'He said: "I will be back before the lamps are lit, and not a word."'),
        ("Bea", 'How "back"?'),
        ("Ann", '"The whole of a speech may stand in quotation marks."'),
    )
    assert [line.is_own for line in (read, own, sung, quoted, stressed, whole)] == [
        False, True, False, False, True, True,
    ]  # fmt: skip
    assert read.aloud, "others hear it all the same"
