"""Which namings of a scene are worth scoring, when scoring one takes long and there are hundreds.

Up to four candidates all are. Beyond that some are drawn by chance. What they score says how much each pair of mask and
candidate adds (ridge regression); the namings that are best by that, and by that with some noise, are scored too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.guessing.assignment import all_assignments, best_assignment
from understudy.lexical.rows import Ints, Reals

__all__ = ["DRAWN", "namings_scored"]

FEW = 4  # candidates whose namings are all scored
DRAWN = 48
HOLD = 1.0  # how far what pairs add is held to nothing


def namings_scored(masks: int, candidates: int, scored: Callable[[Ints], Reals]) -> tuple[Ints, Reals]:
    """Namings that matter, a row each, and their scores; all of them where they are few."""
    if candidates <= FEW:
        ways = all_assignments(masks, candidates)
        return ways, scored(ways)
    chance = np.random.default_rng(masks)
    drawn = np.unique([chance.permutation(candidates)[:masks] for _ in range(DRAWN)], axis=0)
    scores = scored(drawn)
    shares = _shares(drawn, scores, candidates)
    noise = chance.gumbel(scale=max(float(shares.std()), 1e-6), size=(DRAWN, *shares.shape))
    noise[0] = 0
    likely = np.unique([best_assignment(shares + more) for more in noise], axis=0)
    known = {tuple(way) for way in drawn.tolist()}
    fresh = np.array([way for way in likely.tolist() if tuple(way) not in known], dtype=np.int64).reshape(-1, masks)
    if not len(fresh):
        return drawn, scores
    return np.concatenate((drawn, fresh)), np.concatenate((scores, scored(fresh)))


def _shares(ways: Ints, scores: Reals, candidates: int) -> Reals:
    """How much each pair of mask and candidate adds to a score, as far as some namings tell (ridge regression)."""
    masks = ways.shape[1]
    there = np.full((len(ways), masks * candidates), -1.0 / candidates)
    there[np.arange(len(ways))[:, None], np.arange(masks) * candidates + ways] += 1
    held = there.T @ there + HOLD * np.eye(there.shape[1])
    found: Reals = np.linalg.solve(held, there.T @ (scores - scores.mean())).reshape(masks, candidates)
    return found
