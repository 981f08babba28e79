"""Logistic regression: multinomial over sparse rows (`fit`), binary over a few dense columns (`fit_binary`).

    P(k | x) = exp(w_k . x + b_k) / sum over j of exp(w_j . x + b_j)
    loss     = - sum over rows of weight * ln P(its class | row) + sum over k of |w_k|^2 / (2 C)

A row weighs 1 by default; with `balanced_weights` all classes weigh alike, however many rows each has. Intercepts b are
not regularised. Of two classes only the difference w_1 - w_0 matters, and it is regularised once, as
|w_1 - w_0|^2 / (2 C): that is what binary regression does, and what scikit-learn does.

The loss bends a hundred times as much along frequent words as along rare ones, so steps are scaled by the Hessian's
diagonal at the start (see `minimize`); that saves most of the passes over the data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.language.lexical.rows import Ints, Reals, SparseRows, sigmoid, softmax

TOLERANCE = 1e-6
BINARY_PENALTY, BINARY_ROUNDS, BINARY_TOLERANCE = 1e-3, 50, 1e-9


@dataclass(frozen=True, slots=True)
class Logistic:
    """Weights with a row for each class and a column for each feature, and an intercept for each class."""

    weights: Reals
    intercepts: Reals

    def probabilities(self, rows: SparseRows) -> Reals:
        """A row for each of `rows`, a column for each class."""
        return softmax(rows.product(self.weights) + self.intercepts)


def balanced_weights(labels: Ints, classes: int) -> Reals:
    """What each row weighs so that all classes weigh alike, and a row 1 on average."""
    return (len(labels) / (classes * np.maximum(np.bincount(labels, minlength=classes), 1)))[labels]


def fit(
    rows: SparseRows, labels: Ints, classes: int, c: float = 1.0, row_weights: Reals | None = None,
    tolerance: float = TOLERANCE,
) -> Logistic:  # fmt: skip
    """The regression that separates the classes; `labels` are 0 .. classes - 1, one a row.

    `tolerance` is what a row's loss may still be above the minimum.
    """
    row_weights = np.ones(len(rows)) if row_weights is None else row_weights
    total = max(float(row_weights.sum()), 1.0)
    penalty = np.append(np.full(rows.width, (2.0 if classes == 2 else 1.0) / c), 0.0)
    even = (classes - 1) / classes**2  # p (1 - p) summed over classes that are equally likely
    curvature = even * np.bincount(rows.columns, row_weights[rows.owners] * rows.values**2, minlength=rows.width)
    diagonal = penalty + np.append(curvature, even * total)
    best = minimize(
        _objective(rows, labels, classes, row_weights, np.repeat(penalty, classes)),
        np.zeros((rows.width + 1) * classes),
        np.repeat(diagonal, classes),
        tolerance * total,
    )
    weights = best.reshape(rows.width + 1, classes)
    return Logistic(np.ascontiguousarray(weights[:-1].T), weights[-1].copy())


def _objective(rows: SparseRows, labels: Ints, classes: int, row_weights: Reals, penalty: Reals) -> Objective:
    """Loss and gradient at weights with a row for each feature, the intercept's last, and a column for each class."""
    features = _with_intercept(rows).to_scipy()
    transposed = features.T
    own = np.arange(len(rows)) * classes + labels  # where each row's own class is, in the flattened scores
    ones = np.ones(classes)
    pull = np.empty_like(penalty)  # overwritten at each call: allocating large arrays costs more than filling them

    def objective(flat: Reals) -> tuple[float, Reals]:
        scores = features @ flat.reshape(-1, classes)
        scores -= np.maximum.reduce(scores, axis=1)[:, None]
        own_scores = scores.ravel()[own]
        np.exp(scores, out=scores)
        totals = scores @ ones
        loss = float(row_weights @ (np.log(totals) - own_scores))
        scores *= (row_weights / totals)[:, None]
        scores.ravel()[own] -= row_weights
        gradient: Reals = (transposed @ scores).ravel()
        np.multiply(penalty, flat, out=pull)
        gradient += pull
        return loss + float(pull @ flat) / 2, gradient

    return objective


