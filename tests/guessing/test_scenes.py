"""What a guesser learns from, and the order in which it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkers import NAMES, PEOPLE, personas, scene, scenes
from understudy.guessing.assignment import Assigned
from understudy.guessing.scenes import LONG, Guesses, Masking, Remembering, guess_in_order, masks_of, split_long_scenes
from understudy.story.persona import Persona
from understudy.story.types import Line, Moment, Scene


class Diary:
    """Writes down what it is asked and told, and takes everybody for the first candidate."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, Scene]] = []

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        self.pages.append(("asked", masked))
        return {mask: {item.name: float(item is personas[0]) for item in personas} for mask in masks_of(masked)}

    def remember(self, scene: Scene) -> None:
        self.pages.append(("told", scene))


class Fixed:
    """Says what it was made with; remembers nothing."""

    def __init__(self, results: Guesses) -> None:
        self._found = results

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        return self._found


def test_a_scene_is_told_only_after_it_was_guessed() -> None:
    diary, story_scenes = Diary(), scenes(3)
    masking = Masking(PEOPLE, NAMES)
    request = list(zip(story_scenes, (True, False, True)))
    results = guess_in_order(diary, request, masking, lambda names, _scene: personas(names))
    assert diary.pages == []  # nothing is done before it is wanted
    first, _ = next(results)
    assert diary.pages == [("asked", first.scene)]  # and it is not told who they were while the guess is looked at
    assert first == masking.masked(story_scenes[0])
    remaining = list(results)
    assert len(remaining) == 1
    assert [(what, item.moment) for what, item in diary.pages] == [
        ("asked", story_scenes[0].moment), ("told", story_scenes[0].moment), ("told", story_scenes[1].moment),
        ("asked", story_scenes[2].moment), ("told", story_scenes[2].moment),
    ]  # fmt: skip
    assert diary.pages[1][1].lines[0].speaker == story_scenes[0].lines[0].speaker


def test_what_is_asked_never_says_who_it_is() -> None:
    diary = Diary()
    request = [(item, True) for item in scenes(4)]
    list(guess_in_order(diary, request, Masking(PEOPLE, NAMES), lambda names, _scene: personas(names)))
    for what, item in diary.pages:
        speakers = {line.speaker for line in item.lines} | set(item.present)
        assert speakers.isdisjoint(PEOPLE) if what == "asked" else speakers == set(PEOPLE)


def test_candidates_are_as_they_are_when_the_scene_begins() -> None:
    seen: list[tuple[tuple[str, ...], Scene]] = []

    def known(names: Sequence[str], item: Scene) -> list[Persona]:
        seen.append((tuple(names), item))
        return personas(names)

    story_scenes = scenes(1)
    ((masked, _),) = guess_in_order(Diary(), [(story_scenes[0], True)], Masking(PEOPLE, NAMES), known)
    assert seen == [(PEOPLE, masked.scene)]
    assert masked.scene.moment == story_scenes[0].moment


def test_assigned_gives_nobody_two_masks() -> None:
    both = {"P0": {"Ann": 0.6, "Ben": 0.4}, "P1": {"Ann": 0.9, "Ben": 0.1}}
    results = Assigned(Fixed(both)).guess(scene(("P0", "So."), ("P1", "Yes.")), personas(["Ann", "Ben"]))
    # of the two ways 0.6 * 0.1 and 0.4 * 0.9
    assert results["P0"]["Ben"] == results["P1"]["Ann"] == pytest.approx(0.36 / 0.42)
    assert results["P0"]["Ann"] == results["P1"]["Ben"] == pytest.approx(0.06 / 0.42)


def test_assigned_bears_what_was_held_impossible() -> None:
    sure = {"P0": {"Ann": 1.0, "Ben": 0.0}, "P1": {"Ann": 1.0, "Ben": 0.0}}
    results = Assigned(Fixed(sure)).guess(scene(("P0", "So."), ("P1", "Yes.")), personas(["Ann", "Ben"]))
    assert results["P0"] == results["P1"] == pytest.approx({"Ann": 0.5, "Ben": 0.5})
    assert Assigned(Fixed({})).guess(scene(), []) == {}


def test_assigned_hands_on_what_is_told() -> None:
    diary, item = Diary(), scenes(1)[0]
    Assigned(diary).remember(item)
    assert diary.pages == [("told", item)]
    Assigned(Fixed({})).remember(item)  # one that remembers nothing is not asked to
    assert isinstance(diary, Remembering) and not isinstance(Fixed({}), Remembering)


def told(speakers: Sequence[str | None]) -> Scene:
    lines = tuple(Line(Moment((1, 2, 1, index)), who, f"line {index}") for index, who in enumerate(speakers, 1))
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
