"""Who is named where, and what is known of a candidate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkers import NAMES, PEOPLE, scene
from understudy.guessing.clues import CUES, cue_table, fact_table, shared_facts
from understudy.guessing.features import scene_features
from understudy.people.mentions import ReadScene, read_scene
from understudy.people.names import CharacterNames
from understudy.story.persona import Persona
from understudy.story.types import Moment, Relation, Scene

MEANT = {"ann": "Ann", "ben": "Ben"}


def read(item: Scene, names: CharacterNames = NAMES) -> ReadScene:
    return read_scene(item, names, "en")


def cues(
    *lines: tuple[str | None, str], setting: str = "", meant: dict[str, str] = MEANT
) -> dict[tuple[str, str], set[str]]:
    """The cues that come up, by mask and candidate."""
    table = cue_table(read(scene(*lines, setting=setting)), ["P0", "P1"], ["Ann", "Ben"], meant)
    return {
        (mask, who): {cue for cue, value in zip(CUES, table[row, column]) if value > 0}
        for row, mask in enumerate(["P0", "P1"])
        for column, who in enumerate(["Ann", "Ben"])
    }


def test_who_is_called_answers_and_nobody_calls_themselves() -> None:
    results = cues(("P0", "Ann, come here."), ("P1", "Coming."))
    assert results["P0", "Ann"] == {"calls"}
    assert {"called before it speaks", "never names", "never calls"} <= results["P1", "Ann"]
    assert results["P0", "Ben"] == results["P1", "Ben"] == set()


def test_who_is_called_has_just_spoken() -> None:
    results = cues(("P1", "I did it."), ("P0", "Oh, Ann!"))
    assert "called after it spoke" in results["P1", "Ann"]


def test_called_between_two_lines_and_by_name_alone() -> None:
    results = cues(("P1", "I left."), ("P0", "Ann?"), ("P1", "I had to."))
    assert {"called between two of its lines", "called by name alone"} <= results["P1", "Ann"]
    results = cues(("P1", "I left."), ("P0", "Ann, you always say that to me."), ("P1", "I had to."))
    assert "called by name alone" not in results["P1", "Ann"]


def test_two_lines_on_is_a_cue_of_its_own() -> None:
    results = cues(("P0", "Ann, stop."), ("Vicar", "Amen."), ("P1", "Why?"))
    assert "called two before" in results["P1", "Ann"]
    assert "called before it speaks" not in results["P1", "Ann"]


def test_talked_of_or_owned_is_not_called() -> None:
    assert cues(("P0", "we saw Ann there"), ("P1", "Yes."))["P0", "Ann"] == {"talks of"}
    assert cues(("P0", "we took Ann's coat"), ("P1", "Yes."))["P0", "Ann"] == {"talks of theirs"}
    assert "never calls" not in cues(("P0", "we saw Ann there"), ("P1", "Yes."))["P1", "Ann"]


def test_introduced_turned_to_described_and_set() -> None:
    assert "says 'I am'" in cues(("P0", "hello, I'm Ann."), ("P1", "Hi."))["P0", "Ann"]
    results = cues(("P0", "(to Ann) Hi."), ("P1", "Hi."))
    assert "turns to" in results["P0", "Ann"] and "turned to before" in results["P1", "Ann"]
    results = cues(("P0", "Hush."), (None, "Ben enters, and Ann."), ("P1", "Hi."))
    assert {"described before", "comes in before"} <= results["P1", "Ben"]
    assert results["P1", "Ann"] >= {"described before, not first"} and "comes in before" not in results["P1", "Ann"]
    assert "described after" in results["P0", "Ben"]
    results = cues(("P0", "Hush."), ("P1", "Hi."), setting="Ann is alone, then Ben.")
    assert results["P0", "Ann"] == {"setting, speaks first"}
    assert results["P0", "Ben"] == {"setting, not first"}
    assert "setting, speaks late" in results["P1", "Ann"]


def test_more_of_a_cue_counts_more_but_not_twice_as_much() -> None:
    lines: list[tuple[str | None, str]] = [("P0", "Ann!"), ("P1", "Yes?")]
    index = list(CUES).index("calls")
    table = cue_table(read(scene(*lines * 3)), ["P0", "P1"], ["Ann", "Ben"], MEANT)
    assert table[0, 0, index] == pytest.approx(np.log(4))


def test_names_inside_other_names_and_of_nobody_present_say_nothing() -> None:
    results = cues(("P0", "Anna, Benjamin, Annabel!"), ("P1", "Yes?"), setting="Bent Annex")
    assert not any(results.values())
    assert not any(cues(("P0", "Cleo!"), ("P1", "Yes?"), meant={"cleo": "Cleo"}).values())


LINES = st.lists(
    st.tuples(
        st.sampled_from(["P0", "P1", "Vicar", None]),
        st.sampled_from(["Ann!", "I'm Ben.", "we saw Ann", "(to Ben) no", "Ben enters.", "so it is"]),
    ),
    max_size=12,
)


@given(LINES)
def test_masks_and_candidates_may_stand_in_any_order(lines: list[tuple[str | None, str]]) -> None:
    story_scenes = read(scene(*lines))
    table = cue_table(story_scenes, ["P0", "P1"], PEOPLE, MEANT)
    permuted = cue_table(story_scenes, ["P1", "P0"], PEOPLE[::-1], MEANT)
    assert table[::-1, ::-1] == pytest.approx(permuted)
    assert (table >= 0).all()


BAKER = Persona(
    "Ben Crust",
    profile=("I bake bread at night.", "They call me Crust."),
    attributes={"belongings": ("a brass oven",)},
    relations=(Relation("Ben Crust", "Ann Bell", "friend", None, Moment((1,))),),
)
STRANGER = Persona("Ann Bell")
TALK = scene(("P0", "The bread is in the oven, Crust. Hey Ann, ask Ann."), ("P1", "Nothing is."))
PARTS = scene_features(TALK, ["P0", "P1"], NAMES, "en")


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
