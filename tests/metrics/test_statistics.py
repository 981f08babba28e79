from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics.statistics import (
    Estimate,
    Interval,
    auc,
    auc_interval,
    average_precision,
    calibration_error,
    cohens_kappa,
    holm,
    interval,
    paired_p,
    precision_recall,
    ranks,
    spearman,
    spearman_interval,
    spearman_p,
    spearman_p_values,
    totals_interval,
    wilson,
)

shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]).tolist() == [3.5, 1.0, 3.5, 2.0]


def test_spearman_with_ties_is_the_correlation_of_the_ranks() -> None:
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5
    assert spearman([1, 2, 2, 9], [10, 20, 30, 40]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert spearman([1, 2, 3], [9, 8, 7]) == pytest.approx(-1)
    assert math.isnan(spearman([1, 1, 1], [1, 2, 3]))


def test_what_has_nothing_to_do_with_each_other_is_not_significant() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=60)
    assert spearman_p(noise, rng.normal(size=60)) > 0.05
    assert spearman_p(noise, noise + 0.1 * rng.normal(size=60)) == pytest.approx(1 / 10_001)


def test_average_precision_steps_at_every_threshold() -> None:
    # found in order: wanted, not, wanted -> 1/2 * 1 + 1/2 * 2/3
    assert average_precision([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0]) == pytest.approx(0.5 + 0.5 * 2 / 3)


def test_equal_scores_are_found_together_whatever_their_order() -> None:
    assert average_precision([1, 1, 1, 1], [1, 0, 0, 0]) == pytest.approx(0.25)
    assert average_precision([1, 1, 1, 1], [0, 0, 0, 1]) == pytest.approx(0.25)
    precision, recall = precision_recall([2, 1, 1], [0, 1, 0])
    assert precision.tolist() == [0, pytest.approx(1 / 3)]
    assert recall.tolist() == [0, 1]


def test_nothing_wanted_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing is wanted"):
        average_precision([1.0, 2.0], [0, 0])
    with pytest.raises(ValueError, match="some must be wanted"):
        auc([1.0, 2.0], [1, 1])


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auc_is_the_share_of_pairs_in_order(pairs: list[tuple[int, bool]]) -> None:
    wanted = [score for score, is_wanted in pairs if is_wanted]
    not_wanted = [score for score, is_wanted in pairs if not is_wanted]
    if not wanted or not not_wanted:
        return
    share = sum((a > b) + 0.5 * (a == b) for a in wanted for b in not_wanted) / (len(wanted) * len(not_wanted))
    assert auc([score for score, _ in pairs], [is_wanted for _, is_wanted in pairs]) == pytest.approx(share)


def test_calibration_is_the_gap_between_what_was_said_and_what_was_so() -> None:
    assert calibration_error([0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0]) == pytest.approx(0)
    assert calibration_error([0.95, 0.95], [0, 1]) == pytest.approx(0.45)
    assert calibration_error([1.0, 0.0], [0, 0]) == pytest.approx(0.5)
    assert calibration_error([1.0, 0.0], [0, 0], weights=[0, 1]) == 0


def test_kappa_is_agreement_beyond_what_chance_gives() -> None:
    # 35 of 50 agree; by chance (25 * 30 + 25 * 20) / 50^2 = 0.5 of them would
    assert float(cohens_kappa([[20, 5], [10, 15]])) == pytest.approx(0.4)
    assert cohens_kappa([[[9, 0], [0, 3]], [[0, 5], [5, 0]]]).tolist() == [1.0, -1.0]
    assert math.isnan(float(cohens_kappa([[7, 0], [0, 0]])))


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


def test_resamples_without_a_value_are_left_out() -> None:
    """One item in three has a denominator: a resample without it (8 of 27) has no ratio, all others have 2."""
    columns = [[2.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    with np.errstate(invalid="ignore"):
        result = totals_interval(columns, lambda totals: totals[..., 0] / totals[..., 1])
    assert result == (2.0, 2.0, 2.0)


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


def test_resampled_ranks_are_those_of_the_resample() -> None:
    """An interval of a correlation or an area is what drawing the items one by one gives."""
    rng = np.random.default_rng(5)
    ours, theirs = rng.integers(0, 6, 60).astype(float), rng.integers(1, 4, 60).astype(float)
    theirs += ours > 3
    groups = [str(index // 3) for index in range(60)]
    times = np.random.default_rng(0).multinomial(20, np.full(20, 1 / 20), 200)
    drawn = [np.repeat(np.arange(60), np.repeat(row, 3)) for row in times]
    by_hand = np.percentile([spearman(ours[some], theirs[some]) for some in drawn], [2.5, 97.5])
    figure = spearman_interval(ours, theirs, groups, resamples=200)
    assert (figure.low, figure.high) == pytest.approx(tuple(by_hand))
    assert figure.value == pytest.approx(spearman(ours, theirs))
    liked = theirs > 2
    by_hand = np.percentile([auc(ours[some], liked[some]) for some in drawn], [2.5, 97.5])
    assert auc_interval(ours, liked, groups, resamples=200)[1:] == pytest.approx(tuple(by_hand))
    assert math.isnan(spearman_interval(np.ones(9), np.arange(9.0)).low)


def test_several_columns_are_tested_as_if_alone() -> None:
    rng = np.random.default_rng(2)
    theirs = rng.normal(size=50)
    columns = [rng.normal(size=50), theirs + rng.normal(size=50), -theirs]
    alone = [spearman_p(column, theirs, shuffles=2000) for column in columns]
    assert spearman_p_values(columns, theirs, shuffles=2000) == pytest.approx(alone)
    assert alone[0] > 0.05 > alone[1] > alone[2] - 1e-9


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


def test_the_wilson_interval_has_width_at_the_ends_and_narrows_with_more_items() -> None:
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.0, 0.2775), abs=1e-4)
    assert wilson(1.0, 10) == pytest.approx((1.0, 0.7225, 1.0), abs=1e-4)
    assert wilson(0.5, 100) == pytest.approx((0.5, 0.4038, 0.5962), abs=1e-4)
    with pytest.raises(ValueError, match="share of nothing"):
        wilson(0.0, 0)


def test_what_is_not_a_number_is_missing_with_its_reason() -> None:
    assert Estimate.of("r", Interval(math.nan, 0, 1), 3, "all equal") == Estimate.missing("r", 3, "all equal")
    assert Estimate.of("r", Interval(0.5, math.nan, math.nan), 1, "") == Estimate("r", 0.5, None, None, 1)


def test_a_row_has_the_keys_that_reports_have() -> None:
    row = Estimate("r", 0.5, 0.25, 0.75, 9).row()
    assert row == {"metric": "r", "value": 0.5, "low": 0.25, "high": 0.75, "n": 9, "paper": None}
    assert Estimate.missing("r", 3, "all equal").row()["reason"] == "all equal"
