"""Statistics of figures: agreement with human labels, calibration, intervals and significance.

r_s    Spearman: the correlation of ranks, equal values sharing the mean of their ranks
p      (1 + |{shuffles : |r_s| at least as large}|) / (1 + shuffles)
AUPR   average precision: sum over thresholds of (recall gained) * (precision there), equal scores together
AUC    the share of pairs (one wanted, one not) that are in the right order, equal scores counting half
kappa  Cohen: (observed - expected) / (1 - expected), the shares of items on which two people agree, and on which they
       would by chance if each gave their answers as often as they did
ECE    sum over tenths of (share of items in it) * |mean probability - share that was so|

Intervals are bootstraps, and significance tests pair two agents judged on the same items. Items of one dialogue
resemble each other, so whole groups of items (dialogues) are resampled; by default every item is a group of its own.

    interval   2.5th and 97.5th percentile of the mean over groups drawn with replacement (bootstrap); of any function
               of sums over items (a ratio of two sums, a corpus BLEU) likewise
    paired p   (1 + |{r : |d_r| >= |d|}|) / (1 + R),  d the summed difference of the two agents, d_r the same with
               the agents swapped in a random half of the groups (paired randomisation test, two-sided)
    Holm       p_(i) * (m - i + 1) for the i-th smallest of m p values, never below the one before, at most 1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.language.lexical.rows import Reals

SHUFFLES = 10_000
TENTHS = 10
EQUAL = 1e-12

RESAMPLES = 1000
Z = 1.959964  # of a 95% interval
SWAPS = 10_000
AT_ONCE = 500  # shuffles, swaps or resamples worked on at once, so that memory does not grow with their number
EQUAL_SUMS = 1e-9  # two sums of the same numbers in another order may differ by this


def ranks(values: ArrayLike) -> Reals:
    """From 1 up; equal values share the mean of their ranks."""
    array = np.asarray(values, dtype=np.float64)
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    result: Reals = (last - (counts - 1) / 2)[inverse]
    return result


def _centred_ranks(values: ArrayLike) -> Reals:
    centred: Reals = ranks(values) - (np.size(values) + 1) / 2
    return centred


def spearman(ours: ArrayLike, theirs: ArrayLike) -> float:
    """NaN where all values of one are equal: then there is no order to agree with."""
    a, b = (_centred_ranks(values) for values in (ours, theirs))
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else math.nan


def spearman_p(ours: ArrayLike, theirs: ArrayLike, seed: int = 0, shuffles: int = SHUFFLES) -> float:
    """How probable a correlation at least this far from 0 is, if the two have nothing to do with each other."""
    return spearman_p_values([ours], theirs, seed, shuffles)[0]


def spearman_p_values(
    columns: Sequence[ArrayLike], theirs: ArrayLike, seed: int = 0, shuffles: int = SHUFFLES
) -> list[float]:
    """The same for each of several columns with the same `theirs`, which is shuffled once for all of them."""
    a, b = np.stack([_centred_ranks(values) for values in columns]), _centred_ranks(theirs)
    observed = np.abs(a @ b)
    floor = observed - EQUAL * np.maximum(observed, 1.0)
    rng = np.random.default_rng(seed)
    extreme = np.zeros(len(a), np.int64)
    for count in _chunks(shuffles):
        shuffled = rng.permuted(np.tile(b, (count, 1)), axis=1)
        extreme += np.count_nonzero(np.abs(shuffled @ a.T) >= floor, axis=0)
    return [(1 + int(more)) / (1 + shuffles) for more in extreme]


def precision_recall(scores: ArrayLike, labels: ArrayLike) -> tuple[Reals, Reals]:
    """Precision and recall at every threshold, from the strictest; an item is found if its score reaches it."""
    score, relevant = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=np.bool_)
    if not relevant.any():
        raise ValueError("nothing is wanted, so there is nothing to find")
    order = np.argsort(-score, kind="stable")
    last = np.flatnonzero(np.diff(score[order], append=np.nan) != 0)  # of each group of equal scores
    hits = np.cumsum(relevant[order])[last]
    return hits / (last + 1), hits / relevant.sum()


def average_precision(scores: ArrayLike, labels: ArrayLike) -> float:
    precision, recall = precision_recall(scores, labels)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def auc(scores: ArrayLike, labels: ArrayLike) -> float:
    positive = np.asarray(labels, dtype=np.bool_)
    hits, misses = int(positive.sum()), int((~positive).sum())
    if not hits or not misses:
        raise ValueError("some must be wanted and some not")
    above = float(ranks(scores)[positive].sum()) - hits * (hits + 1) / 2
    return above / (hits * misses)


def cohens_kappa(counts: ArrayLike) -> Reals:
    """From how often one said the row while the other said the column; several tables at once give several kappas.

    NaN where both gave one and the same answer throughout: then chance explains all there is.
    """
    table = np.asarray(counts, dtype=np.float64)
    total = table.sum(axis=(-2, -1))
    agreed = total * np.trace(table, axis1=-2, axis2=-1)
    by_chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    left = total**2 - by_chance
    kappas: Reals = np.where(left > 0, (agreed - by_chance) / np.where(left > 0, left, 1.0), np.nan)
    return kappas


def calibration_error(probabilities: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None) -> float:
    """0 is perfect. With `weights`, an item counts as often as its weight says."""
    probability, outcome = np.asarray(probabilities, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    weight = np.ones(len(outcome)) if weights is None else np.asarray(weights, dtype=np.float64)
    tenth = np.minimum((probability * TENTHS).astype(np.int64), TENTHS - 1)
    gaps = np.bincount(tenth, weight * (probability - outcome), minlength=TENTHS)
    return float(np.abs(gaps).sum() / weight.sum())


class Interval(NamedTuple):
    """A mean with its 95% interval."""

    value: float
    low: float
    high: float


def interval(
    values: ArrayLike, groups: Sequence[Hashable] | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """The mean of the values and its 95% bootstrap interval."""
    numbers = np.asarray(values, dtype=np.float64)
    columns = np.stack([numbers, np.ones(len(numbers))], axis=1)
    return totals_interval(columns, lambda totals: totals[..., 0] / totals[..., 1], groups, seed, resamples)


def totals_interval(
    columns: ArrayLike,
    statistic: Callable[[Reals], Reals],
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """A statistic of the items' totals and its 95% bootstrap interval: a ratio of sums, a corpus BLEU.

    `columns` has a row for each item; `statistic` takes the sums of the columns, on the last axis, to its value, which
    is NaN where there is none: such resamples are left out.
    """
    totals = _grouped(columns, groups)
    if not len(totals):
        raise ValueError("no values: there is no mean of nothing")
    drawn = [statistic(times @ totals) for times in resampled_counts(len(totals), seed, resamples)]
    return _interval_of(float(statistic(totals.sum(axis=0))), np.concatenate(drawn))


def spearman_interval(
    ours: ArrayLike,
    theirs: ArrayLike,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """r_s and its 95% interval over groups drawn with replacement; ranks are taken anew in each resample."""
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)

    def correlation(weights: Reals) -> Reals:
        totals = weights.sum(axis=1, keepdims=True)
        x, y = (_weighted_ranks(values, weights) - (totals + 1) / 2 for values in (a, b))
        together, own, other = ((weights * first * second).sum(axis=1) for first, second in ((x, y), (x, x), (y, y)))
        lengths = np.sqrt(own * other)
        return np.where(lengths > EQUAL, together / np.where(lengths > EQUAL, lengths, 1.0), np.nan)

    return resampled_interval(spearman(a, b), correlation, len(a), groups, seed, resamples)


def auc_interval(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """AUC and its 95% interval over groups drawn with replacement."""
    score, positive = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=np.bool_)

    def area(weights: Reals) -> Reals:
        hits = weights[:, positive].sum(axis=1)
        pairs = hits * (weights.sum(axis=1) - hits)
        above = (weights * _weighted_ranks(score, weights))[:, positive].sum(axis=1) - hits * (hits + 1) / 2
        return np.where(pairs > 0, above / np.where(pairs > 0, pairs, 1.0), np.nan)

    return resampled_interval(auc(score, positive), area, len(score), groups, seed, resamples)


def resampled_interval(
    value: float,
    statistic: Callable[[Reals], Reals],
    size: int,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """The 95% bootstrap interval of any statistic of `size` items.

    `statistic` takes rows that say how often each item was drawn to a value each; resamples without one (NaN) are left
    out.
    """
    count, ids = _numbered(range(size) if groups is None else groups)
    drawn = [statistic(times[:, ids].astype(np.float64)) for times in resampled_counts(count, seed, resamples)]
    return _interval_of(value, np.concatenate(drawn))


def resampled_counts(size: int, seed: int = 0, resamples: int = RESAMPLES) -> Iterator[NDArray[np.int64]]:
    """How often each of `size` items is drawn in each resample, some hundred resamples (rows) at a time."""
    rng = np.random.default_rng(seed)
    for count in _chunks(resamples):
        yield rng.multinomial(size, np.full(size, 1 / size), count)


def _interval_of(value: float, drawn: Reals) -> Interval:
    if np.isnan(drawn).all():
        return Interval(value, math.nan, math.nan)
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return Interval(value, float(low), float(high))


def _weighted_ranks(values: Reals, weights: Reals) -> Reals:
    """The rank of each item where it stands as often as a row of weights says, equal values sharing the mean."""
    order = np.argsort(values, kind="stable")
    last = np.flatnonzero(np.diff(values[order], append=np.nan) != 0)  # of each run of equal values
    upto = np.cumsum(weights[:, order], axis=1)[:, last]
    before = np.concatenate([np.zeros((len(weights), 1)), upto[:, :-1]], axis=1)
    run = np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))
    ranked = np.empty_like(weights)
    ranked[:, order] = ((before + upto + 1) / 2)[:, run]
    return ranked


def wilson(share: float, n: int) -> Interval:
    """A share of `n` items and its 95% Wilson score interval; at shares of 0 and 1 a bootstrap has no width.

    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    """
    if n < 1:
        raise ValueError("no values: there is no share of nothing")
    centre = share + Z * Z / (2 * n)
    margin = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    low, high = (centre - margin) / scale, (centre + margin) / scale
    return Interval(share, max(0.0, min(share, low)), min(1.0, max(share, high)))


def paired_p(
    ours: ArrayLike, theirs: ArrayLike, groups: Sequence[Hashable] | None = None, seed: int = 0, swaps: int = SWAPS
) -> float:
    """How probable a difference at least this large is if it does not matter which of the two an item came from."""
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    sums = _grouped(differences, groups)
    sums = sums[np.abs(sums) > EQUAL_SUMS]  # swapping what is equal changes nothing
    if not len(sums):
        return 1.0
    observed = abs(sums.sum()) - EQUAL_SUMS
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _chunks(swaps):
        signs = rng.integers(0, 2, (size, len(sums)), dtype=np.int8)
        extreme += int(np.count_nonzero(np.abs(2.0 * (signs @ sums) - sums.sum()) >= observed))
    return (1 + extreme) / (1 + swaps)


def adjust_p_values(rows: Iterable[dict[str, Any]], key: str = "p") -> None:
    """Adds to the rows that have a p value the one adjusted after Holm, over all of them."""
    tested = [row for row in rows if key in row]
    for row, adjusted in zip(tested, holm([row[key] for row in tested])):
        row["p_adjusted"] = adjusted


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted for how many were looked at, in the order given."""
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = floor
    return adjusted


