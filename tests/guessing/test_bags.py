"""What a scene shows of each mask, as bags of terms."""

from __future__ import annotations

from talkers import NAMES, scene
from understudy.guessing.bags import bags_of
from understudy.guessing.reading import read_scene
from understudy.guessing.terms import Bag
from understudy.story import Scene


def bags(one: Scene, *speakers: str) -> dict[str, Bag]:
    return bags_of(read_scene(one, NAMES, "en"), speakers, "en")


TALK = scene(
    ("P0", "gull, gull."),
    ("P1", "(shrugs) Hey Ann, bread."),
    (None, "Rain."),
    ("Vicar", "amen."),
    ("P0", "Good tide."),
    ("P0", "Boat."),
)


def test_own_words_pairs_calls_and_what_is_done_meanwhile() -> None:
    own = bags(TALK, "P0", "P1")["P1"]["own"]
    words, pairs = {"hey": 1, "ann": 1, "bread": 1}, {"< hey": 1, "hey ann": 1, "ann bread": 1, "bread >": 1}
    assert own == {**words, **pairs, "call:ann": 1, "aside:shrugs": 1}
    assert bags(TALK, "P0", "P1")["P0"]["own"]["gull"] == 2


def test_heard_is_what_others_say_just_before_and_answer_what_they_say_just_after() -> None:
    found = bags(TALK, "P0", "P1")
    assert found["P1"]["heard"] == {"gull": 2}
    assert set(found["P1"]["answer"]) == {"amen", "by:Vicar"}
    assert set(found["P0"]["heard"]) == {"amen", "by:Vicar"}  # its own line before the last one is not heard
    assert "boat" not in found["P0"]["heard"] and "tide" not in found["P0"]["answer"]


def test_a_mask_is_never_told_by_its_label() -> None:
    swapped = {"P0": "P1", "P1": "P0"}
    turned = scene(*((swapped.get(str(line.speaker), line.speaker), line.text) for line in TALK.lines))
    first, second = bags(TALK, "P0", "P1"), bags(turned, "P0", "P1")
    assert {swapped[mask]: bag for mask, bag in first.items()} == second


def test_shape_is_who_comes_in_when_and_says_how_much() -> None:
    found = bags(TALK, "P0", "P1")
    assert {"rank 0 of 2", "comes 0"} <= found["P0"]["shape"].keys()
    assert {"rank 1 of 2", "comes 1"} <= found["P1"]["shape"].keys()
    long = scene(*[("P0", "word " * 60)] * 30, ("P1", "Yes."))
    assert found["P0"]["shape"].keys() != bags(long, "P0", "P1")["P0"]["shape"].keys()


def test_who_does_not_speak_has_empty_bags() -> None:
    assert bags(TALK, "P0", "P7")["P7"] == {"own": {}, "heard": {}, "answer": {}, "shape": {}}
