from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured import table
from understudy.errors import InputError
from understudy.metrics.ratings import (
    Rating,
    Scale,
    VarianceComponents,
    correlations,
    correlations_with_people,
    items_needed,
    people_needed,
    rating_tables,
    variance_components,
)
from understudy.metrics.statistics import holm, spearman, spearman_interval, spearman_p

RATINGS = [
    Rating("a", "p1", "likely", "yes"),
    Rating("a", "p1", "points", 4),
    Rating("b", "p2", "points", 1.0),
    Rating("b", "p1", "points", None),
    Rating("c", "p2", "points", 5),
]


def test_each_question_has_its_table_of_items_by_people() -> None:
    tables = rating_tables(RATINGS)
    assert list(tables) == ["likely", "points"]
    points = tables["points"]
    assert (points.items, points.people) == (("a", "b", "c"), ("p1", "p2"))
    assert points.scale == Scale("ordinal", (1.0, 4, 5))
    assert points.codes.tolist() == [[1, -1], [-1, 0], [-1, 2]]
    assert points.counts.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert tables["likely"].scale == Scale("nominal", ("yes",))


def test_means_are_of_the_answers_there_are() -> None:
    assert table([[1, 2, None], [None, None, None], [5, 5, 4]], "interval").means() == {
        "i0": 1.5,
        "i2": pytest.approx(14 / 3),
    }
    words = table([["no", "yes"], ["maybe", "yes"]], "ordinal", ("no", "maybe", "yes"))
    assert words.numbers.tolist() == [[1, 3], [2, 3]]
    assert np.isnan(table([[1, None]], "ordinal").numbers[0, 1])
    with pytest.raises(InputError, match="no mean"):
        table([["yes", "no"]]).means()


def test_a_scale_names_its_answers_in_order() -> None:
    scale = Scale("ordinal", ("unlikely", "likely"))
    ratings = [Rating("a", "p1", "q", "likely"), Rating("a", "p2", "q", "unlikely")]
    assert rating_tables(ratings, {"q": scale})["q"].codes.tolist() == [[1, 0]]
    with pytest.raises(InputError, match="'perhaps' is no answer to 'q'"):
        rating_tables([*ratings, Rating("b", "p1", "q", "perhaps")], {"q": scale})
    with pytest.raises(InputError, match="name them in order"):
        rating_tables(ratings, {"q": Scale("ordinal")})


def test_what_cannot_be_a_table_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="'p1' answers 'points' twice for item 'a': keep one"):
        rating_tables([*RATINGS, Rating("a", "p1", "points", 2)])
    with pytest.raises(InputError, match="numbers and words"):
        rating_tables([*RATINGS, Rating("d", "p1", "points", "good")])
    with pytest.raises(InputError, match="not a finite number"):
        rating_tables([Rating("a", "p1", "q", float("nan"))])
    with pytest.raises(InputError, match="have no distances"):
        rating_tables(RATINGS, {"likely": Scale("interval")})
    with pytest.raises(InputError, match="begins at 0"):
        table([[-1, 2]], "ratio")
    with pytest.raises(InputError, match="names an answer twice"):
        Scale("nominal", ("a", "a"))
    with pytest.raises(InputError, match="no level of measurement"):
        Scale("metric")  # type: ignore[arg-type]


def simulated_width(between: float, within: float, items: int, people: int) -> float:
    """How wide 95% of the means lie in 4,000 studies."""
    rng = np.random.default_rng(0)
    levels = rng.normal(0, math.sqrt(between), (4000, items))
    means = (levels + rng.normal(0, math.sqrt(within / people), (4000, items))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(high - low)


def test_studies_of_the_size_that_was_worked_out_have_the_width_that_was_wanted() -> None:
    components = VarianceComponents(0.5, 1.2)
    items = items_needed(components, people=3, width=0.3)
    assert items.value == 154  # (.5 + 1.2 / 3) * (2 * 1.96 / .3)^2 = 153.66
    assert simulated_width(0.5, 1.2, 154, 3) == pytest.approx(0.3, rel=0.05)
    people = people_needed(components, items=120, width=0.3)
    assert people.value == 6  # 1.2 / (120 * .005857 - .5) = 5.91
    assert simulated_width(0.5, 1.2, 120, 6) == pytest.approx(0.3, rel=0.05)


def test_people_cannot_make_up_for_items() -> None:
    components = VarianceComponents(0.5, 1.0)
    missing = people_needed(components, items=50, width=0.3)
    assert (missing.value, missing.reason) == (None, "no number of people is enough with 50 items: take 86 at least")
    assert people_needed(components, 86, 0.3).value is not None
    assert people_needed(VarianceComponents(0.0, 1.0), 1, 0.5).value == 62, "one item's own mean: (2 * 1.96 / .5)^2"
    assert people_needed(VarianceComponents(0.0, 0.0), 1, 0.5).value == 1


def interval_width(components: VarianceComponents, items: int, people: int) -> float:
    """Of the 95% interval of the mean over so many items with so many people each."""
    return 2 * 1.959964 * math.sqrt(components.between / items + components.within / (items * people))


@given(st.floats(0, 3), st.floats(0.01, 3), st.integers(1, 20), st.floats(0.05, 2))
def test_one_fewer_would_not_do(between: float, within: float, people: int, width: float) -> None:
    components = VarianceComponents(between, within)
    items = int(items_needed(components, people, width).value or 0)
    assert interval_width(components, items, people) <= width * (1 + 1e-6)
    assert items == 1 or interval_width(components, items - 1, people) > width * (1 - 1e-6)
    needed = people_needed(components, items, width)
    assert needed.value is not None and needed.value <= people, "as many as the items were worked out for"
    assert interval_width(components, items, int(needed.value)) <= width * (1 + 1e-6)


def test_variances_are_found_in_a_table_with_gaps() -> None:
    rng = np.random.default_rng(0)
    levels = rng.normal(3, math.sqrt(0.5), 3000)
    answers = levels[:, None] + rng.normal(0, math.sqrt(1.2), (3000, 5))
    gaps = rng.random((3000, 5)) < 0.4
    rows = [[None if gap else float(value) for value, gap in zip(*pair)] for pair in zip(answers, gaps)]
    components = variance_components(table(rows, "interval"))
    assert (components.between, components.within) == pytest.approx((0.5, 1.2), abs=0.06)


def test_variances_by_hand() -> None:
    """Means 2 and 4, each answer 1 off: W = 4 / 2; the mean squares over items are 4 = W + 2 B."""
    components = variance_components(table([[1, 3], [3, 5]], "ordinal"))
    assert (components.between, components.within) == pytest.approx((1.0, 2.0))
    assert variance_components(table([[1, 3], [3, 1]], "ordinal")).between == 0
    with pytest.raises(InputError, match="two people about two items"):
        variance_components(table([[1, None], [None, 5]], "ordinal"))


def test_what_cannot_be_asked() -> None:
    with pytest.raises(InputError, match="name a width above 0"):
        items_needed(VarianceComponents(1, 1), 3, 0)
    with pytest.raises(InputError, match="from 0 up"):
        VarianceComponents(-1, 1)


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
