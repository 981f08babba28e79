"""What a guesser learns from, and what it may be asked.

Scenes where none are marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkers import NAMES, PEOPLE, personas, scene, scenes
from understudy.guessing import Assigned, Guesses, Masking, Remembering, guess_in_order
from understudy.guessing.masking import masks_of
from understudy.guessing.scenes import LONG, split_long_scenes
from understudy.persona import Persona
from understudy.story import Line, Moment, Scene


class Diary:
    """Writes down what it is asked and told, and takes everybody for the first candidate."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, Scene]] = []

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        self.pages.append(("asked", masked))
        return {mask: {one.name: float(one is personas[0]) for one in personas} for mask in masks_of(masked)}

    def remember(self, scene: Scene) -> None:
        self.pages.append(("told", scene))


class Fixed:
    """Says what it was made with; remembers nothing."""

    def __init__(self, found: Guesses) -> None:
        self._found = found

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        return self._found


def test_a_scene_is_told_only_after_it_was_guessed() -> None:
    diary, told = Diary(), scenes(3)
    masking = Masking(PEOPLE, NAMES)
    asked = list(zip(told, (True, False, True)))
    found = guess_in_order(diary, asked, masking, lambda names, _scene: personas(names))
    assert diary.pages == []  # nothing is done before it is wanted
    first, _ = next(found)
    assert diary.pages == [("asked", first.scene)]  # and it is not told who they were while the guess is looked at
    assert first == masking.masked(told[0])
    rest = list(found)
    assert len(rest) == 1
    assert [(what, one.moment) for what, one in diary.pages] == [
        ("asked", told[0].moment), ("told", told[0].moment), ("told", told[1].moment),
        ("asked", told[2].moment), ("told", told[2].moment),
    ]  # fmt: skip
    assert diary.pages[1][1].lines[0].speaker == told[0].lines[0].speaker


def test_what_is_asked_never_says_who_it_is() -> None:
    diary = Diary()
    asked = [(one, True) for one in scenes(4)]
    list(guess_in_order(diary, asked, Masking(PEOPLE, NAMES), lambda names, _scene: personas(names)))
    for what, one in diary.pages:
        speakers = {line.speaker for line in one.lines} | set(one.present)
        assert speakers.isdisjoint(PEOPLE) if what == "asked" else speakers == set(PEOPLE)


def test_candidates_are_as_they_are_when_the_scene_begins() -> None:
    seen: list[tuple[tuple[str, ...], Scene]] = []

    def known(names: Sequence[str], one: Scene) -> list[Persona]:
        seen.append((tuple(names), one))
        return personas(names)

    told = scenes(1)
    ((masked, _),) = guess_in_order(Diary(), [(told[0], True)], Masking(PEOPLE, NAMES), known)
    assert seen == [(PEOPLE, masked.scene)]
    assert masked.scene.moment == told[0].moment


def test_assigned_gives_nobody_two_masks() -> None:
    both = {"P0": {"Ann": 0.6, "Ben": 0.4}, "P1": {"Ann": 0.9, "Ben": 0.1}}
    found = Assigned(Fixed(both)).guess(scene(("P0", "So."), ("P1", "Yes.")), personas(["Ann", "Ben"]))
    # of the two ways 0.6 * 0.1 and 0.4 * 0.9
    assert found["P0"]["Ben"] == found["P1"]["Ann"] == pytest.approx(0.36 / 0.42)
    assert found["P0"]["Ann"] == found["P1"]["Ben"] == pytest.approx(0.06 / 0.42)


def test_assigned_bears_what_was_held_impossible() -> None:
    sure = {"P0": {"Ann": 1.0, "Ben": 0.0}, "P1": {"Ann": 1.0, "Ben": 0.0}}
    found = Assigned(Fixed(sure)).guess(scene(("P0", "So."), ("P1", "Yes.")), personas(["Ann", "Ben"]))
    assert found["P0"] == found["P1"] == pytest.approx({"Ann": 0.5, "Ben": 0.5})
    assert Assigned(Fixed({})).guess(scene(), []) == {}


def test_assigned_hands_on_what_is_told() -> None:
    diary, one = Diary(), scenes(1)[0]
    Assigned(diary).remember(one)
    assert diary.pages == [("told", one)]
    Assigned(Fixed({})).remember(one)  # one that remembers nothing is not asked to
    assert isinstance(diary, Remembering) and not isinstance(Fixed({}), Remembering)


def told(speakers: Sequence[str | None]) -> Scene:
    lines = tuple(Line(Moment((1, 2, 1, place)), who, f"line {place}") for place, who in enumerate(speakers, 1))
    return Scene(Moment((1, 2, 1)), "Everywhere", tuple(dict.fromkeys(filter(None, speakers))), lines)


def test_a_scene_of_ordinary_length_is_left_whole() -> None:
    scene = told(["Ann", "Ben"] * 20)
    assert list(split_long_scenes([scene])) == [scene]


def test_a_long_scene_is_cut_where_the_company_changes() -> None:
    parts = list(split_long_scenes([told(["Ann", "Ben"] * 26 + ["Cleo", "Dan"] * 26)]))
    assert [len(part.lines) for part in parts] == [52, 52]
    assert [set(part.present) for part in parts] == [{"Ann", "Ben"}, {"Cleo", "Dan"}]
    assert [part.setting for part in parts] == ["Everywhere", ""]
    assert parts[0].moment < parts[1].moment == Moment((1, 2, 1, 53))


def test_a_scene_of_three_hundred_lines_by_the_same_two_is_cut_too() -> None:
    parts = list(split_long_scenes([told(["Ann", "Ben"] * 150)]))
    assert max(len(part.lines) for part in parts) <= 60


@given(st.lists(st.sampled_from(["Ann", "Ben", "Cleo", "Dan", None]), min_size=LONG, max_size=LONG + 150))
def test_no_line_is_lost_and_their_order_stays(speakers: list[str | None]) -> None:
    scene = told(speakers)
    parts = list(split_long_scenes([scene]))
    assert tuple(line for part in parts for line in part.lines) == scene.lines
    assert all(a.moment < b.moment for a, b in pairwise(parts))
