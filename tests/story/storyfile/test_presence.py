from __future__ import annotations

from understudy.story.storyfile.writing import PresenceCue, PresenceInterval, presence_intervals

ANN, BOB = 1, 2


def test_who_speaks_was_there_from_the_start() -> None:
    assert presence_intervals([PresenceCue(5, "speaks", ANN)], 1, 9) == [PresenceInterval(ANN, 1, 9)]


def test_who_enters_has_not_heard_what_came_before() -> None:
    cues = [PresenceCue(4, "enter", ANN), PresenceCue(5, "speaks", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 4, 9)]


def test_who_leaves_hears_nothing_after_and_comes_back_by_speaking() -> None:
    cues = [PresenceCue(1, "listed", ANN), PresenceCue(3, "leave", ANN), PresenceCue(7, "speaks", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 1, 3), PresenceInterval(ANN, 7, 9)]


def test_leaving_alone_tells_that_one_was_there() -> None:
    assert presence_intervals([PresenceCue(3, "leave", ANN)], 1, 9) == [PresenceInterval(ANN, 1, 3)]


def test_leaving_twice_counts_once() -> None:
    cues = [PresenceCue(1, "listed", ANN), PresenceCue(3, "leave", ANN), PresenceCue(5, "leave", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 1, 3)]


def test_everybody_goes() -> None:
    cues = [
        PresenceCue(1, "listed", ANN),
        PresenceCue(2, "speaks", BOB),
        PresenceCue(4, "leave", None),
        PresenceCue(6, "enter", BOB),
    ]
    assert sorted(presence_intervals(cues, 1, 9)) == [
        PresenceInterval(ANN, 1, 4),
        PresenceInterval(BOB, 1, 4),
        PresenceInterval(BOB, 6, 9),
    ]


def test_who_goes_out_and_comes_back_within_a_line_was_never_away() -> None:
    cues = [PresenceCue(1, "listed", ANN), PresenceCue(4, "leave", ANN), PresenceCue(4, "enter", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 1, 9)]


def test_who_comes_in_and_goes_within_a_line_has_heard_that_line() -> None:
    cues = [PresenceCue(4, "enter", ANN), PresenceCue(4, "leave", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 4, 4)]


def test_nobody_is_there_after_the_last_line() -> None:
    assert presence_intervals([PresenceCue(10, "enter", ANN)], 1, 9) == []
