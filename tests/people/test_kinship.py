from __future__ import annotations

from collections import Counter

from understudy.people.kinship import consistent_ties
from understudy.people.tie_evidence import Gathered, TieEvidence, TieKey, beginning, mass_of, weighed
from understudy.story.types import Moment


def entry(index: int, pattern: str = "name", share: float = 1.0, term: str = "") -> TieEvidence:
    return TieEvidence(index, Moment((1, index + 1)), pattern, share, term, "", has_ended=False)


def confidences(evidence: dict[TieKey, list[TieEvidence]], exchanges: int = 20) -> dict[TieKey, float]:
    talk = Counter({(of, to): exchanges for of, to, _ in evidence})
    return {tie.key: tie.confidence for tie in consistent_ties(weighed(Gathered(evidence, {}, talk)))}


def test_the_heavier_kind_wins() -> None:
    found = confidences({
        ("Ada", "Ben", "sibling"): [entry(1), entry(2), entry(3, "is")],
        ("Ada", "Ben", "lover"): [entry(4, "dating")],
    })  # fmt: skip
    assert found["Ada", "Ben", "sibling"] > 0.8
    assert found["Ada", "Ben", "lover"] < 0.2


def test_who_talks_more_needs_more_evidence() -> None:
    evidence: dict[TieKey, list[TieEvidence]] = {("Ada", "Ben", "sibling"): [entry(1)]}
    assert confidences(evidence, 5000)["Ada", "Ben", "sibling"] < confidences(evidence, 5)["Ada", "Ben", "sibling"]


def test_children_of_a_parent_are_siblings_and_grandchildren_follow() -> None:
    found = confidences({
        ("Ada", "Cleo", "parent"): [entry(1), entry(2, "is")],
        ("Ben", "Cleo", "parent"): [entry(3), entry(4, "is")],
        ("Cleo", "Dora", "parent"): [entry(5), entry(6, "is")],
    })  # fmt: skip
    assert found["Ada", "Ben", "sibling"] > 0.5
    assert found["Ben", "Dora", "grandparent"] > 0.5


def test_a_spouses_mother_is_an_in_law() -> None:
    found = confidences({
        ("Ada", "Ben", "spouse"): [entry(1), entry(2, "is")],
        ("Ben", "Dora", "parent"): [entry(3), entry(4, "is")],
    })  # fmt: skip
    assert found["Ada", "Dora", "in-law"] > 0.5


def test_of_two_mothers_the_less_founded_is_doubted() -> None:
    found = confidences({
        ("Ada", "Cleo", "parent"): [entry(number, "vocative", term="mom") for number in range(20)],
        ("Ada", "Dora", "parent"): [entry(30, "vocative", term="mom")],
    })  # fmt: skip
    assert found["Ada", "Dora", "parent"] < 0.2 < 0.7 < found["Ada", "Cleo", "parent"]


def test_a_man_is_nobodys_mother() -> None:
    evidence: dict[TieKey, list[TieEvidence]] = {("Ada", "Mr. Dorn", "parent"): [entry(1, "vocative", term="mom")]}
    assert not confidences(evidence)


def test_repetition_counts_ever_less() -> None:
    once, twice, often = (mass_of([entry(number) for number in range(count)]) for count in (1, 2, 20))
    assert once < twice < often < 10 * once


def test_an_early_joke_does_not_date_a_tie() -> None:
    assert beginning([entry(10, "love"), entry(50_000, "dating"), entry(50_010, "dating")]) == 1
