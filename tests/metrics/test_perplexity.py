from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics.perplexity import SetLikelihood, delta_p_by_item, delta_p_of_sets, perplexity, word_units
from understudy.metrics.statistics import interval

LOG_PROB = st.floats(-200, -0.01)
ITEMS = st.lists(st.tuples(LOG_PROB, st.integers(1, 30)), min_size=1, max_size=12)


def likelihood(pairs: list[tuple[float, int]]) -> SetLikelihood:
    return SetLikelihood([log_prob for log_prob, _ in pairs], [units for _, units in pairs])


def test_words_and_one_end() -> None:
    assert [word_units(text) for text in ("i mend old clocks .", "", "  yes  ")] == [6, 1, 2]
    assert word_units("私は時計を直す。", "ja") == 9


def test_it_is_the_ratio_of_sums_and_no_mean_of_perplexities() -> None:
    """A reply of 1 word at 1/2 and one of 3 words at 1/8 each: 10 bits in 4 words."""
    replies = likelihood([(math.log(1 / 2), 1), (3 * math.log(1 / 8), 3)])
    assert perplexity(replies).value == pytest.approx(2 ** (10 / 4))


def test_a_uniform_model_of_v_words_has_a_perplexity_of_v() -> None:
    replies = likelihood([(units * math.log(1 / 50), units) for units in (3, 9, 1)])
    assert perplexity(replies) == pytest.approx((50, 50, 50))


def test_groups_are_drawn_whole_and_the_ratio_taken_anew() -> None:
    """Two dialogues, one easy and long, one hard: a resample has either, both, or one twice."""
    replies = likelihood([(-2.0, 10), (-2.0, 10), (-6.0, 2)])
    figure = perplexity(replies, ["a", "a", "b"])
    assert figure.low == pytest.approx(math.exp(4 / 20))
    assert figure.high == pytest.approx(math.exp(3))
    assert figure.value == pytest.approx(math.exp(10 / 22))


def test_a_very_improbable_reply_is_no_overflow() -> None:
    assert math.isfinite(perplexity(likelihood([(-1e6, 2)])).value)
    with pytest.raises(ValueError, match="without words"):
        perplexity(likelihood([(-1.0, 0)]))


def test_delta_p_by_hand() -> None:
    """PPL of the positive 4, of the negatives together 12: (12 - 4) / (12 + 4)."""
    positive, negative = likelihood([(2 * math.log(1 / 4), 2)]), likelihood([(5 * math.log(1 / 12), 5)])
    assert delta_p_by_item(positive, negative) == pytest.approx([0.5])
    assert delta_p_of_sets(positive, negative).value == pytest.approx(0.5)


def test_the_mean_over_items_and_the_sets_differ() -> None:
    positive = likelihood([(math.log(1 / 4), 1), (math.log(1 / 4), 1)])
    negative = likelihood([(math.log(1 / 12), 1), (math.log(1 / 4), 1)])
    assert interval(delta_p_by_item(positive, negative)).value == pytest.approx(0.25)
    of_sets = math.sqrt(12 * 4)
    assert delta_p_of_sets(positive, negative).value == pytest.approx((of_sets - 4) / (of_sets + 4))


@given(ITEMS, st.randoms(use_true_random=False))
def test_order_does_not_matter_and_a_perplexity_is_at_least_one(pairs: list[tuple[float, int]], chance: object) -> None:
    value = perplexity(likelihood(pairs)).value
    shuffled = list(pairs)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert value >= 1
    assert perplexity(likelihood(shuffled)).value == pytest.approx(value)


@given(ITEMS)
def test_delta_p_lies_between_its_bounds_and_turns_with_its_sides(pairs: list[tuple[float, int]]) -> None:
    positive = likelihood(pairs)
    negative = likelihood(pairs[::-1])
    values = delta_p_by_item(positive, negative)
    assert (np.abs(values) <= 1).all()
    assert delta_p_by_item(negative, positive) == pytest.approx(-values)
    assert delta_p_of_sets(positive, positive).value == 0
    figure = delta_p_of_sets(positive, negative)
    assert -1 <= figure.low <= figure.high <= 1
