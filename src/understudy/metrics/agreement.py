"""How much people agree, beyond what chance gives: Krippendorff's alpha, Fleiss' and Cohen's kappa.

n_uc people gave item u the answer c, m_u = sum_c n_uc people answered it; items with m_u < 2 say nothing, and are left
out.

**Krippendorff's alpha** (Computing Krippendorff's Alpha-Reliability, 2011) takes any number of people and missing
answers. Each item adds its pairs of answers to a matrix of coincidences, each answer counting once whatever m_u is:

    o_ck   = sum over u of n_uc (n_uk - [c = k]) / (m_u - 1)         n_c = sum_k o_ck,   n = sum_c n_c
    alpha  = 1 - D_o / D_e     D_o = sum_ck o_ck d_ck² / n           D_e = sum_ck n_c n_k d_ck² / (n (n - 1))

    nominal   d_ck² = [c != k]
    ordinal   d_ck² = (n_c / 2 + sum of n_g for g between c and k + n_k / 2)²
                    = (r_c - r_k)²,  r_c the mean rank of answer c among all
    interval  d_ck² = (c - k)²
    ratio     d_ck² = ((c - k) / (c + k))²

1 is full agreement, 0 what answers dealt out at random would give, below 0 people disagree systematically. An item adds
2 (m_u sum_c n_uc x_c² - (sum_c n_uc x_c)²) / (m_u - 1) to n D_o where differences are those of positions x, so that it
takes no matrix, and a resample of items is a weighted sum.

**Fleiss' kappa** (1971), answers as names, any m people for each item:

    P_u = sum_c n_uc (n_uc - 1) / (m_u (m_u - 1))     p_c = mean over u of n_uc / m_u
    kappa = (mean P_u - sum_c p_c²) / (1 - sum_c p_c²)

Fleiss had the same m for every item. Where numbers differ, each item counts alike in both means, as in Gwet's
generalisation; alpha, in which each answer counts alike, is then the better choice. With equal m, nominal alpha is
1 - (1 - kappa) (n - 1) / n.

**Cohen's kappa** is for two people: see `statistics.cohens_kappa`.

Intervals are bootstraps over items, or over groups of items (replies of one dialogue) where those are named; an item
without a group stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy.errors import InputError
from understudy.language.lexical.rows import Ints, Reals
from understudy.metrics.ratings import MISSING, Answered, RatingTable, Scale
from understudy.metrics.statistics import (
    RESAMPLES,
    Estimate,
    Interval,
    cohens_kappa,
    interval,
    resampled_interval,
    totals_interval,
)
from understudy.story.dialogue import Score

__all__ = [
    "agreement_rows",
    "item_disagreement",
    "kappa_interval",
    "krippendorff_alpha",
    "pairwise_agreement",
    "person_agreement",
]

Groups = Mapping[str, Hashable]


def krippendorff_alpha(
    table: RatingTable, groups: Groups | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Alpha at the level of measurement of the table's scale."""
    name = "alpha"
    counts, items = _pairable(table)
    reason = no_agreement(table)
    if reason:
        return Estimate.missing(name, len(items), reason)

    def statistic(weights: Reals) -> Reals:
        return _alphas(counts, weights, table.scale)

    return _estimate(name, statistic, items, groups, seed, resamples)


def fleiss_kappa(
    table: RatingTable, groups: Groups | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    name = "fleiss_kappa"
    counts, items = _pairable(table)
    reason = no_agreement(table)
    if reason:
        return Estimate.missing(name, len(items), reason)
    sizes = counts.sum(axis=1)
    agreed = (counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1))
    shares = counts / sizes[:, None]

    def statistic(weights: Reals) -> Reals:
        total = weights.sum(axis=1)
        observed = weights @ agreed / total
        answered = weights @ shares / total[:, None]
        by_chance = np.where((answered > 0).sum(axis=1) > 1, (answered**2).sum(axis=1), np.nan)
        kappas: Reals = (observed - by_chance) / (1 - by_chance)
        return kappas

    return _estimate(name, statistic, items, groups, seed, resamples)


