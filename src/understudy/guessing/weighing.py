"""How much each clue counts, learned from whole scenes: which assignment of names to masks is the right one?

    score(a)  = sum over masks m of w . f(m, a(m))            f(m, c): the clues that m is c
    P(a)      = exp(score(a)) / sum over assignments b of exp(score(b))
    w         = least of  - sum over scenes of ln P(the right assignment)  +  hold |w - w0|^2 / 2

w0 are weights to begin with: where there is little to learn from, a clue counts as much as it usually does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.guessing.assignment import all_assignments
from understudy.lexical.lbfgs import minimize
from understudy.lexical.rows import Ints, Reals

__all__ = ["Clues", "weigh"]

PRECISION = 1e-6  # what a scene's loss may still fall
STEPS = 200


@dataclass(frozen=True, slots=True)
class Clues:
    """The clues of one scene, `table[mask, candidate, clue]`, and which candidate each mask is."""

    table: Reals
    answers: Ints


def weigh(scenes: Sequence[Clues], begin: Reals, hold: Reals | float = 1.0) -> Reals:
    """The weight of each clue. Scenes have as many candidates as masks, few enough to look at all assignments."""
    groups = [_Group(same) for same in _by_size(scenes)]
    held = np.broadcast_to(np.asarray(hold, dtype=np.float64), begin.shape)

    def slope(weights: Reals) -> tuple[float, Reals]:
        away = weights - begin
        loss, gradient = float(held @ away**2) / 2, held * away
        for group in groups:
            more, turned = group.slope(weights)
            loss += more
            gradient += turned
        return loss, gradient

    spread = sum((group.spread() for group in groups), np.zeros(len(begin)))
    return minimize(slope, begin.astype(np.float64), held + spread, PRECISION * max(len(scenes), 1), STEPS)


class _Group:
    """Scenes of the same number of masks, looked at together."""

    def __init__(self, scenes: Sequence[Clues]) -> None:
        masks = len(scenes[0].answers)
        # Candidates are put in the order of the masks they are behind, so that the right assignment is 0, 1, 2, ...
        self._tables = np.stack([scene.table[:, scene.answers] for scene in scenes])
        self._ways = all_assignments(masks, masks)
        self._places = np.arange(masks)

    def slope(self, weights: Reals) -> tuple[float, Reals]:
        scores = self._tables @ weights
        total = scores[:, self._places, self._ways].sum(axis=2)
        total -= total.max(axis=1, keepdims=True)
        log_shares = total - np.log(np.exp(total).sum(axis=1, keepdims=True))
        right = int(np.flatnonzero((self._ways == self._places).all(axis=1))[0])
        shares = np.exp(log_shares)
        missed = np.empty(scores.shape)
        for candidate in self._places:
            missed[:, :, candidate] = shares @ (self._ways == candidate)
        missed[:, self._places, self._places] -= 1
        return -float(log_shares[:, right].sum()), np.einsum("smc,smcf->f", missed, self._tables)

    def spread(self) -> Reals:
        """About how much each weight bends the loss: the variance of its clue over the candidates."""
        found: Reals = self._tables.var(axis=2).sum(axis=(0, 1))
        return found


def _by_size(scenes: Sequence[Clues]) -> list[list[Clues]]:
    sizes: dict[int, list[Clues]] = {}
    for scene in scenes:
        sizes.setdefault(len(scene.answers), []).append(scene)
    return [same for size, same in sorted(sizes.items()) if size > 1]
