"""A scene as its masks see it."""

from __future__ import annotations

from talkers import NAMES, PEOPLE, scene
from understudy.guessing.parts import parts_of, told_parts

TALK = scene(("Cleo", "Hey Ann, the song."), ("Vicar", "Amen."), ("Ann", "(sighs) We saw Ben."), ("Cleo", "Yes."))


def test_told_parts_are_of_the_main_characters_who_speak_in_their_own_order() -> None:
    parts = told_parts(TALK, PEOPLE, NAMES, "en")
    assert parts.speakers == ("Ann", "Cleo")
    assert len(parts.listed()) == 2
    assert parts.listed()[0] is parts.bags["Ann"]


def test_what_somebody_says_whom_they_name_and_how_much_it_is() -> None:
    parts = parts_of(TALK, ["Cleo", "Ann"], NAMES, "en")
    assert parts.texts("Cleo") == ["Hey Ann, the song.", "Yes."]
    assert parts.length("Cleo") == 5
    assert parts.length("Ann") == 3  # what is done meanwhile is not said
    assert {"ann", "yes"} <= set(parts.named_by("Cleo"))
    assert parts.named_by("Ann") == ["we", "ben"]
    assert parts.length("Ben") == 0 and parts.texts("Ben") == []
