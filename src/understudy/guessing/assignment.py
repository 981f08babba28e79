"""Each mask is one person, and no two are the same: from scores of all pairs to probabilities of each.

    score(a)      = sum over masks m of s[m, a(m)]                    a: an assignment, one candidate for each mask
    P(a)          = exp(score(a)) / sum over all assignments b of exp(score(b))
    P(m is c)     = sum of P(a) over the assignments with a(m) = c

With six people there are 720 assignments, and all are looked at. Beyond some thousands the probabilities come from
rescaling rows and columns until each sums to one (Sinkhorn), and the best assignment from scipy's solver.

Where a score is a weighted sum of clues, s[m, c] = w . f(m, c), the weights are learned from whole scenes:

    w = argmin  - sum over scenes of ln P(the right assignment)  +  regularisation |w - w0|^2 / 2

w0 are weights to begin with: where there is little to learn from, a clue counts as much as it usually does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np

from understudy.guessing.scenes import Guesses, Remembering
from understudy.language.lexical.logistic import minimize
from understudy.language.lexical.rows import Ints, Reals, softmax
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene

LISTED = 5040  # assignments that are looked at one by one: seven people
ROUNDS = 200
LEAST = 1e-9  # a probability below it counts as this
TOLERANCE = 1e-6  # what a scene's loss may still fall
STEPS = 200


def can_list(masks: int, candidates: int | None = None) -> bool:
    """Are there few enough assignments to look at each? By default there are as many candidates as masks."""
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
        return _sinkhorn(scores)
    assignments = all_assignments(masks, candidates)
    totals = scores[np.arange(masks), assignments].sum(axis=1)
    return spread_over(assignments, softmax(totals), candidates)


def spread_over(assignments: Ints, probabilities: Reals, candidates: int) -> Reals:
    """From probabilities of whole assignments to those of each candidate for each mask."""
    return np.stack([np.bincount(column, probabilities, minlength=candidates) for column in assignments.T])


def best_assignment(scores: Reals) -> Ints:
    """The candidate of each mask in the assignment with the largest sum."""
    masks, candidates = scores.shape
    if can_list(masks, candidates):
        assignments = all_assignments(masks, candidates)
        best: Ints = assignments[scores[np.arange(masks), assignments].sum(axis=1).argmax()]
        return best
    from scipy.optimize import linear_sum_assignment

    chosen: Ints = linear_sum_assignment(scores, maximize=True)[1].astype(np.int64)
    return chosen


def one_each(guesses: Guesses) -> Guesses:
    """Guesses about one scene, made anew with one person behind each mask and nobody behind two."""
    if not guesses:
        return guesses
    candidates = list(next(iter(guesses.values())))
    return named(list(guesses), candidates, marginals(log_table(guesses, candidates)))


def log_table(guesses: Guesses, candidates: Sequence[str]) -> Reals:
    """The logarithm of each probability: a row for each mask, a column for each candidate."""
    table: Reals = np.log([[max(shares[name], LEAST) for name in candidates] for shares in guesses.values()])
    return table


class Assigned:
    """Any guesser, with one person behind each mask and nobody behind two."""

    def __init__(self, guesser: Guesser) -> None:
        self._guesser = guesser

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        return one_each(self._guesser.guess(masked, personas))

    def remember(self, scene: Scene) -> None:
        if isinstance(self._guesser, Remembering):
            self._guesser.remember(scene)


def named(masks: Sequence[str], candidates: Sequence[str], probabilities: Reals) -> dict[str, dict[str, float]]:
    """A table of masks and candidates under their names."""
    return {mask: dict(zip(candidates, row.tolist())) for mask, row in zip(masks, probabilities)}


def _sinkhorn(scores: Reals) -> Reals:
    masks, candidates = scores.shape
    square = np.zeros((candidates, candidates))  # what no mask takes is taken by rows that prefer nobody
    square[:masks] = scores - scores.max(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        square -= np.logaddexp.reduce(square, axis=0, keepdims=True)
        square -= np.logaddexp.reduce(square, axis=1, keepdims=True)
    return np.exp(square[:masks])


@dataclass(frozen=True, slots=True)
class SceneClues:
    """The clues of one scene, `table[mask, candidate, clue]`, and which candidate each mask is."""

    table: Reals
    answers: Ints


def fit_weights(scenes: Sequence[SceneClues], start: Reals, regularisation: Reals | float = 1.0) -> Reals:
    """The weight of each clue. Scenes have as many candidates as masks, few enough to look at all assignments."""
    groups = [_SameSize(same) for same in _by_size(scenes)]
    penalty = np.broadcast_to(np.asarray(regularisation, dtype=np.float64), start.shape)

    def objective(weights: Reals) -> tuple[float, Reals]:
        away = weights - start
        loss, gradient = float(penalty @ away**2) / 2, penalty * away
        for group in groups:
            group_loss, group_gradient = group.objective(weights)
            loss += group_loss
            gradient += group_gradient
        return loss, gradient

    diagonal = sum((group.variances() for group in groups), np.zeros(len(start)))
    return minimize(objective, start.astype(np.float64), penalty + diagonal, TOLERANCE * max(len(scenes), 1), STEPS)


class _SameSize:
    """Scenes of the same number of masks, looked at together."""

    def __init__(self, scenes: Sequence[SceneClues]) -> None:
        masks = len(scenes[0].answers)
        # Candidates are put in the order of the masks they are behind, so that the right assignment is 0, 1, 2, ...
        self._tables = np.stack([scene.table[:, scene.answers] for scene in scenes])
        self._assignments = all_assignments(masks, masks)
        self._masks = np.arange(masks)

    def objective(self, weights: Reals) -> tuple[float, Reals]:
        scores = self._tables @ weights
        totals = scores[:, self._masks, self._assignments].sum(axis=2)
        totals -= totals.max(axis=1, keepdims=True)
        log_shares = totals - np.log(np.exp(totals).sum(axis=1, keepdims=True))
        right = int(np.flatnonzero((self._assignments == self._masks).all(axis=1))[0])
        shares = np.exp(log_shares)
        errors = np.empty(scores.shape)
        for candidate in self._masks:
            errors[:, :, candidate] = shares @ (self._assignments == candidate)
        errors[:, self._masks, self._masks] -= 1
        return -float(log_shares[:, right].sum()), np.einsum("smc,smcf->f", errors, self._tables)

    def variances(self) -> Reals:
        """Of each clue over the candidates: about how much its weight bends the loss."""
        variances: Reals = self._tables.var(axis=2).sum(axis=(0, 1))
        return variances


def _by_size(scenes: Sequence[SceneClues]) -> list[list[SceneClues]]:
    sizes: dict[int, list[SceneClues]] = {}
    for scene in scenes:
        sizes.setdefault(len(scene.answers), []).append(scene)
    return [same for size, same in sorted(sizes.items()) if size > 1]
