from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import AgentError
from understudy.metrics.ranking import RANKING, gold_ranks, per_item

scores = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=20)


def value(metric: str, *ranks: int) -> float:
    return float(per_item([ranks], metric)[0])


def test_places_count_from_one_and_ties_count_against_the_right_reply() -> None:
    assert gold_ranks([0.1, 0.9, 0.5], {1}) == (1,)
    assert gold_ranks([0.1, 0.9, 0.5], {0}) == (3,)
    assert gold_ranks([0.5, 0.5, 0.5], {0}) == gold_ranks([0.5, 0.5, 0.5], {2}) == (3,)
    assert gold_ranks([0.5, 0.9, 0.5, 0.1], {0, 3}) == (3, 4)
    assert gold_ranks([1.0, 1.0], {0, 1}) == (1, 2)
    assert gold_ranks([-math.inf, 0.0], {0}) == (2,)


def test_figures_worked_out_by_hand() -> None:
    assert [value("hits@1", 1), value("hits@1", 2), value("hits@5", 5), value("hits@5", 6)] == [1, 0, 1, 0]
    assert value("mrr", 4) == 0.25
    assert value("mrr", 2, 3) == 0.5
    assert value("map", 1, 4) == pytest.approx((1 / 1 + 2 / 4) / 2)
    assert per_item([(1,), (3,), (1,)], "mrr").tolist() == pytest.approx([1, 1 / 3, 1])
    assert per_item([], "mrr").tolist() == []


@given(scores, st.data())
def test_measures_are_shares_and_grow_with_depth(row: list[float], data: st.DataObject) -> None:
    gold = {data.draw(st.integers(0, len(row) - 1))}
    ranks = [gold_ranks(row, gold)]
    hits = [float(per_item(ranks, f"hits@{k}")[0]) for k in (1, 2, 5, 20)]
    assert hits == sorted(hits)
    assert hits[-1] == 1.0
    for metric in RANKING:
        assert 0 <= per_item(ranks, metric)[0] <= 1
    assert hits[0] <= float(per_item(ranks, "mrr")[0]) <= 1


@given(st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_are_listed_does_not_matter(row: list[float], random: object) -> None:
    order = list(range(len(row)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = [row[index] for index in order]
    assert gold_ranks(row, {0}) == gold_ranks(shuffled, {order.index(0)})


@given(scores)
def test_scoring_everything_alike_gains_nothing(row: list[float]) -> None:
    assert gold_ranks([1.0] * len(row), {0}) == (len(row),)


def test_many_items_agree_with_the_plain_formulas() -> None:
    ranks = np.random.default_rng(1).integers(1, 21, 500)
    items = [(int(rank),) for rank in ranks]
    assert per_item(items, "hits@5").mean() == pytest.approx((ranks <= 5).mean())
    assert per_item(items, "mrr").mean() == pytest.approx((1 / ranks).mean())


def test_what_cannot_be_ranked_is_said() -> None:
    with pytest.raises(AgentError, match="not a number"):
        gold_ranks([0.1, math.nan], {0})
    for wrong in (set[int](), {2}, {-1}):
        with pytest.raises(ValueError, match="gold"):
            gold_ranks([0.1, 0.2], wrong)
    for unknown in ("hits@0", "hits", "accuracy"):
        with pytest.raises(ValueError, match="no ranking metric"):
            per_item([(1,)], unknown)
