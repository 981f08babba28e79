"""How many items, and how many people for each, make an interval as narrow as wanted.

An answer is y_ui = mu + b_u + e_ui: items differ by a variance B (between), people on one item by a variance W
(within).
The mean over I items with R people each, other people for each item, has

    variance   B / I + W / (I R)
    width      2 z sqrt(variance)                     of its 95% interval, z = 1.96

    items      I = (B + W / R) (2 z / width)²
    people     R = W / (I (width / 2 z)² - B)         not to be had where I (width / 2 z)² <= B: more people on the same
                                                      items do not make the items more
    one item   R = W (2 z / width)²                   for its own mean: B = 0 and I = 1

More items are worth more than more people: R people on each of I items never do better than one on each of I R. Shares
are means of 0 and 1, with B + W = p (1 - p).

B and W come from an earlier table of ratings (one-way analysis of variance, m_u answers for item u, N in all), or are
assumed. On a scale from 1 to 5 W is often about 1:

    W = sum over u and i of (y_ui - mean_u)² / (N - I)
    B = (sum over u of m_u (mean_u - mean)² / (I - 1) - W) / ((N - sum over u of m_u² / N) / (I - 1)),  at least 0

Where the same few people answer everything, the mean also shifts with how strict they are, by the variance between
people over their number, which more items do not lessen; differences between agents that they all judged are free of
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from understudy.errors import InputError
from understudy.metrics.ratings import RatingTable
from understudy.metrics.statistics import wilson
from understudy.story.dialogue import Score

__all__ = [
    "VarianceComponents",
    "comparisons_needed",
    "interval_width",
    "items_needed",
    "people_needed",
    "share_components",
    "variance_components",
]

Z = 1.959964
ROUNDING = 1e-9  # what is a whole number but for rounding is not raised to the next one


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance between items, and of people's answers within one."""

    between: float
    within: float

    def __post_init__(self) -> None:
        if not (self.between >= 0 and self.within >= 0 and math.isfinite(self.between + self.within)):
            raise InputError(f"variances are numbers from 0 up, not {self.between:g} and {self.within:g}")


def variance_components(table: RatingTable) -> VarianceComponents:
    """As they are in a table of ratings, such as a first round with few people."""
    numbers = table.numbers
    answered = ~np.isnan(numbers)
    numbers, answered = numbers[answered.any(axis=1)], answered[answered.any(axis=1)]
    sizes, total, items = answered.sum(axis=1), int(answered.sum()), len(numbers)
    if items < 2 or total == items:
        raise InputError(
            f"'{table.question}' has too few answers to tell items from people: ask two people about two items at least"
        )
    filled = np.where(answered, numbers, 0.0)
    means = filled.sum(axis=1) / sizes
    within = float((np.where(answered, numbers - means[:, None], 0.0) ** 2).sum() / (total - items))
    over_items = float((sizes * (means - filled.sum() / total) ** 2).sum() / (items - 1))
    size = float((total - (sizes**2).sum() / total) / (items - 1))
    return VarianceComponents(max(0.0, (over_items - within) / size), within)


def share_components(share: float, between: float = 0.0) -> VarianceComponents:
    """Of answers of 0 and 1 with a share of ones, where the shares of single items have a variance `between`."""
    if not 0 <= between <= share * (1 - share):
        raise InputError(f"shares of items about {share:g} vary by {share * (1 - share):g} at most, not {between:g}")
    return VarianceComponents(between, share * (1 - share) - between)


def interval_width(components: VarianceComponents, items: int, people: int) -> float:
    """Of the 95% interval of the mean over so many items with so many people each."""
    return 2 * Z * math.sqrt(components.between / items + components.within / (items * people))


def items_needed(components: VarianceComponents, people: int, width: float) -> Score:
    """With so many people for each item."""
    return _whole("items", (components.between + components.within / people) / _variance(width))


def people_needed(components: VarianceComponents, items: int, width: float) -> Score:
    """For each of so many items."""
    left = items * _variance(width) - components.between
    if components.within == 0 and left >= 0:
        return Score("people", 1.0)
    if left <= 0:
        least = math.floor(components.between / _variance(width) + ROUNDING) + 1
        return Score("people", None, f"no number of people is enough with {items} items: take {least} at least")
    return _whole("people", components.within / left)


def comparisons_needed(share: float, width: float) -> Score:
    """Independent comparisons, or answers of one item, after which the Wilson interval of a share is that narrow."""
    _variance(width)
    low, high = 0, 1

    def wide(n: int) -> bool:
        figure = wilson(share, n)
        return figure.high - figure.low > width

    while wide(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wide(middle) else (low, middle)
    return Score("comparisons", float(high))


def _variance(width: float) -> float:
    """Of a mean whose 95% interval has the width."""
    if not width > 0:
        raise InputError(f"an interval cannot be {width:g} wide: name a width above 0")
    return (width / (2 * Z)) ** 2


def _whole(name: str, number: float) -> Score:
    return Score(name, float(max(1, math.ceil(number - ROUNDING))))