def _grouped(columns: ArrayLike, groups: Sequence[Hashable] | None) -> Reals:
    """For each group, the sums of the columns over its items."""
    numbers: Reals = np.asarray(columns, dtype=np.float64)
    if groups is None:
        return numbers
    if len(groups) != len(numbers):
        raise ValueError(f"{len(numbers)} values and {len(groups)} groups: name a group for each value")
    count, ids = _numbered(groups)
    sums: Reals = np.zeros((count, *numbers.shape[1:]))
    np.add.at(sums, ids, numbers)
    return sums


def _numbered(groups: Iterable[Hashable]) -> tuple[int, NDArray[np.int64]]:
    """How many different groups there are, and the number of each, in the order of their first."""
    known: dict[Hashable, int] = {}
    ids = [known.setdefault(group, len(known)) for group in groups]
    return len(known), np.array(ids, dtype=np.int64)


def _chunks(total: int) -> list[int]:
    return [min(AT_ONCE, total - begun) for begun in range(0, total, AT_ONCE)]


# A figure with its interval, or the reason why there is none: what every statistic of people's answers gives.


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of `n` items (or comparisons) and its 95% interval.

    `value` is None, and `reason` says why, where the figure cannot be had; a figure of one item alone has no interval.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""

    @classmethod
    def of(cls, name: str, figure: Interval, n: int, reason_if_nan: str) -> Estimate:
        if math.isnan(figure.value):
            return cls.missing(name, n, reason_if_nan)
        low, high = (None if math.isnan(bound) else bound for bound in figure[1:])
        return cls(name, figure.value, low, high, n)

    @classmethod
    def missing(cls, name: str, n: int, reason: str) -> Estimate:
        return cls(name, None, None, None, n, reason)

    def row(self) -> dict[str, Any]:
        """As benches and studies report it."""
        row = {"metric": self.name, "value": self.value, "low": self.low, "high": self.high, "n": self.n, "paper": None}
        return {**row, "reason": self.reason} if self.reason else row