def cohen_kappa(
    table: RatingTable,
    first: str,
    second: str,
    groups: Groups | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Of two people of the table, over the items that both have answered; answers as names."""
    name = "cohen_kappa"
    for person in (first, second):
        if person not in table.people:
            raise InputError(f"nobody called '{person}' answered '{table.question}': name two of those who did")
    a, b = (table.codes[:, table.people.index(person)] for person in (first, second))
    both = np.flatnonzero((a != MISSING) & (b != MISSING))
    items = [table.items[index] for index in both]
    if not len(both):
        return Estimate.missing(name, 0, f"no item was answered by both {first} and {second}")
    used, cells = np.unique(np.stack([a[both], b[both]]), return_inverse=True)
    pairs = np.zeros((len(both), len(used), len(used)))
    pairs[np.arange(len(both)), *cells.reshape(2, -1)] = 1.0
    own_groups = None if groups is None else [groups.get(item, item) for item in items]
    figure = kappa_interval(pairs, own_groups, seed, resamples)
    if len(set(own_groups or items)) < 2:
        figure = Interval(figure.value, math.nan, math.nan)
    return Estimate.of(name, figure, len(both), "both gave one and the same answer throughout")


def kappa_interval(
    tables: ArrayLike, groups: Sequence[Hashable] | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """Cohen's kappa of the sum of several tables, and its interval over the tables drawn with replacement."""
    counts = np.asarray(tables, dtype=np.float64)

    def kappas(totals: Reals) -> Reals:
        return cohens_kappa(totals.reshape(*totals.shape[:-1], *counts.shape[1:]))

    return totals_interval(counts.reshape(len(counts), -1), kappas, groups, seed, resamples)


def agreement_rows(
    tables: Mapping[str, RatingTable], groups: Groups | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> list[dict[str, Any]]:
    """For each question alpha at its level; where answers are names Fleiss' kappa, and Cohen's of two people."""
    rows = []
    for question, table in tables.items():
        estimates = [krippendorff_alpha(table, groups, seed, resamples)]
        if table.scale.level == "nominal":
            estimates.append(fleiss_kappa(table, groups, seed, resamples))
            answered = np.flatnonzero((table.codes != MISSING).any(axis=0))
            if len(answered) == 2:
                first, second = (table.people[int(person)] for person in answered)
                estimates.append(cohen_kappa(table, first, second, groups, seed, resamples))
        rows += [{"question": question, "level": table.scale.level, **estimate.row()} for estimate in estimates]
    return rows


def no_agreement(table: RatingTable) -> str:
    """Why the people of a table neither agree nor disagree; empty where they do."""
    answered = table.codes != MISSING
    if not answered.any():
        return "nobody has answered"
    if answered.any(axis=0).sum() < 2:
        return "one person alone has answered: agreement takes two"
    counts, items = _pairable(table)
    if not items:
        return "no item was answered by two people"
    if (counts.sum(axis=0) > 0).sum() < 2:
        return "everybody gave one and the same answer throughout, which chance explains as well"
    return ""


def squared_differences(table: RatingTable) -> Callable[[Ints, Ints], Reals]:
    """d_ck² of the table's scale, for arrays of answers by their codes."""
    counts, _ = _pairable(table)
    level, values = table.scale.level, table.scale.values
    if level == "nominal":
        return lambda a, b: (a != b).astype(np.float64)
    if level == "ratio":
        matrix = _ratio_differences(values)
        return lambda a, b: matrix[a, b]
    positions = _positions(counts.sum(axis=0)[None], table.scale)[0]
    return lambda a, b: (positions[a] - positions[b]) ** 2


def expected_disagreement(table: RatingTable) -> float:
    """D_e: the mean of d_ck² over all pairs of answers, whoever gave them and whatever to."""
    counts, _ = _pairable(table)
    return float(_expected(counts.sum(axis=0)[None], table.scale)[0])


def _pairable(table: RatingTable) -> tuple[Reals, list[str]]:
    """The items that at least two people answered, and how many gave them each answer."""
    counts = table.counts
    rated_twice = np.flatnonzero(counts.sum(axis=1) > 1)
    return counts[rated_twice], [table.items[index] for index in rated_twice]


def _alphas(counts: Reals, weights: Reals, scale: Scale) -> Reals:
    """Alpha for each row of weights, which say how often each item was drawn."""
    sizes = counts.sum(axis=1)
    marginals = weights @ counts
    if scale.level == "ordinal":  # ranks, and with them all differences, are those of the resample
        positions = _positions(marginals, scale)
        squares, sums = positions**2 @ counts.T, positions @ counts.T
        observed = (weights * (2 * (sizes * squares - sums**2) / (sizes - 1))).sum(axis=1)
    else:
        observed = weights @ (_pair_sums(counts, scale) / (sizes - 1))
    alphas: Reals = 1 - observed / marginals.sum(axis=1) / _expected(marginals, scale)
    return alphas


def _expected(marginals: Reals, scale: Scale) -> Reals:
    """D_e for each row of how often each answer was given; NaN where there was only one answer."""
    total = marginals.sum(axis=1)
    several = (marginals > 0).sum(axis=1) > 1
    return np.where(several, _pair_sums(marginals, scale), np.nan) / np.where(several, total * (total - 1), 1.0)


def _pair_sums(counts: Reals, scale: Scale) -> Reals:
    """For each row, sum over c and k of n_c n_k d_ck²; ranks of an ordinal scale are those of the row."""
    total = counts.sum(axis=1)
    if scale.level == "nominal":
        sums: Reals = total**2 - (counts**2).sum(axis=1)
    elif scale.level == "ratio":
        sums = ((counts @ _ratio_differences(scale.values)) * counts).sum(axis=1)
    else:
        positions = _positions(counts, scale)
        sums = 2 * (total * (counts * positions**2).sum(axis=1) - (counts * positions).sum(axis=1) ** 2)
    return sums


def _positions(marginals: Reals, scale: Scale) -> Reals:
    """Where each answer lies, so that differences of positions are those of the scale, about 0 for exactness."""
    if scale.level == "ordinal":
        ranks: Reals = np.cumsum(marginals, axis=1) - marginals / 2 - marginals.sum(axis=1, keepdims=True) / 2
        return ranks
    numbers = np.array(scale.values, dtype=np.float64)[None]
    centred: Reals = numbers - numbers.mean()
    return centred


def _ratio_differences(values: Sequence[str | float]) -> Reals:
    """Every answer against every other: meant for scales of some thousand answers at most."""
    numbers = np.array(values, dtype=np.float64)
    sums = numbers[:, None] + numbers[None]
    differences: Reals = (numbers[:, None] - numbers[None]) / np.where(sums > 0, sums, 1.0)
    return differences**2


def _estimate(
    name: str,
    statistic: Callable[[Reals], Reals],
    items: Sequence[str],
    groups: Groups | None,
    seed: int,
    resamples: int,
) -> Estimate:
    value = float(statistic(np.ones((1, len(items))))[0])
    own_groups = list(items) if groups is None else [groups.get(item, item) for item in items]
    if len(set(own_groups)) < 2:
        return Estimate(name, value, None, None, len(items))
    return Estimate.of(
        name, resampled_interval(value, statistic, len(items), own_groups, seed, resamples), len(items), ""
    )


# Which items, and which people, the disagreement of a table comes from.
#
# Every answer x_ui of person i to item u is held against those of the others who answered it:
#
#   e_ui = mean over j != i of d²(x_ui, x_uj) / D_e        d² and D_e as in `agreement`, of the whole table
#
#   item     mean of e_ui over its people: 0 all agree, 1 as much as any two answers differ, above 1 more
#   person   1 - mean of e_ui over the person's items: agreement with the rest
#   pair     1 - mean of d²(x_ui, x_uj) / D_e over the items that both have answered
#
# These are alpha taken apart: 1 - mean of e_ui over all answers is Krippendorff's alpha. Unlike a kappa for each
# pair, all are on one footing, and exist for somebody who always gives the same answer.


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
        answers = ", ".join(f"{_shown(value)}: {count:g}" for value, count in zip(table.scale.values, counts) if count)
        if nothing or answered[index].sum() < 2:
            scores.append(Score(item, None, nothing or "fewer than two people have answered"))
        else:
            scores.append(Score(item, float(by_answer[index, answered[index]].mean()), answers))
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
