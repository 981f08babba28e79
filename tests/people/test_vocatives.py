from __future__ import annotations

import pytest

from understudy.people.names import CharacterNames
from understudy.people.vocatives import EpithetUse, cues_of

NAMES = CharacterNames(
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
    cues = cues_of("Doctor Wren", text, NAMES)
    assert (cues.called | cues.directed, cues.spoken_of) == (frozenset(called), frozenset(spoken_of))


def test_nobody_calls_themselves() -> None:
    assert not cues_of("Bea", "Bea, you fool!", NAMES).called


def test_what_a_line_asks_and_to_how_many() -> None:
    cues = cues_of("Bea", "Are you all ready?", NAMES)
    assert cues.is_question and cues.has_you and cues.is_plural and not cues.is_answer
    assert cues_of("Bea", "Yes, quite.", NAMES).is_answer


def test_an_epithet_is_learned_for_its_speaker_from_who_answers() -> None:
    use = EpithetUse()
    for _ in range(6):
        use.add(cues_of("Bea", "Yes, my dear Papa, at once.", NAMES), ("Tom Finch",))
        use.add(cues_of("Bea", "I have no idea.", NAMES), ("Ada Finch",))
        use.add(cues_of("Doctor Wren", "Good morning, papa.", NAMES), ("Ada Finch",))
    asked = cues_of("Bea", "Look, papa!", NAMES)
    assert "papa" in asked.epithets
    of_tom, of_ada = (use.lifts(asked, (), who)[0] for who in ("Tom Finch", "Ada Finch"))
    assert of_tom > 0.5 > -0.5 > of_ada


def test_the_line_itself_is_no_evidence_for_what_it_calls_people() -> None:
    use = EpithetUse()
    line = cues_of("Bea", "Well, captain?", NAMES)
    use.add(line, ("Tom Finch",))
    assert use.lifts(line, ("Tom Finch",), "Tom Finch")[0] == pytest.approx(0.0)
