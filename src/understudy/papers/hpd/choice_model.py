"""Conditional logistic regression: which candidate of a question is the right one, by the candidates' features.

    P(c | question) = exp(w . z_c) / sum over the question's candidates k of exp(w . z_k)
    z               = (x - mean) / deviation            of the features x over all candidates trained on
    loss            = - sum over questions of ln P(right) + penalty |w|^2 / 2

Right replies of a question share the probability that is asked for. A weight may be bound to a sign: with a few dozen
questions to learn from, what is known beforehand (shared words never count against a reply) is worth more than what
the questions can tell. The minimum is found by Newton's method on the weights that are not held at 0 by their bound.
A feature that is the same for all candidates has the weight 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.lexical.rows import Reals
from understudy.story.dialogue import Example

__all__ = [
    "FEWEST_SCENES",
    "FOLDS",
    "PENALTY",
    "REPEATS",
    "TOO_FEW",
    "ChoiceModel",
    "cross_validate",
    "fit_choice",
    "folds_of",
    "scenes_of",
]

PENALTY = 10.0
ROUNDS, TOLERANCE = 100, 1e-8
HALVINGS = 30
PADDING = -1e30  # the score of a candidate that is not there


@dataclass(frozen=True, slots=True)
class ChoiceModel:
    """Weights of standardised features, with the means and deviations that standardise them."""

    weights: Reals
    means: Reals
    deviations: Reals

    def scores(self, features: Reals) -> list[float]:
        """One by one, so that no digit of a score depends on the other candidates."""
        return [float(np.dot(self.weights, (row - self.means) / self.deviations)) for row in features]


def fit_choice(
    features: Sequence[Reals], gold: Sequence[Collection[int]], signs: Sequence[int], penalty: float = PENALTY
) -> ChoiceModel:
    """From each question's features (a row for each candidate) and right candidates.

    `signs` are 1, -1 or 0 for each feature: its weight is at least 0, at most 0, or free.
    """
    rows = np.concatenate(features)
    means, deviations = rows.mean(axis=0), rows.std(axis=0)
    constant = deviations < 1e-9
    deviations = np.where(constant, 1.0, deviations)
    longest = max(map(len, features))
    values = np.zeros((len(features), longest, rows.shape[1]))
    wanted, absent = np.zeros((len(features), longest)), np.ones((len(features), longest), dtype=np.bool_)
    for index, (own, right) in enumerate(zip(features, gold, strict=True)):
        values[index, : len(own)] = (own - means) / deviations
        wanted[index, sorted(right)] = 1 / len(right)
        absent[index, : len(own)] = False
    sides = np.asarray(signs, dtype=np.float64)
    weights = _minimum(_ChoiceLoss(values, wanted, absent, penalty), sides, constant)
    return ChoiceModel(weights, means, deviations)


@dataclass(frozen=True, slots=True)
class _ChoiceLoss:
    values: Reals
    wanted: Reals
    absent: NDArray[np.bool_]
    penalty: float

    def __call__(self, weights: Reals) -> float:
        scores, largest = self._scores(weights)
        logs = np.log(np.exp(scores - largest).sum(axis=1)) + largest[:, 0]
        right = np.where(self.absent, 0.0, scores * self.wanted).sum(axis=1)
        return float((logs - right).sum() + self.penalty * weights @ weights / 2)

    def slope(self, weights: Reals) -> tuple[Reals, Reals]:
        """Gradient and Hessian."""
        scores, largest = self._scores(weights)
        chances = np.exp(scores - largest)
        chances /= chances.sum(axis=1, keepdims=True)
        gradient = np.einsum("qc,qcf->f", chances - self.wanted, self.values) + self.penalty * weights
        expected = np.einsum("qc,qcf->qf", chances, self.values)
        flat = (self.values * np.sqrt(chances)[:, :, None]).reshape(-1, len(weights))
        hessian = flat.T @ flat - expected.T @ expected + self.penalty * np.eye(len(weights))
        return gradient, hessian

    def _scores(self, weights: Reals) -> tuple[Reals, Reals]:
        scores: Reals = np.where(self.absent, PADDING, self.values @ weights)
        return scores, scores.max(axis=1, keepdims=True)


def _minimum(loss: _ChoiceLoss, signs: Reals, constant: NDArray[np.bool_]) -> Reals:
    weights = np.zeros(len(signs))
    value = loss(weights)
    for _ in range(ROUNDS):
        gradient, hessian = loss.slope(weights)
        held = constant | ((weights == 0) & (signs * gradient > 0))
        free = np.flatnonzero(~held)
        if not len(free) or np.abs(gradient[free]).max() < TOLERANCE:
            break
        step = np.zeros_like(weights)
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        for _ in range(HALVINGS):
            moved = weights - step
            moved[moved * signs < 0] = 0.0  # what would cross its bound stays on it
            if (lower := loss(moved)) < value:
                break
            step /= 2
        else:
            break
        weights, value = moved, lower
    return weights


# Judging what learns from the sessions it is judged on: every session by models that have not seen it.
#
# Sessions are dealt into folds, each fold is judged by a model that was fitted on the others, and all of that is
# repeated with other folds. Sessions of the same scene are never parted: one must not be learned from where the other
# is judged.

FOLDS, REPEATS = 10, 10
FEWEST_SCENES = 2
TOO_FEW = "there are too few sessions to learn from some and judge on others: give another file to learn from (--train)"

Model = TypeVar("Model")
Scores = list[list[float]]


@dataclass(frozen=True, slots=True)
class Fold:
    """Indices of sessions: those to learn from, and those to be judged."""

    training: tuple[int, ...]
    judged: tuple[int, ...]


def scenes_of(examples: Sequence[Example]) -> list[str]:
    """What each session must not be parted from: its scene, or nothing but itself where it has none."""
    return [example.situation.setting.strip() or example.name for example in examples]


def folds_of(scenes: Sequence[str], folds: int, seed: int) -> Iterator[Fold]:
    """Every session is judged in one fold; as even as scenes allow. Two scenes are needed at least."""
    by_scene: dict[str, list[int]] = {}
    for index, scene in enumerate(scenes):
        by_scene.setdefault(scene, []).append(index)
    if len(by_scene) < FEWEST_SCENES:
        raise InputError(TOO_FEW)
    groups = list(by_scene.values())
    order = np.random.default_rng(seed).permutation(len(groups)).tolist()
    for first in range(min(folds, len(groups))):
        judged = sorted(index for position in order[first::folds] for index in groups[position])
        yield Fold(tuple(sorted(set(range(len(scenes))) - set(judged))), tuple(judged))


def cross_validate(
    scenes: Sequence[str],
    fit: Callable[[Sequence[int]], Model],
    scores: Callable[[Model, int], list[float]],
    seed: int = 0,
    folds: int = FOLDS,
    repeats: int = REPEATS,
) -> list[Scores]:
    """For each repeat, the scores of every session's candidates by the model that was fitted without it.

    `scenes` says which sessions must not be parted (`scenes_of`). `fit` takes the sessions to learn from; `scores`
    scores the candidates of one session.
    """
    results: list[Scores] = []
    for repeat in range(repeats):
        judged: dict[int, list[float]] = {}
        for fold in folds_of(scenes, folds, seed * repeats + repeat):
            model = fit(fold.training)
            judged |= {index: scores(model, index) for index in fold.judged}
        results.append([judged[index] for index in range(len(scenes))])
    return results
