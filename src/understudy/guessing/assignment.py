"""Each mask is one person, and no two are the same: from scores of all pairs to probabilities of each.

    score(a)      = sum over masks m of s[m, a(m)]                    a: an assignment, one candidate for each mask
    P(a)          = exp(score(a)) / sum over all assignments b of exp(score(b))
    P(m is c)     = sum of P(a) over the assignments with a(m) = c

With six people there are 720 assignments, and all are looked at. Beyond some thousands the probabilities come from
rescaling rows and columns until each sums to one (Sinkhorn), and the best assignment from scipy's solver.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import permutations

import numpy as np

from understudy.lexical.rows import Ints, Reals

__all__ = ["all_assignments", "best_assignment", "can_list", "marginals"]

LISTED = 5040  # assignments that are looked at one by one: seven people
ROUNDS = 200


def can_list(masks: int, candidates: int | None = None) -> bool:
    """Are there few enough assignments to look at each? Unless it is said, there are as many candidates as masks."""
    return math.perm(masks if candidates is None else candidates, masks) <= LISTED


@lru_cache(32)
def all_assignments(masks: int, candidates: int) -> Ints:
    """A row for each way to give every mask a candidate of its own."""
    return np.array(list(permutations(range(candidates), masks)), dtype=np.int64).reshape(-1, masks)


def marginals(scores: Reals) -> Reals:
    """How probable each candidate (column) is for each mask (row); rows sum to one, columns to at most one."""
    masks, candidates = scores.shape
    if masks > candidates:
        raise ValueError(f"{masks} masks, but only {candidates} candidates")
    if not masks:
        return scores
    if not can_list(masks, candidates):
        return _balanced(scores)
    ways = all_assignments(masks, candidates)
    total = scores[np.arange(masks), ways].sum(axis=1)
    return spread_over(ways, _softmax(total), candidates)


def spread_over(ways: Ints, probabilities: Reals, candidates: int) -> Reals:
    """From probabilities of whole assignments to those of each candidate for each mask."""
    return np.stack([np.bincount(column, probabilities, minlength=candidates) for column in ways.T])


def best_assignment(scores: Reals) -> Ints:
    """The candidate of each mask in the assignment with the largest sum."""
    masks, candidates = scores.shape
    if can_list(masks, candidates):
        ways = all_assignments(masks, candidates)
        best: Ints = ways[scores[np.arange(masks), ways].sum(axis=1).argmax()]
        return best
    from scipy.optimize import linear_sum_assignment

    chosen: Ints = linear_sum_assignment(scores, maximize=True)[1].astype(np.int64)
    return chosen


def _softmax(values: Reals) -> Reals:
    raised = np.exp(values - values.max())
    found: Reals = raised / raised.sum()
    return found


def _balanced(scores: Reals) -> Reals:
    masks, candidates = scores.shape
    square = np.zeros((candidates, candidates))  # what no mask takes is taken by rows that prefer nobody
    square[:masks] = scores - scores.max(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        square -= np.logaddexp.reduce(square, axis=0, keepdims=True)
        square -= np.logaddexp.reduce(square, axis=1, keepdims=True)
    return np.exp(square[:masks])
