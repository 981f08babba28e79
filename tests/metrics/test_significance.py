from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics.significance import holm, interval, paired_p

shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(shares)
def test_an_interval_lies_within_what_was_seen(values: list[float]) -> None:
    result = interval(values, resamples=200)
    assert result.value == pytest.approx(float(np.mean(values)))
    assert min(values) - 1e-9 <= result.low <= result.high <= max(values) + 1e-9


def test_an_interval_is_as_wide_as_theory_says() -> None:
    values = np.random.default_rng(0).random(2000) < 0.4
    result = interval(values)
    wide = 2 * 1.96 * np.sqrt(0.4 * 0.6 / 2000)
    assert result.high - result.low == pytest.approx(wide, rel=0.1)
    assert interval(values) == result
    assert interval(values, seed=1) != result


def test_items_that_always_agree_with_their_group_are_not_counted_as_many() -> None:
    once = np.random.default_rng(0).random(200) < 0.4
    tenfold, groups = np.repeat(once, 10), [str(index // 10) for index in range(2000)]
    assert interval(tenfold, groups) == pytest.approx(interval(once), abs=1e-9)
    alone = interval(tenfold)
    assert alone.high - alone.low < 0.5 * (interval(once).high - interval(once).low)


def test_a_mean_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        interval([])
    with pytest.raises(ValueError, match="group for each"):
        interval([1.0, 0.0], ["a"])


@given(shares)
def test_a_run_does_not_differ_from_itself(values: list[float]) -> None:
    assert paired_p(values, values) == 1.0


@given(shares, st.integers(0, 100))
def test_a_p_value_does_not_depend_on_who_comes_first(values: list[float], seed: int) -> None:
    other = values[::-1]
    there, back = paired_p(values, other, seed=seed, swaps=200), paired_p(other, values, seed=seed, swaps=200)
    assert there == pytest.approx(back)
    assert 0 < there <= 1


def test_p_values_against_the_exact_ones() -> None:
    """Eight items, one agent always better: of the 256 ways to swap, two are as extreme."""
    assert paired_p([1.0] * 8, [0.0] * 8, swaps=20_000) == pytest.approx(2 / 256, abs=0.002)
    assert paired_p([1.0, 0.0], [0.0, 1.0]) == 1.0
    rng = np.random.default_rng(3)
    assert paired_p(rng.random(500) + 0.5, rng.random(500)) < 0.001
    assert paired_p(rng.random(500) < 0.5, rng.random(500) < 0.5) > 0.01


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_makes_anything_more_certain(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[index] for index in order] == sorted(adjusted)
