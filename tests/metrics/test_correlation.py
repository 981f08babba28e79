from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rated import table
from understudy.metrics.correlation import correlations, correlations_with_people
from understudy.metrics.statistics import holm, spearman, spearman_interval, spearman_p


def test_values_are_joined_with_the_means_of_their_items() -> None:
    rows = [[n % 5 + 1, (n + n // 10) % 5 + 1, None] for n in range(30)]
    own = table([*rows, [None, None, None]], "ordinal")
    means = own.means()
    mirrored = {item: -mean for item, mean in reversed(list(means.items()))}
    partly = {item: mean if index > 9 else None for index, (item, mean) in enumerate(means.items())}
    rare = {"i1": 1.0, "i30": 5.0, "of no item": 2.0}
    found = correlations_with_people(
        {"mirrored": mirrored, "partly": partly, "rare": rare, "same": dict.fromkeys(means, 1.0)}, own, shuffles=500
    )
    assert found["mirrored"].estimate.value == pytest.approx(-1) and found["mirrored"].estimate.n == 30
    assert found["partly"].estimate.value == pytest.approx(1) and found["partly"].estimate.n == 20
    assert found["rare"].row() == {
        "metric": "spearman",
        "value": None,
        "low": None,
        "high": None,
        "n": 1,
        "paper": None,
        "reason": "fewer than 10 items have it",
    }
    assert found["same"].estimate.reason == "all items have the same value" and found["same"].p is None
    assert found["partly"].p_adjusted == pytest.approx(2 / 501), "two measures were tested, and no shuffle reached them"


def test_figures_are_those_of_each_measure_alone() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=40)
    measures = {"noise": rng.normal(size=40), "good": scores + rng.normal(size=40)}
    measures["good"][:5] = np.nan
    groups = [index // 2 for index in range(40)]
    found = correlations(measures, scores, groups, shuffles=1000)
    p_values = []
    for name, column in measures.items():
        valid = ~np.isnan(column)
        own_groups = [group for group, there in zip(groups, valid) if there]
        figure = spearman_interval(column[valid], scores[valid], own_groups)
        estimate = found[name].estimate
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx(tuple(figure))
        p_values.append(spearman_p(column[valid], scores[valid], shuffles=1000))
        assert found[name].p == pytest.approx(p_values[-1])
    assert [found[name].p_adjusted for name in measures] == pytest.approx(holm(p_values))


def test_people_who_all_say_the_same_have_no_order() -> None:
    found = correlations({"length": np.arange(12.0)}, np.full(12, 3.0))
    assert found["length"].estimate.reason == "people gave all items the same"


@given(st.permutations(range(15)))
def test_the_order_of_the_items_does_not_matter(order: list[int]) -> None:
    scores = np.array([index % 4 for index in range(15)], dtype=np.float64)
    column = np.array([index * index % 7 for index in range(15)], dtype=np.float64)
    found = correlations({"m": column[order]}, scores[order], shuffles=10)
    assert found["m"].estimate.value == pytest.approx(spearman(column, scores))
