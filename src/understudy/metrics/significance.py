"""Bootstrap intervals of figures, and paired significance tests of two agents judged on the same items.

Items of one dialogue resemble each other, so whole groups of items (dialogues) are resampled; by default every item
is a group of its own.

    interval   2.5th and 97.5th percentile of the mean over groups drawn with replacement (bootstrap)
    paired p   (1 + |{r : |d_r| >= |d|}|) / (1 + R),  d the summed difference of the two agents, d_r the same with
               the agents swapped in a random half of the groups (paired randomisation test, two-sided)
    Holm       p_(i) * (m - i + 1) for the i-th smallest of m p values, never below the one before, at most 1
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["RESAMPLES", "SWAPS", "Interval", "holm", "interval", "paired_p"]

RESAMPLES = 1000
SWAPS = 10_000
CHUNK = 500  # resamples worked on at once, so that memory does not grow with their number
EQUAL = 1e-9  # two sums of the same numbers in another order may differ by this

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean with its 95% interval."""

    value: float
    low: float
    high: float


def interval(
    values: ArrayLike, groups: Sequence[Hashable] | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """The mean of the values and its 95% bootstrap interval."""
    sums, sizes = _grouped(values, groups)
    if not len(sums):
        raise ValueError("no values: there is no mean of nothing")
    rng = np.random.default_rng(seed)
    means = []
    for size in _chunks(resamples):
        drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size)
        means.append((drawn @ sums) / (drawn @ sizes))
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return Interval(float(sums.sum() / sizes.sum()), float(low), float(high))


def paired_p(
    ours: ArrayLike, theirs: ArrayLike, groups: Sequence[Hashable] | None = None, seed: int = 0, swaps: int = SWAPS
) -> float:
    """How probable a difference at least this large is if it does not matter which of the two an item came from."""
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    sums, _ = _grouped(differences, groups)
    sums = sums[np.abs(sums) > EQUAL]  # swapping what is equal changes nothing
    if not len(sums):
        return 1.0
    observed = abs(sums.sum()) - EQUAL
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _chunks(swaps):
        signs = rng.integers(0, 2, (size, len(sums)), dtype=np.int8)
        extreme += int(np.count_nonzero(np.abs(2.0 * (signs @ sums) - sums.sum()) >= observed))
    return (1 + extreme) / (1 + swaps)


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted for how many were looked at, in the order given."""
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = floor
    return adjusted


def _grouped(values: ArrayLike, groups: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """For each group, the sum of its values and how many there are."""
    numbers: NDArray[Any] = np.asarray(values, dtype=np.float64)
    if groups is None:
        return numbers, np.ones(len(numbers))
    if len(groups) != len(numbers):
        raise ValueError(f"{len(numbers)} values and {len(groups)} groups: name a group for each value")
    known: dict[Hashable, int] = {}
    group_ids = np.array([known.setdefault(group, len(known)) for group in groups], dtype=np.int64)
    sums = np.bincount(group_ids, numbers, len(known)).astype(np.float64)
    return sums, np.bincount(group_ids, minlength=len(known)).astype(np.float64)


def _chunks(total: int) -> list[int]:
    return [min(CHUNK, total - begun) for begun in range(0, total, CHUNK)]
