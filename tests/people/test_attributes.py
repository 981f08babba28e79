from __future__ import annotations

import pytest

from understudy.people.statements import Merged, attribute_facts, attribute_of
from understudy.story.types import Moment


@pytest.mark.parametrize(
    ("sentence", "attribute", "value"),
    [
        ("I am a nurse", "title", "a nurse"),
        ("I am thirty-two years old", "age", "thirty-two years old"),
        ("I am a woman", "gender", "female"),
        ("I have two dogs", "belongings", "two dogs"),
        ("I work at the bank", "affiliation", "the bank"),
        ("I am shy", "character", "shy"),
        ("I have blue eyes", "looks", "blue eyes"),
        ("I love swing music", "hobby", "swing music"),
    ],
)
def test_attributes(sentence: str, attribute: str, value: str) -> None:
    assert attribute_of(sentence) == (attribute, value)


def test_people_are_no_belongings() -> None:
    assert attribute_of("I have a sister") is None


def test_several_values_are_known_to_those_who_heard_all() -> None:
    def item(sentence: str, line: int, *witnesses: str) -> Merged:
        return Merged(sentence, "owned", 0.9, (Moment((1, line)),), witnesses, 1.0, Moment((1, line)))

    found = [item("I own a boat", 1, "Ada", "Bela"), item("I own a car", 5, "Ada", "Cas")]
    facts = list(attribute_facts("Ada", found, lambda line: line))
    assert [fact.values for fact in facts] == [("a boat",), ("a boat", "a car")]
    assert [fact.found and fact.found.witnesses for fact in facts] == [("Ada", "Bela"), ("Ada",)]
