"""Whom a line is said to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing import growth
from understudy.formats import read as read_story
from understudy.people.addressees import (
    FEATURES,
    AddresseeReader,
    Dialogue,
    EpithetUse,
    cues_of,
    dialogue_of,
    feature_rows,
)
from understudy.people.names import CharacterNames
from understudy.story.types import Line, Moment, Scene

CAST = ("Ada", "Bea", "Cas", "Dan")
NAMES = CharacterNames(dict.fromkeys(CAST, ()))


def scene(*lines: tuple[str | None, str], present: tuple[str, ...] = CAST) -> Scene:
    spoken = tuple(Line(Moment((1, 1, number)), who, text) for number, (who, text) in enumerate(lines, 1))
    return Scene(Moment((1, 1)), "A kitchen", present, spoken)


def read(given: Scene) -> list[dict[str, float]]:
    return AddresseeReader(NAMES, [given]).read(given)


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
    reader = AddresseeReader.of_story(story)
    for each in story.scenes():
        found = reader.read(each)
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


# What a line itself says of whom it is said to.


TITLED = CharacterNames(
    {"Ada Finch": ("Ada", "Miss Finch"), "Tom Finch": ("Tom", "Mr Finch"), "Doctor Wren": ("Wren",), "Bea": ()}
)


@pytest.mark.parametrize(
    ("text", "called", "spoken_of"),
    [
        ("Ada, come here!", {"Ada Finch"}, set()),
        ("Hey Tom, have you seen Ada anywhere?", {"Tom Finch"}, {"Ada Finch"}),
        ("(to Bea) Not now.", {"Bea"}, set()),
        ("(looking at the door) Not now.", set(), set()),
        ("Finch, you are late.", {"Ada Finch", "Tom Finch"}, set()),
    ],
)
def test_names_called_out_and_names_spoken_of(text: str, called: set[str], spoken_of: set[str]) -> None:
    cues = cues_of("Doctor Wren", text, TITLED)
    assert (cues.called | cues.directed, cues.spoken_of) == (frozenset(called), frozenset(spoken_of))


def test_nobody_calls_themselves() -> None:
    assert not cues_of("Bea", "Bea, you fool!", TITLED).called


def test_what_a_line_asks_and_to_how_many() -> None:
    cues = cues_of("Bea", "Are you all ready?", TITLED)
    assert cues.is_question and cues.has_you and cues.is_plural and not cues.is_answer
    assert cues_of("Bea", "Yes, quite.", TITLED).is_answer


def test_an_epithet_is_learned_for_its_speaker_from_who_answers() -> None:
    use = EpithetUse()
    for _ in range(6):
        use.add(cues_of("Bea", "Yes, my dear Papa, at once.", TITLED), ("Tom Finch",))
        use.add(cues_of("Bea", "I have no idea.", TITLED), ("Ada Finch",))
        use.add(cues_of("Doctor Wren", "Good morning, papa.", TITLED), ("Ada Finch",))
    asked = cues_of("Bea", "Look, papa!", TITLED)
    assert "papa" in asked.epithets
    of_tom, of_ada = (use.lifts(asked, (), who)[0] for who in ("Tom Finch", "Ada Finch"))
    assert of_tom > 0.5 > -0.5 > of_ada


def test_the_line_itself_is_no_evidence_for_what_it_calls_people() -> None:
    use = EpithetUse()
    line = cues_of("Bea", "Well, captain?", TITLED)
    use.add(line, ("Tom Finch",))
    assert use.lifts(line, ("Tom Finch",), "Tom Finch")[0] == pytest.approx(0.0)


# The evidence of the lines around.


FINCHES = ("Ada Finch", "Bea Finch", "Cas")
FINCH_NAMES = CharacterNames(dict.fromkeys(FINCHES, ()))


def dialogue(*lines: tuple[str, str]) -> Dialogue:
    return dialogue_of(FINCHES, lines, FINCH_NAMES)


def value(given: Dialogue, index: int, who: str, feature: str) -> float:
    rows = feature_rows(given, EpithetUse())[index]
    assert rows.shape == (len(given.others(index)), len(FEATURES))
    return float(rows[given.others(index).index(who), FEATURES.index(feature)])


def test_neighbours_are_the_last_and_the_next_other_speaker() -> None:
    given = dialogue(("Ada Finch", "One."), ("Bea Finch", "Two."), ("Bea Finch", "Three."), ("Cas", "Four."))
    assert given.neighbours == (("Bea Finch",), ("Ada Finch", "Cas"), ("Ada Finch", "Cas"), ("Bea Finch",))


def test_whoever_speaks_is_present() -> None:
    assert "Dan" in dialogue(("Dan", "Hello.")).present


def test_turns_in_a_pair() -> None:
    given = dialogue(("Ada Finch", "A."), ("Bea Finch", "B."), ("Ada Finch", "C."), ("Bea Finch", "D."))
    assert value(given, 2, "Bea Finch", "pair before") == 1
    assert value(given, 2, "Bea Finch", "last and next") == 1
    assert value(given, 2, "Cas", "not before") == 1


def test_of_namesakes_whoever_speaks_nearest_is_called() -> None:
    given = dialogue(("Bea Finch", "Well?"), ("Cas", "Finch, be quiet."))
    assert value(given, 1, "Bea Finch", "called") == 1
    assert value(given, 1, "Ada Finch", "called") == 0


def test_who_is_asked_answers() -> None:
    given = dialogue(("Ada Finch", "Is it late?"), ("Cas", "Yes."), ("Bea Finch", "Very."))
    assert value(given, 0, "Cas", "asks and next") == 1
    assert value(given, 0, "Cas", "next answers") == 1
    assert value(given, 1, "Ada Finch", "last asks") == 1
