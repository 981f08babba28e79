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
    "HPD_CRITERIA",
    "HPD_RATINGS",
    "PERSONACHAT_RATED",
    "Correlation",
    "correlations",
    "correlations_with_people",
    "hpd_rating",
    "paper_model",
    "personachat_rating",
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


# What people gave the models of two papers, to stand beside what people give ours.
#
# **PersonaChat**, table 4: after a chat, fluency, engagingness and consistency from 1 to 5, and how often the person
# told the partner's profile from another one. **HPD**: fluency, and relevance with scene, attributes and relations, 1
# to 5.

PERSONACHAT_RATED = ("fluency", "engagingness", "consistency", "persona_detection")
PERSONACHAT_RATINGS: Mapping[str, tuple[float, ...]] = {
    "human": (4.31, 4.25, 4.36, 0.95),
    "Seq2Seq": (3.17, 3.18, 2.98, 0.51),
    "Profile Memory": (3.08, 3.13, 3.14, 0.72),
    "KV Memory": (3.81, 3.88, 3.36, 0.59),
    "KV Profile Memory": (3.97, 3.50, 3.44, 0.81),
    "Twitter LM": (3.21, 1.75, 1.95, 0.57),
    "OpenSubtitles 2018 LM": (2.85, 2.13, 2.15, 0.35),
    "OpenSubtitles 2009 LM": (2.25, 2.12, 1.96, 0.38),
    "OpenSubtitles 2009 KV Memory": (2.14, 2.22, 2.06, 0.42),
}
"""By the paper's model, in the order of PERSONACHAT_RATED."""

HPD_CRITERIA = ("fluency", "relevance_scene", "relevance_attributes", "relevance_relations")
HPD_RATINGS: Mapping[str, tuple[float, ...]] = {
    "GPT-2": (3.34, 1.68, 1.9, 1.5),
    "Ori-BOB": (4.01, 1.93, 1.78, 1.9),
    "Per-BOB": (4.2, 2.01, 2.16, 2.15),
    "Dialog-GPT": (4.27, 2.38, 2.5, 2.04),
}
"""By the paper's model, in the order of HPD_CRITERIA."""

WITH_PROFILE = {"generative-memory": "Profile Memory", "kv-memory": "KV Profile Memory"}
WITHOUT_PROFILE = {"seq2seq": "Seq2Seq", "kv-memory": "KV Memory"}


def paper_model(agent: str, given: str) -> str:
    """What PersonaChat's paper calls an agent, given its own profile ('self') or 'none'; other names stay as they are.

    People judged Seq2Seq and KV Memory without profiles, the two Profile Memories with their own.
    """
    return {"self": WITH_PROFILE, "none": WITHOUT_PROFILE}.get(given, {}).get(agent, agent)


def personachat_rating(model: str, rated: str) -> float | None:
    """None where the paper has no such model."""
    figures = PERSONACHAT_RATINGS.get(model)
    return None if figures is None else figures[PERSONACHAT_RATED.index(rated)]


def hpd_rating(model: str, criterion: str) -> float | None:
    figures = HPD_RATINGS.get(model)
    return None if figures is None else figures[HPD_CRITERIA.index(criterion)]
