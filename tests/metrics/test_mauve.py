from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.metrics.mauve import delta_m, divergence_frontier, frontier_area, mauve, mauve_of_features

LEAST = 5 * math.gamma(6) * math.gamma(5) / math.gamma(11)  # c B(c + 1, c)
SHARES = st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(any)
WORDS = "tide boat rope lamp key sail quay mist gull crane".split()


def gaussian(rng: np.random.Generator, count: int, mean: float = 0.0) -> np.ndarray:
    return rng.normal(mean, 1, (count, 8))


def bag(texts: Sequence[str]) -> np.ndarray:
    """Features that can be read: how often each word is said."""
    return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=float)


def test_nothing_in_common_is_the_least_there_is() -> None:
    assert abs(LEAST - 0.003968) < 1e-6
    assert frontier_area([1, 0], [0, 1]) == pytest.approx(LEAST, abs=1e-6)
    assert frontier_area([0.5, 0.5, 0, 0], [0, 0, 0.1, 0.9]) == pytest.approx(LEAST, abs=1e-6)


def test_two_bins_against_the_integral_of_the_closed_form() -> None:
    """P = (p, 1 - p), Q = (q, 1 - q): x and y are functions of l that can be written down and integrated."""
    from scipy.integrate import quad

    for p, q in ((0.9, 0.2), (0.5, 0.45), (0.99, 0.6)):

        def kl(a: float, r: float) -> float:
            return a * math.log(a / r) + (1 - a) * math.log((1 - a) / (1 - r))

        def y_dx(weight: float, p: float = p, q: float = q) -> float:
            """y(l) * dx/dl, with x = exp(-5 KL(Q | R)): dx/dl = -5 x dKL/dr (p - q)."""
            r = weight * p + (1 - weight) * q
            slope = -q / r + (1 - q) / (1 - r)
            return math.exp(-5 * kl(p, r)) * math.exp(-5 * kl(q, r)) * -5 * slope * (p - q)

        # from (0, 1) to where R = P, under the curve to where R = Q, and then straight down to (1, 0)
        area = math.exp(-5 * kl(q, p)) - quad(y_dx, 0, 1)[0]
        assert frontier_area([p, 1 - p], [q, 1 - q]) == pytest.approx(area, abs=1e-3)
        assert frontier_area([p, 1 - p], [q, 1 - q], points=100_000) == pytest.approx(area, abs=1e-5)


@given(SHARES, st.data())
def test_the_area_has_its_bounds_is_symmetric_and_counts_bins_in_any_order(p: list[int], data: st.DataObject) -> None:
    q = data.draw(st.lists(st.integers(0, 9), min_size=len(p), max_size=len(p)).filter(any))
    ours, theirs = np.array(p) / sum(p), np.array(q) / sum(q)
    area = frontier_area(ours, theirs)
    assert LEAST - 1e-6 <= area <= 1 + 1e-12
    assert frontier_area(theirs, ours) == pytest.approx(area)
    order = data.draw(st.permutations(range(len(p))))
    assert frontier_area(ours[order], theirs[order]) == pytest.approx(area)
    assert frontier_area(ours, ours) == pytest.approx(1)
    x, y = divergence_frontier(ours, theirs)
    assert (np.diff(x) >= -1e-12).all()
    assert (np.diff(y) <= 1e-12).all()


def test_the_same_set_is_one_and_sets_far_apart_the_least() -> None:
    rng = np.random.default_rng(0)
    ours = gaussian(rng, 300)
    assert mauve_of_features(ours, ours) == pytest.approx(1)
    assert mauve_of_features(ours, rng.permutation(ours)) == pytest.approx(1)
    assert mauve_of_features(ours, gaussian(rng, 300, 50.0)) == pytest.approx(LEAST, abs=1e-6)


def test_the_further_apart_the_smaller() -> None:
    rng = np.random.default_rng(1)
    ours = gaussian(rng, 400)
    values = [mauve_of_features(ours, gaussian(rng, 400, shift)) for shift in (0.0, 0.4, 0.8, 1.6)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.9
    assert values[-1] < 0.1


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.integers(2, 60), st.integers(2, 60))
def test_neither_order_nor_which_is_first_matters(seed: int, ours_count: int, theirs_count: int) -> None:
    rng = np.random.default_rng(seed)
    ours, theirs = gaussian(rng, ours_count), gaussian(rng, theirs_count, 0.5)
    value = mauve_of_features(ours, theirs, seed=3)
    assert mauve_of_features(theirs, ours, seed=3) == pytest.approx(value)
    assert mauve_of_features(rng.permutation(ours), rng.permutation(theirs), seed=3) == pytest.approx(value)
    assert LEAST - 1e-6 <= value <= 1 + 1e-12


def test_few_different_texts_and_none() -> None:
    same = np.ones((30, 4))
    assert mauve_of_features(same, same) == pytest.approx(1)
    with pytest.raises(ValueError, match="without texts"):
        mauve_of_features(same, np.zeros((0, 4)))


def said(rng: np.random.Generator, words: list[str], count: int = 60) -> list[str]:
    return [" ".join(rng.choice(words, 3)) for _ in range(count)]


def test_texts_by_an_encoder_of_ones_own_over_seeds() -> None:
    rng = np.random.default_rng(5)
    sea, land = WORDS[:5], WORDS[5:]
    replies, right, wrong = said(rng, sea), said(rng, sea), said(rng, land)
    near, far = mauve(replies, right, bag), mauve(replies, wrong, bag)
    assert near.low <= near.value <= near.high
    assert near.low > 0.5 > 0.1 > far.high
    difference = delta_m(right, wrong, replies, bag)
    assert difference.value == pytest.approx(near.value - far.value)
    assert difference.low > 0
    assert mauve(replies, right, bag) == near


def test_the_shipped_encoder_tells_talk_of_the_sea_from_talk_of_bread() -> None:
    sea = [f"The {what} is out {where}." for what in ("tide", "boat", "ship") for where in ("at sea", "by the quay")]
    bread = [f"I {do} the {what}." for what in ("bread", "cake", "dough") for do in ("bake", "eat")]
    assert mauve(sea, sea, seeds=1).value == pytest.approx(1)
    assert mauve(sea, bread, seeds=1).value < 0.1
