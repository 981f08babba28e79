"""The likeliest of many assignments, where scoring one is costly.

Up to four candidates all assignments are scored. Beyond that some are drawn at random; ridge regression on their scores
estimates what each pair of mask and candidate adds, and the assignments that are best by that, without and with noise,
are scored too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.guessing.assignment import all_assignments, best_assignment
from understudy.lexical.rows import Ints, Reals

__all__ = ["DRAWN", "score_assignments"]

FEW = 4  # candidates whose assignments are all scored
DRAWN = 48
RIDGE = 1.0


def score_assignments(masks: int, candidates: int, scored: Callable[[Ints], Reals]) -> tuple[Ints, Reals]:
    """Assignments that matter, a row each, and their scores; all of them where they are few."""
    if candidates <= FEW:
        assignments = all_assignments(masks, candidates)
        return assignments, scored(assignments)
    rng = np.random.default_rng(masks)
    drawn = np.unique([rng.permutation(candidates)[:masks] for _ in range(DRAWN)], axis=0)
    scores = scored(drawn)
    shares = _shares(drawn, scores, candidates)
    noise = rng.gumbel(scale=max(float(shares.std()), 1e-6), size=(DRAWN, *shares.shape))
    noise[0] = 0
    likely = np.unique([best_assignment(shares + more) for more in noise], axis=0)
    known = {tuple(assignment) for assignment in drawn.tolist()}
    fresh = np.array(
        [assignment for assignment in likely.tolist() if tuple(assignment) not in known], dtype=np.int64
    ).reshape(-1, masks)
    if not len(fresh):
        return drawn, scores
    return np.concatenate((drawn, fresh)), np.concatenate((scores, scored(fresh)))


def _shares(assignments: Ints, scores: Reals, candidates: int) -> Reals:
    """How much each pair of mask and candidate adds to a score, as far as some namings tell (ridge regression)."""
    masks = assignments.shape[1]
    features = np.full((len(assignments), masks * candidates), -1.0 / candidates)
    features[np.arange(len(assignments))[:, None], np.arange(masks) * candidates + assignments] += 1
    regularized = features.T @ features + RIDGE * np.eye(features.shape[1])
    shares: Reals = np.linalg.solve(regularized, features.T @ (scores - scores.mean())).reshape(masks, candidates)
    return shares
