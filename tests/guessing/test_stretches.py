"""Scenes where none are marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from understudy.guessing.stretches import LONG, stretches
from understudy.story import Line, Moment, Scene


def told(speakers: Sequence[str | None]) -> Scene:
    lines = tuple(Line(Moment((1, 2, 1, place)), who, f"line {place}") for place, who in enumerate(speakers, 1))
    return Scene(Moment((1, 2, 1)), "Everywhere", tuple(dict.fromkeys(filter(None, speakers))), lines)


def test_a_scene_of_ordinary_length_is_left_whole() -> None:
    scene = told(["Ann", "Ben"] * 20)
    assert list(stretches([scene])) == [scene]


def test_a_long_scene_is_cut_where_the_company_changes() -> None:
    parts = list(stretches([told(["Ann", "Ben"] * 26 + ["Cleo", "Dan"] * 26)]))
    assert [len(part.lines) for part in parts] == [52, 52]
    assert [set(part.present) for part in parts] == [{"Ann", "Ben"}, {"Cleo", "Dan"}]
    assert [part.setting for part in parts] == ["Everywhere", ""]
    assert parts[0].moment < parts[1].moment == Moment((1, 2, 1, 53))


def test_a_scene_of_three_hundred_lines_by_the_same_two_is_cut_too() -> None:
    parts = list(stretches([told(["Ann", "Ben"] * 150)]))
    assert max(len(part.lines) for part in parts) <= 60


@given(st.lists(st.sampled_from(["Ann", "Ben", "Cleo", "Dan", None]), min_size=LONG, max_size=LONG + 150))
def test_no_line_is_lost_and_their_order_stays(speakers: list[str | None]) -> None:
    scene = told(speakers)
    parts = list(stretches([scene]))
    assert tuple(line for part in parts for line in part.lines) == scene.lines
    assert all(a.moment < b.moment for a, b in pairwise(parts))
