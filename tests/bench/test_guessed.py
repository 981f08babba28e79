"""A masked speaker and whom a model took them for."""

from __future__ import annotations

from guesses import scene
from understudy.bench.items import groups_of


def test_speakers_of_a_scene_are_of_one_group_and_have_names_of_their_own() -> None:
    told = [
        *scene("a", "Mr._Show", 12, ["Ann", "Ben"], ["Ann", "Ann"]),
        *scene("a", "Mr._Show", 13, ["Ann", "Ben"], ["Ann", "Ben"]),
    ]
    keys = [one.key for one in told]
    assert len(set(keys)) == 4
    first, second, third, fourth = groups_of(keys)
    assert first == second != third == fourth
    another = [*scene("b", "Mr._Show", 12, "AB", "AB"), *scene("b", "Mr._Show", 13, "AB", "AB")]
    assert [one.key for one in another] == keys


def test_right_is_whom_it_was() -> None:
    told = scene("a", "S", 1, ["Ann", "Ben", "Cleo"], ["Ann", "Ann", "Cleo"])
    assert [one.right for one in told] == [True, False, True]
    assert {one.speakers for one in told} == {3}
