from __future__ import annotations

from understudy.people.addressees import FEATURES, Dialogue, dialogue_of, feature_rows
from understudy.people.names import CharacterNames
from understudy.people.vocatives import EpithetUse

CAST = ("Ada Finch", "Bea Finch", "Cas")
NAMES = CharacterNames(dict.fromkeys(CAST, ()))


def dialogue(*lines: tuple[str, str]) -> Dialogue:
    return dialogue_of(CAST, lines, NAMES)


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
