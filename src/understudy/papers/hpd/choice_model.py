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

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.lexical.rows import Reals
from understudy.papers.hpd.features import (
    ATTRIBUTES,
    NAMES_SAID,
    RELATIONS,
    SHARED_WORDS,
    FeatureGroup,
    Meaning,
    feature_rows,
    features_of,
)
from understudy.papers.hpd.own_text import OWN_TEXT
from understudy.story.dialogue import Example, Situation, Turn
from understudy.text import fold

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
        fixed = constant | ((weights == 0) & (signs * gradient > 0))
        free = np.flatnonzero(~fixed)
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
        for part in folds_of(scenes, folds, seed * repeats + repeat):
            model = fit(part.training)
            judged |= {index: scores(model, index) for index in part.judged}
        results.append([judged[index] for index in range(len(scenes))])
    return results


# Rankers whose weights are fitted on sessions: `fitted`, and `fitted+repeats`, which remembers replies as well.
#
#     score(c) = w . z(c)              z: standardised features of the reply (`features`), w: as above
#
# What a session has is its features with whatever is given of the question: given nothing but the candidates, all that
# is left is the reply's own text. `fitted+repeats` has one feature more: whether the reply was a candidate in another
# session, where nearly all are wrong. That tells of how HPD was made (one proposal stands in many sessions), not of
# replies; it says how far remembering goes.


FITTED = "fitted"
FITTED_AGENTS = {FITTED: False, "fitted+repeats": True}
"""Whether each of them remembers the replies it was fitted on."""


def feature_groups() -> list[FeatureGroup]:
    """All but the reranker's, which not every installation has."""
    return [OWN_TEXT, SHARED_WORDS, NAMES_SAID, Meaning(), ATTRIBUTES, RELATIONS]


@dataclass(frozen=True, slots=True)
class FittingSessions:
    """Sessions with the features of their candidates, on which rankers are fitted and judged."""

    examples: Sequence[Example]
    groups: Sequence[FeatureGroup]
    rows: Sequence[Reals]

    def fit(self, indices: Sequence[int], remembers: bool = False) -> FittedRanker:
        """A ranker that has seen these sessions, and no others."""
        signs = [feature.sign for feature in features_of(self.groups)]
        rows, gold = [self.rows[index] for index in indices], [self.examples[index].gold for index in indices]
        if not remembers:
            return FittedRanker(self.groups, fit_choice(rows, gold, signs))
        texts = [[fold(text) for text in self.examples[index].candidates] for index in indices]
        sessions = Counter(text for own in texts for text in set(own))
        rows = [_with_repeats(row, [sessions[text] > 1 for text in own]) for row, own in zip(rows, texts)]
        return FittedRanker(self.groups, fit_choice(rows, gold, [*signs, -1]), frozenset(sessions))

    def scores(self, ranker: FittedRanker, index: int) -> list[float]:
        return ranker.choose(self.rows[index], self.examples[index].candidates)

    def held_out_scores(self, scenes: Sequence[str], remembers: bool, seed: int) -> list[list[list[float]]]:
        """For each repeat of the cross-validation, scores of every session by a ranker that has not seen it."""
        return cross_validate(scenes, lambda indices: self.fit(indices, remembers), self.scores, seed)


@dataclass(frozen=True, slots=True)
class FittedRanker:
    """A ranker: features and their weights; and the candidates it remembers, if it does."""

    groups: Sequence[FeatureGroup]
    model: ChoiceModel
    remembered: frozenset[str] | None = None

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        example = Example(situation, tuple(history), tuple(candidates), frozenset())
        return self.choose(feature_rows(self.groups, [example])[0], candidates) if candidates else []

    def choose(self, rows: Reals, candidates: Sequence[str]) -> list[float]:
        """The scores of candidates whose features are known."""
        if self.remembered is not None:
            rows = _with_repeats(rows, [fold(text) in self.remembered for text in candidates])
        return self.model.scores(rows)

    def weights(self) -> dict[str, float]:
        names = [feature.name for feature in features_of(self.groups)]
        names += [] if self.remembered is None else ["repeated"]
        return {name: round(float(weight), 4) for name, weight in zip(names, self.model.weights, strict=True)}


def _with_repeats(rows: Reals, repeated: Sequence[bool]) -> Reals:
    return np.column_stack([rows, np.array(repeated, dtype=np.float64)])
