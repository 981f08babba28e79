"""Bags of terms as sparse rows."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.guessing.terms import Terms

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
    rows = terms.view(["own", "heard"]).weighed(terms.counted(BAGS))
    squares = np.add.reduceat(rows.values**2, rows.starts[:-1])
    assert squares == pytest.approx([2.0, 2.0, 2.0])


def test_a_view_has_the_terms_of_its_spaces_alone_numbered_anew() -> None:
    terms = Terms(BAGS, ["own", "heard"])
    view = terms.view(["heard"])
    rows = view.weighed(terms.counted(BAGS[:1]))
    assert rows.width == 2
    assert [terms.term(int(view.numbers[column])) for column in rows.columns] == ["tide"]
    assert rows.values == pytest.approx([1.0])


def test_rarer_terms_count_more() -> None:
    terms = Terms(BAGS, ["own"])
    rows = terms.view(["own"]).weighed(terms.counted([{"own": {"key": 1, "the": 1}}]))
    value = dict(zip(map(terms.term, rows.columns.tolist()), rows.values.tolist()))
    assert value["key"] > value["the"] > 0


def test_words_of_one_space_are_known_in_the_others() -> None:
    terms = Terms(BAGS, ["own", "heard"])
    number, rarity = terms.words("own")
    told = {(terms.space(place), terms.term(place)): int(number[place]) for place in range(len(terms))}
    assert told["own", "the"] == told["heard", "the"] >= 0
    assert told["heard", "tide"] == -1  # nobody says it
    assert rarity[told["own", "key"]] == pytest.approx(np.log(4 / 3))
    assert rarity[told["own", "the"]] == pytest.approx(0)


def test_unknown_terms_and_empty_bags_are_nothing() -> None:
    rows = Terms(BAGS, ["own"]).counted([{"own": {"oar": 4}}, {"own": {}}])
    assert rows.starts.tolist() == [0, 0, 0]
