from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics.agreement import (
    auc,
    average_precision,
    calibration_error,
    cohens_kappa,
    precision_recall,
    ranks,
    spearman,
    spearman_p,
)


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
