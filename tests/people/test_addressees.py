from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing import growth
from understudy.formats import read as read_story
from understudy.people.addressees import AddresseeReader, addressees, story_addressees
from understudy.people.names import CharacterNames
from understudy.story.types import Line, Moment, Scene

CAST = ("Ada", "Bea", "Cas", "Dan")
NAMES = CharacterNames(dict.fromkeys(CAST, ()))


def scene(*lines: tuple[str | None, str], present: tuple[str, ...] = CAST) -> Scene:
    spoken = tuple(Line(Moment((1, 1, number)), who, text) for number, (who, text) in enumerate(lines, 1))
    return Scene(Moment((1, 1)), "A kitchen", present, spoken)


def read(given: Scene) -> list[dict[str, float]]:
    return addressees(given, AddresseeReader(NAMES, [given]))


def likeliest(found: dict[str, float]) -> str:
    return max(found, key=lambda who: found[who])


def test_who_is_called_by_name_is_addressed_though_somebody_else_spoke() -> None:
    found = read(scene(("Bea", "It is cold."), ("Ada", "Dan, shut the window."), ("Bea", "Thanks.")))
    assert likeliest(found[1]) == "Dan"


def test_a_direction_tells_it_too() -> None:
    found = read(scene(("Bea", "It is cold."), ("Ada", "(to Cas) What now?"), ("Bea", "Well.")))
    assert likeliest(found[1]) == "Cas"


def test_two_who_talk_in_turn_talk_to_each_other() -> None:
    lines = [("Ada", "Where were you?"), ("Bea", "Out."), ("Ada", "All night?"), ("Bea", "All night.")]
    found = read(scene(*lines, ("Cas", "Enough, both of you.")))
    assert [likeliest(each) for each in found[:4]] == ["Bea", "Ada", "Bea", "Ada"]
    assert found[1]["Ada"] > 0.9


def test_a_description_is_said_to_nobody_and_a_monologue_to_nobody_either() -> None:
    found = read(scene((None, "Rain."), ("Ada", "Alone at last."), present=("Ada",)))
    assert found == [{}, {}]


def test_the_likeliest_come_first_and_the_speaker_is_not_among_them() -> None:
    for found, line in zip(read(given := scene(("Ada", "Hello."), ("Bea", "Hi."), ("Cas", "Hm?"))), given.lines):
        assert list(found.values()) == sorted(found.values(), reverse=True)
        assert set(found) == set(CAST) - {line.speaker}


@given(st.lists(st.tuples(st.sampled_from([*CAST, "Eve"]), st.text(max_size=40)), max_size=12))
def test_every_line_has_a_probability_for_everybody_else(lines: list[tuple[str, str]]) -> None:
    for found, (speaker, _) in zip(read(scene(*lines)), lines, strict=True):
        assert set(CAST) - {speaker} <= set(found)
        assert all(0 <= p <= 1 for p in found.values()) and sum(found.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_every_line_of_a_story_has_its_addressees(name: str) -> None:
    story = read_story(name)
    lines = 0
    for each, found in story_addressees(story):
        assert len(found) == len(each.lines)
        lines += len(found)
    assert lines == story.count()[1]


def test_the_time_is_in_proportion_to_the_lines() -> None:
    talk = [(CAST[number % 4], f"Well, {CAST[(number * 7) % 4]}, is it number {number}?") for number in range(40)]

    def read_all(number: int) -> None:
        scenes = [scene(*talk)] * number
        reader = AddresseeReader(NAMES, scenes)
        for each in scenes:
            reader.read(each)

    assert growth(read_all, 12) < 30
