"""Which automatic measures of an item go with what people say of it.

For each measure r_s (Spearman) with people's scores, a bootstrap interval over items or groups of items, and p by
shuffling the scores, adjusted after Holm over all measures that were looked at (see `statistics`). An item that a
measure has no value for is left out of that measure alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from understudy.language.lexical.rows import Reals
from understudy.metrics.ratings import RatingTable
from understudy.metrics.statistics import SHUFFLES, Estimate, holm, spearman_interval, spearman_p_values

__all__ = [
    "FEWEST",
    "Correlation",
    "correlations",
    "correlations_with_people",
]

Measure = TypeVar("Measure", bound=Hashable)
FEWEST = 10  # items that a correlation is taken of


@dataclass(frozen=True, slots=True)
class Correlation:
    """r_s of a measure with people, how probable it is by chance, and the same after Holm."""

    estimate: Estimate
    p: float | None = None
    p_adjusted: float | None = None

    def row(self) -> dict[str, Any]:
        tested = {} if self.p is None else {"p": self.p, "p_adjusted": self.p_adjusted}
        return {**self.estimate.row(), **tested}


def correlations(
    measures: Mapping[Measure, Reals],
    scores: Reals,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    shuffles: int = SHUFFLES,
    fewest: int = FEWEST,
) -> dict[Measure, Correlation]:
    """Of columns of values, NaN where an item has none, with the scores of the same items."""
    estimates = {key: _estimate(column, scores, groups, seed, fewest) for key, column in measures.items()}
    tested = [key for key, estimate in estimates.items() if estimate.value is not None]
    by_missing: dict[bytes, list[Measure]] = {}
    for key in tested:  # measures that the same items have are shuffled together
        by_missing.setdefault(np.isnan(measures[key]).tobytes(), []).append(key)
    p_values: dict[Measure, float] = {}
    for keys in by_missing.values():
        valid = ~np.isnan(measures[keys[0]])
        columns = [measures[key][valid] for key in keys]
        p_values.update(zip(keys, spearman_p_values(columns, scores[valid], seed, shuffles)))
    adjusted = dict(zip(tested, holm([p_values[key] for key in tested])))
    return {key: Correlation(estimate, p_values.get(key), adjusted.get(key)) for key, estimate in estimates.items()}


def correlations_with_people(
    measures: Mapping[Measure, Mapping[str, float | None]],
    table: RatingTable,
    groups: Mapping[str, Hashable] | None = None,
    seed: int = 0,
    shuffles: int = SHUFFLES,
    fewest: int = FEWEST,
) -> dict[Measure, Correlation]:
    """Of values by item with the mean of what people answered; items that nobody answered are left out."""
    means = table.means()
    columns = {
        key: np.array([np.nan if values.get(item) is None else values[item] for item in means], dtype=np.float64)
        for key, values in measures.items()
    }
    scores = np.array(list(means.values()), dtype=np.float64)
    own_groups = None if groups is None else [groups.get(item, item) for item in means]
    return correlations(columns, scores, own_groups, seed, shuffles, fewest)


def _estimate(column: Reals, scores: Reals, groups: Sequence[Hashable] | None, seed: int, fewest: int) -> Estimate:
    valid = np.flatnonzero(~np.isnan(column))
    if len(valid) < fewest:
        return Estimate.missing("spearman", len(valid), f"fewer than {fewest} items have it")
    ours, theirs = column[valid], scores[valid]
    if np.ptp(theirs) == 0:
        return Estimate.missing("spearman", len(valid), "people gave all items the same")
    own_groups = None if groups is None else [groups[int(index)] for index in valid]
    figure = spearman_interval(ours, theirs, own_groups, seed)
    return Estimate.of("spearman", figure, len(valid), "all items have the same value")
