"""What is known of a candidate beside what it said."""

from __future__ import annotations

import math

import pytest

from talkers import NAMES, scene
from understudy.guessing.facts import fact_table, shared_facts
from understudy.guessing.parts import parts_of
from understudy.persona import Persona
from understudy.story import Moment, Relation

BAKER = Persona(
    "Ben Crust",
    profile=("I bake bread at night.", "They call me Crust."),
    attributes={"belongings": ("a brass oven",)},
    relations=(Relation("Ben Crust", "Ann Bell", "friend", None, Moment((1,))),),
)
STRANGER = Persona("Ann Bell")
TALK = scene(("P0", "The bread is in the oven, Crust. Hey Ann, ask Ann."), ("P1", "Nothing is."))
PARTS = parts_of(TALK, ["P0", "P1"], NAMES, "en")


def test_a_mask_that_speaks_of_what_is_known_and_names_whom_one_is_tied_to() -> None:
    table = fact_table(PARTS, [BAKER, STRANGER])
    said = {"the", "bread", "is", "in", "oven", "crust", "hey", "ann", "ask"}
    # 'bread', 'oven' and, of the tie, 'ann'; one's own name is no clue
    assert table[0, 0, 0] == pytest.approx(3 / math.sqrt(1 + len(said)))
    assert table[0, 0, 1] == pytest.approx(math.log(3))
    assert table[1, 0].tolist() == [0, 0]


def test_of_whom_nothing_is_known_nothing_is_said() -> None:
    assert not fact_table(PARTS, [STRANGER, Persona("Cleo")]).any()


def test_the_sentence_that_shares_most_comes_first() -> None:
    persona = Persona("Ben", profile=("I like bread.", "I bake bread in an oven."))
    assert shared_facts(PARTS, "P0", persona) == [
        ("I bake bread in an oven.", ["bread", "oven"]),
        ("I like bread.", ["bread"]),
    ]
    assert shared_facts(PARTS, "P1", persona) == []


def test_ones_own_name_and_words_without_meaning_are_not_shared() -> None:
    assert shared_facts(PARTS, "P0", Persona("Ann", profile=("Ann is in the house.",))) == []
