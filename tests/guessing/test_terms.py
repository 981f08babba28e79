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
    rows = terms.rows(BAGS)
    known = [terms.term(number) for number in range(rows.width)]
    assert sorted(known) == ["key", "the", "the", "tide"]
    assert [terms.term(number) for number in rows.columns[: rows.starts[1]]] == ["key", "the", "tide"]


def test_each_space_is_brought_to_length_one() -> None:
    rows = Terms(BAGS, ["own", "heard"]).rows(BAGS)
    squares = np.add.reduceat(rows.values**2, rows.starts[:-1])
    assert squares == pytest.approx([2.0, 2.0, 2.0])


def test_rarer_terms_count_more() -> None:
    rows = Terms(BAGS, ["own"]).rows([{"own": {"key": 1, "the": 1}}])
    terms = Terms(BAGS, ["own"])
    value = dict(zip(map(terms.term, rows.columns.tolist()), rows.values.tolist()))
    assert value["key"] > value["the"] > 0


def test_unknown_terms_and_empty_bags_are_nothing() -> None:
    rows = Terms(BAGS, ["own"]).rows([{"own": {"oar": 4}}, {"own": {}}])
    assert rows.starts.tolist() == [0, 0, 0]