def _with_intercept(rows: SparseRows) -> SparseRows:
    """The rows with one more column, 1 throughout."""
    starts = rows.starts + np.arange(len(rows) + 1)
    columns, values = np.full(starts[-1], rows.width), np.ones(starts[-1])
    is_feature = np.ones(starts[-1], dtype=np.bool_)
    is_feature[starts[1:] - 1] = False
    columns[is_feature], values[is_feature] = rows.columns, rows.values
    return SparseRows(starts, columns, values, rows.width + 1)


def fit_binary(features: Reals, labels: Reals, row_weights: Reals, ridge: float = BINARY_PENALTY) -> Reals:
    """A weight for each column, then the intercept, by Newton's method; labels are 1 or 0.

    loss = sum of weight * ln(1 + exp(-y (x . w + b))) / sum of weights + ridge * |w * std of x|^2
    """
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation[deviation == 0] = 1.0
    rows = np.hstack([(features - mean) / deviation, np.ones((len(features), 1))])
    shares = row_weights / row_weights.sum()
    penalty = np.full(rows.shape[1], 2 * ridge)
    penalty[-1] = 0.0
    weights = np.zeros(rows.shape[1])
    for _ in range(BINARY_ROUNDS):
        probability = sigmoid(rows @ weights)
        gradient = rows.T @ (shares * (probability - labels)) + penalty * weights
        hessian = (rows * (shares * probability * (1 - probability))[:, None]).T @ rows + np.diag(penalty + 1e-9)
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < BINARY_TOLERANCE:
            break
    unscaled = weights[:-1] / deviation
    return np.append(unscaled, weights[-1] - unscaled @ mean)


Objective = Callable[[Reals], tuple[float, Reals]]
"""From weights to the loss there, and its gradient."""

MEMORY = 3  # steps that the curvature is estimated from
MAX_STEPS = 300
SUFFICIENT_DECREASE, SHORTEST_STEP = 1e-4, 1e-10  # of the backtracking line search


def minimize(
    objective: Objective, start: Reals, diagonal: Reals, tolerance: float, max_steps: int = MAX_STEPS
) -> Reals:
    """The weights at which a smooth function is smallest, by L-BFGS with the two-loop recursion (Nocedal, 1980).

    `diagonal` estimates the diagonal of the Hessian: the problem is preconditioned with it. Stops when half the squared
    Newton step is below `tolerance`. scipy's L-BFGS-B takes over twice as long (docs/decisions/0007).
    """
    scale = 1 / np.sqrt(diagonal)
    history = deque[tuple[Reals, Reals, float]](maxlen=MEMORY)
    weights = start.copy()
    loss, gradient = objective(weights)
    gradient *= scale
    for _ in range(max_steps):
        direction = _newton_direction(gradient, history)
        slope = float(direction @ gradient)
        if -slope / 2 <= tolerance:
            break
        length = 1.0
        while True:
            step = length * direction
            candidate = weights + scale * step
            new_loss, new_gradient = objective(candidate)
            if new_loss <= loss + SUFFICIENT_DECREASE * length * slope or length < SHORTEST_STEP:
                break
            length /= 2
        new_gradient *= scale
        change = new_gradient - gradient
        curvature = float(step @ change)
        if curvature > 0:  # a negative one would make the estimate indefinite
            history.append((step, change, curvature))
        weights, loss, gradient = candidate, new_loss, new_gradient
    return weights


def _newton_direction(gradient: Reals, history: Sequence[tuple[Reals, Reals, float]]) -> Reals:
    """The quasi-Newton direction, from the last steps, the changes of the gradient over them, and their products."""
    direction = -gradient
    shares = list[float]()
    for step, change, curvature in reversed(history):
        shares.append(float(step @ direction) / curvature)
        direction -= shares[-1] * change
    if history:
        _, change, curvature = history[-1]
        direction *= curvature / float(change @ change)
    for (step, change, curvature), share in zip(history, reversed(shares)):
        direction += (share - float(change @ direction) / curvature) * step
    return direction
