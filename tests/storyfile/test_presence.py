from __future__ import annotations

from understudy.storyfile.presence import Cue, Spell, spells_of_scene

ANN, BOB = 1, 2


def test_who_speaks_was_there_from_the_start() -> None:
    assert spells_of_scene([Cue(5, "speaks", ANN)], 1, 9) == [Spell(ANN, 1, 9)]


def test_who_enters_has_not_heard_what_came_before() -> None:
    cues = [Cue(4, "enter", ANN), Cue(5, "speaks", ANN)]
    assert spells_of_scene(cues, 1, 9) == [Spell(ANN, 4, 9)]


def test_who_leaves_hears_nothing_after_and_comes_back_by_speaking() -> None:
    cues = [Cue(1, "listed", ANN), Cue(3, "leave", ANN), Cue(7, "speaks", ANN)]
    assert spells_of_scene(cues, 1, 9) == [Spell(ANN, 1, 3), Spell(ANN, 7, 9)]


def test_leaving_alone_tells_that_one_was_there() -> None:
    assert spells_of_scene([Cue(3, "leave", ANN)], 1, 9) == [Spell(ANN, 1, 3)]


def test_leaving_twice_counts_once() -> None:
    cues = [Cue(1, "listed", ANN), Cue(3, "leave", ANN), Cue(5, "leave", ANN)]
    assert spells_of_scene(cues, 1, 9) == [Spell(ANN, 1, 3)]


def test_everybody_goes() -> None:
    cues = [Cue(1, "listed", ANN), Cue(2, "speaks", BOB), Cue(4, "leave", None), Cue(6, "enter", BOB)]
    assert sorted(spells_of_scene(cues, 1, 9)) == [Spell(ANN, 1, 4), Spell(BOB, 1, 4), Spell(BOB, 6, 9)]


def test_who_goes_out_and_comes_back_within_a_line_was_never_away() -> None:
    cues = [Cue(1, "listed", ANN), Cue(4, "leave", ANN), Cue(4, "enter", ANN)]
    assert spells_of_scene(cues, 1, 9) == [Spell(ANN, 1, 9)]


def test_who_comes_in_and_goes_within_a_line_has_heard_that_line() -> None:
    cues = [Cue(4, "enter", ANN), Cue(4, "leave", ANN)]
    assert spells_of_scene(cues, 1, 9) == [Spell(ANN, 4, 4)]


def test_nobody_is_there_after_the_last_line() -> None:
    assert spells_of_scene([Cue(10, "enter", ANN)], 1, 9) == []
