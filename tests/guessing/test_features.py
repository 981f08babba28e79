"""What a scene shows of each mask, as bags of terms and as rows."""

from __future__ import annotations

import numpy as np
import pytest

from talkers import NAMES, PEOPLE, scene
from understudy.guessing.features import Bag, Terms, bags_of, named_scene_features, scene_features
from understudy.people.mentions import read_scene
from understudy.story.types import Scene


def bags(item: Scene, *speakers: str) -> dict[str, Bag]:
    return bags_of(read_scene(item, NAMES, "en"), speakers, "en")


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
    results = bags(TALK, "P0", "P1")
    assert results["P1"]["heard"] == {"gull": 2}
    assert set(results["P1"]["answer"]) == {"amen", "by:Vicar"}
    assert set(results["P0"]["heard"]) == {"amen", "by:Vicar"}  # its own line before the last one is not heard
    assert "boat" not in results["P0"]["heard"] and "tide" not in results["P0"]["answer"]


def test_a_mask_is_never_told_by_its_label() -> None:
    swapped = {"P0": "P1", "P1": "P0"}
    permuted = scene(*((swapped.get(str(line.speaker), line.speaker), line.text) for line in TALK.lines))
    first, second = bags(TALK, "P0", "P1"), bags(permuted, "P0", "P1")
    assert {swapped[mask]: bag for mask, bag in first.items()} == second


def test_shape_is_who_comes_in_when_and_says_how_much() -> None:
    results = bags(TALK, "P0", "P1")
    assert {"rank 0 of 2", "comes 0"} <= results["P0"]["shape"].keys()
    assert {"rank 1 of 2", "comes 1"} <= results["P1"]["shape"].keys()
    long = scene(*[("P0", "word " * 60)] * 30, ("P1", "Yes."))
    assert results["P0"]["shape"].keys() != bags(long, "P0", "P1")["P0"]["shape"].keys()


def test_who_does_not_speak_has_empty_bags() -> None:
    assert bags(TALK, "P0", "P7")["P7"] == {"own": {}, "heard": {}, "answer": {}, "shape": {}}


BAGS = [
    {"own": {"key": 1, "the": 2}, "heard": {"tide": 1}},
    {"own": {"key": 3, "the": 1}, "heard": {"tide": 2, "the": 1}},
    {"own": {"boat": 1, "the": 1}, "heard": {"the": 1}},
]


def test_a_term_is_another_in_another_space_and_rare_ones_are_left_out() -> None:
    terms = Terms(BAGS, ["own", "heard"])
    rows = terms.counted(BAGS)
    known = [(terms.space(number), terms.term(number)) for number in range(len(terms))]
    assert sorted(known) == [("heard", "the"), ("heard", "tide"), ("own", "key"), ("own", "the")]
    assert [terms.term(number) for number in rows.columns[: rows.starts[1]]] == ["key", "the", "tide"]
    assert rows.values[: rows.starts[1]].tolist() == [1, 2, 1]


def test_a_pair_of_words_must_be_seen_more_often_than_a_word() -> None:
    bags = [{"own": {"the key": 1, "a boat": 1, "key": 1}}] * 2 + [{"own": {"the key": 1}}]
    terms = Terms(bags, ["own"])
    assert {terms.term(number) for number in range(len(terms))} == {"the key", "key"}


def test_each_space_is_brought_to_length_one() -> None:
    terms = Terms(BAGS, ["own", "heard"])
    rows = terms.view(["own", "heard"]).weighted(terms.counted(BAGS))
    squares = np.add.reduceat(rows.values**2, rows.starts[:-1])
    assert squares == pytest.approx([2.0, 2.0, 2.0])


def test_a_view_has_the_terms_of_its_spaces_alone_numbered_anew() -> None:
    terms = Terms(BAGS, ["own", "heard"])
    view = terms.view(["heard"])
    rows = view.weighted(terms.counted(BAGS[:1]))
    assert rows.width == 2
    assert [terms.term(int(view.numbers[column])) for column in rows.columns] == ["tide"]
    assert rows.values == pytest.approx([1.0])


def test_rarer_terms_count_more() -> None:
    terms = Terms(BAGS, ["own"])
    rows = terms.view(["own"]).weighted(terms.counted([{"own": {"key": 1, "the": 1}}]))
    value = dict(zip(map(terms.term, rows.columns.tolist()), rows.values.tolist()))
    assert value["key"] > value["the"] > 0


def test_words_of_one_space_are_known_in_the_others() -> None:
    terms = Terms(BAGS, ["own", "heard"])
    number, rarity = terms.words("own")
    content = {(terms.space(index), terms.term(index)): int(number[index]) for index in range(len(terms))}
    assert content["own", "the"] == content["heard", "the"] >= 0
    assert content["heard", "tide"] == -1  # nobody says it
    assert rarity[content["own", "key"]] == pytest.approx(np.log(4 / 3))
    assert rarity[content["own", "the"]] == pytest.approx(0)


def test_unknown_terms_and_empty_bags_are_nothing() -> None:
    rows = Terms(BAGS, ["own"]).counted([{"own": {"oar": 4}}, {"own": {}}])
    assert rows.starts.tolist() == [0, 0, 0]


KITCHEN_TALK = scene(
    ("Cleo", "Hey Ann, the song."), ("Vicar", "Amen."), ("Ann", "(sighs) We saw Ben."), ("Cleo", "Yes.")
)


def test_told_parts_are_of_the_main_characters_who_speak_in_their_own_order() -> None:
    parts = named_scene_features(KITCHEN_TALK, PEOPLE, NAMES, "en")
    assert parts.speakers == ("Ann", "Cleo")
    assert len(parts.listed()) == 2
    assert parts.listed()[0] is parts.bags["Ann"]


def test_what_somebody_says_whom_they_name_and_how_much_it_is() -> None:
    parts = scene_features(KITCHEN_TALK, ["Cleo", "Ann"], NAMES, "en")
    assert parts.texts("Cleo") == ["Hey Ann, the song.", "Yes."]
    assert parts.length("Cleo") == 5
    assert parts.length("Ann") == 3  # what is done meanwhile is not said
    assert {"ann", "yes"} <= set(parts.named_by("Cleo"))
    assert parts.named_by("Ann") == ["we", "ben"]
    assert parts.length("Ben") == 0 and parts.texts("Ben") == []
