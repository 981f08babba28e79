"""Which items, and which people, the disagreement of a table comes from.

Every answer x_ui of person i to item u is held against those of the others who answered it:

    e_ui = mean over j != i of d²(x_ui, x_uj) / D_e        d² and D_e as in `agreement`, of the whole table

    item     mean of e_ui over its people: 0 all agree, 1 as much as any two answers differ, above 1 more
    person   1 - mean of e_ui over the person's items: agreement with the rest
    pair     1 - mean of d²(x_ui, x_uj) / D_e over the items that both have answered

These are alpha taken apart: 1 - mean of e_ui over all answers is Krippendorff's alpha. Unlike a kappa for each pair,
all are on one footing, and exist for somebody who always gives the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from understudy.dialogue import Score
from understudy.lexical.rows import Reals
from understudy.metrics.agreement import expected_disagreement, no_agreement, squared_differences
from understudy.metrics.estimates import Estimate
from understudy.metrics.ratings import MISSING, Answered, RatingTable
from understudy.metrics.statistics import RESAMPLES, Interval, interval

__all__ = ["PairwiseAgreement", "item_disagreement", "pairwise_agreement", "person_agreement"]


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseAgreement:
    """`agreement[i, j]` of two people over `shared[i, j]` items; NaN where there are none, and with oneself."""

    people: tuple[str, ...]
    agreement: Reals = field(repr=False)
    shared: Reals = field(repr=False)
    reason: str = ""

    def pairs(self) -> list[tuple[str, str, float, int]]:
        """Two people, their agreement and how many items they share, those who disagree most first."""
        first, second = np.triu_indices(len(self.people), 1)
        listed = [
            (self.people[i], self.people[j], float(self.agreement[i, j]), int(self.shared[i, j]))
            for i, j in zip(first.tolist(), second.tolist())
            if not np.isnan(self.agreement[i, j])
        ]
        return sorted(listed, key=lambda pair: pair[2])


def item_disagreement(table: RatingTable) -> list[Score]:
    """The disagreement over each item, the largest first; the reason says how many gave which answer.

    Without a value, and last, are items that fewer than two people answered.
    """
    nothing = no_agreement(table)
    by_answer, _, _ = _taken_apart(table)
    answered = table.codes != MISSING
    scores = []
    for index, (item, counts) in enumerate(zip(table.items, table.counts)):
        given = ", ".join(f"{_shown(value)}: {count:g}" for value, count in zip(table.scale.values, counts) if count)
        if nothing or answered[index].sum() < 2:
            scores.append(Score(item, None, nothing or "fewer than two people have answered"))
        else:
            scores.append(Score(item, float(by_answer[index, answered[index]].mean()), given))
    return sorted(scores, key=lambda score: -1.0 if score.value is None else score.value, reverse=True)


def person_agreement(table: RatingTable, seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Estimate]:
    """Each person's agreement with the rest, and its interval over the person's items (D_e held fixed)."""
    name = "agreement_with_the_rest"
    nothing = no_agreement(table)
    by_answer, _, _ = _taken_apart(table)
    estimates = {}
    for person, column in zip(table.people, by_answer.T):
        own = 1 - column[~np.isnan(column)]
        if nothing or not len(own):
            reason = nothing or "shares no item with anybody"
            estimates[person] = Estimate.missing(name, len(own), reason)
        else:
            figure = interval(own, None, seed, resamples) if len(own) > 1 else Interval(float(own[0]), np.nan, np.nan)
            estimates[person] = Estimate.of(name, figure, len(own), "")
    return estimates


def pairwise_agreement(table: RatingTable) -> PairwiseAgreement:
    """Who agrees with whom, and who does not."""
    _, sums, shared = _taken_apart(table)
    agreement = np.where(shared > 0, 1 - sums / np.where(shared > 0, shared, 1.0), np.nan)
    return PairwiseAgreement(table.people, agreement, shared, no_agreement(table))


def _shown(value: Answered) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _taken_apart(table: RatingTable) -> tuple[Reals, Reals, Reals]:
    """e_ui, NaN where there is none; for each two people the sum of d² / D_e over shared items, and their number."""
    answered = table.codes != MISSING
    sizes = answered.sum(axis=1)
    by_answer = np.full(answered.shape, np.nan)
    if no_agreement(table):
        shared = answered.T.astype(np.float64) @ answered
        np.fill_diagonal(shared, 0.0)
        return by_answer, np.full_like(shared, np.nan), shared
    squared, expected = squared_differences(table), expected_disagreement(table)
    sums, shared = (np.zeros((len(table.people), len(table.people))) for _ in range(2))
    for person in range(len(table.people)):  # one at a time: items by people by people may not fit into memory
        both = answered & answered[:, [person]]
        both[:, person] = False
        differences = np.where(both, squared(table.codes[:, [person]], table.codes) / expected, 0.0)
        sums[person], shared[person] = differences.sum(axis=0), both.sum(axis=0)
        own = answered[:, person] & (sizes > 1)
        by_answer[own, person] = differences[own].sum(axis=1) / (sizes[own] - 1)
    return by_answer, sums, shared
