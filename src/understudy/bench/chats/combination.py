"""Several measures weighed together, and judged on chats of people whose chats had no part in the weights.

    x_j     = the share of training chats whose measure j is smaller, less 1/2; 0 where it is missing
    w       = argmin over w of  sum over training chats of (score - mean - w . x)^2 + L |w|^2        (ridge regression)

L is chosen among `PENALTIES` by the same cross-validation within the training chats. Folds are of people: all chats of
one person are in one fold.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.lexical.rows import Reals
from understudy.metrics.statistics import spearman

__all__ = ["FOLDS", "folds_of", "out_of_fold"]

Indices = NDArray[np.int64]
FOLDS = 10
INNER_FOLDS = 5
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


def folds_of(groups: Sequence[Hashable], folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    """For each fold the indices to learn from and those to judge; a group is never split."""
    names = list(dict.fromkeys(groups))
    folds = min(folds, len(names))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[name]: place % folds for place, name in enumerate(order)}
    mine = np.array([fold_of[group] for group in groups])
    return [(np.flatnonzero(mine != fold), np.flatnonzero(mine == fold)) for fold in range(folds)]


def out_of_fold(features: Reals, target: Reals, groups: Sequence[Hashable], seed: int = 0) -> Reals:
    """A prediction for each chat by weights that were learnt from the chats of other people."""
    predicted = np.zeros(len(target))
    for learnt, judged in folds_of(groups, FOLDS, seed):
        penalty = _best_penalty(features[learnt], target[learnt], [groups[index] for index in learnt], seed)
        scaled, unseen = _scaled(features[learnt], features[learnt]), _scaled(features[learnt], features[judged])
        predicted[judged] = _predict(scaled, target[learnt], unseen, penalty)
    return predicted


def _best_penalty(features: Reals, target: Reals, groups: Sequence[Hashable], seed: int) -> float:
    """The one whose predictions within the training chats agree best."""
    folds = folds_of(groups, INNER_FOLDS, seed)
    if len(folds) < 2:
        return PENALTIES[-1]
    predicted = {penalty: np.zeros(len(target)) for penalty in PENALTIES}
    for learnt, judged in folds:
        scaled, unseen = _scaled(features[learnt], features[learnt]), _scaled(features[learnt], features[judged])
        for penalty, column in predicted.items():
            column[judged] = _predict(scaled, target[learnt], unseen, penalty)
    return max(PENALTIES, key=lambda penalty: np.nan_to_num(spearman(predicted[penalty], target), nan=-1.0))


def _predict(scaled: Reals, target: Reals, unseen: Reals, penalty: float) -> Reals:
    mean = target.mean()
    weights = np.linalg.solve(scaled.T @ scaled + penalty * np.eye(scaled.shape[1]), scaled.T @ (target - mean))
    predicted: Reals = mean + unseen @ weights
    return predicted


def _scaled(learnt: Reals, values: Reals) -> Reals:
    """Where each value stands among those learnt from, from -1/2 to 1/2."""
    columns = []
    for known, column in zip(learnt.T, values.T):
        ordered = np.sort(known[~np.isnan(known)])
        if not len(ordered):
            columns.append(np.zeros(len(column)))
            continue
        below = (np.searchsorted(ordered, column, "left") + np.searchsorted(ordered, column, "right")) / 2
        columns.append(np.where(np.isnan(column), 0.0, below / len(ordered) - 0.5))
    return np.stack(columns, axis=1)
