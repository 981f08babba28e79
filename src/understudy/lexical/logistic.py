"""Multinomial logistic regression over sparse rows, in plain numpy.

    P(k | x) = exp(w_k . x + b_k) / sum over j of exp(w_j . x + b_j)
    loss     = - sum over rows of counts * ln P(its class | row) + sum over k of |w_k|^2 / (2 C)

A row counts 1 unless it is said otherwise; `evened` lets all classes count alike, however many rows each has.
Intercepts b are not held back. Of two classes only the difference w_1 - w_0 matters, and it is held back once, as
|w_1 - w_0|^2 / (2 C): that is what binary regression does, and what scikit-learn does.

Frequent words bend the loss a hundred times as much as rare ones, so the steps down are measured in the curvature that
each weight has at the start (see `understudy.lexical.descent`); that saves most of the passes over the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from understudy.lexical.descent import Slope, least
from understudy.lexical.rows import Ints, Reals, Rows

__all__ = ["Logistic", "evened", "fit"]

PRECISION = 1e-6
FREQUENT = 128  # features that are kept as a full matrix
WORTH_COMPILING = 500_000  # values times classes from which loading the compiled loops pays


@dataclass(frozen=True, slots=True)
class Logistic:
    """Weights with a line for each class and a column for each feature, and an intercept for each class."""

    weights: Reals
    intercepts: Reals

    def probabilities(self, rows: Rows) -> Reals:
        """A line for each row, a column for each class."""
        return _softmax(rows.times(self.weights) + self.intercepts[:, None]).T


def evened(labels: Ints, classes: int) -> Reals:
    """How much each row counts so that all classes count alike, and a row 1 on average."""
    return (len(labels) / (classes * np.maximum(np.bincount(labels, minlength=classes), 1)))[labels]


def fit(
    rows: Rows, labels: Ints, classes: int, c: float = 1.0, compiled: bool | None = None, counts: Reals | None = None,
    precision: float = PRECISION,
) -> Logistic:  # fmt: skip
    """The regression that tells the classes apart; `labels` are 0 .. classes - 1, one a row, `counts` as many.

    `compiled` loops are used where the optional part `fast` is there and the data is large enough; True and False
    say so whatever the size. `precision` is what a row's loss may still be above the least.
    """
    if compiled is None:
        compiled = len(rows.columns) * classes >= WORTH_COMPILING and _fast()
    # Compiled loops want the classes of a feature side by side, numpy the features of a class.
    counts = np.ones(len(rows)) if counts is None else counts
    slope = _compiled_slope(rows, labels, classes, counts) if compiled else _slope(rows, labels, counts)
    held_back = np.append(np.full(rows.width, (2.0 if classes == 2 else 1.0) / c), 0.0)
    even = (classes - 1) / classes**2  # the curvature of a class that is as likely as every other
    bent = even * np.bincount(rows.columns, counts[rows.owners] * rows.values**2, minlength=rows.width)
    curvature = held_back + np.append(bent, even * max(counts.sum(), 1))
    spread = np.repeat if compiled else np.tile
    best = least(
        _held(slope, spread(held_back, classes)),
        np.zeros(classes * (rows.width + 1)),
        spread(curvature, classes),
        precision * max(counts.sum(), 1),
    )
    weights = best.reshape(rows.width + 1, classes).T if compiled else best.reshape(classes, rows.width + 1)
    return Logistic(np.ascontiguousarray(weights[:, :-1]), weights[:, -1].copy())


def _held(slope: Slope, held_back: Reals) -> Slope:
    back = np.empty_like(held_back)  # written over again and again: making large arrays costs more than filling them

    def held(weights: Reals) -> tuple[float, Reals]:
        loss, gradient = slope(weights)
        np.multiply(held_back, weights, out=back)
        gradient += back
        return loss + float(back @ weights) / 2, gradient

    return held


def _slope(rows: Rows, labels: Ints, counts: Reals) -> Slope:
    """Loss without what holds weights back, and its gradient, at weights whose last column is the intercept.

    The most frequent features hold half of all values: they are multiplied faster as a full matrix.
    """
    places = np.arange(len(rows))
    often = np.argsort(-np.bincount(rows.columns, minlength=rows.width), kind="stable")[:FREQUENT]
    frequent = np.full(rows.width, -1)
    frequent[often] = np.arange(len(often))
    here = frequent[rows.columns]
    full = np.zeros((len(often), len(rows)))
    full[here[here >= 0], rows.owners[here >= 0]] = rows.values[here >= 0]
    rest = rows.kept(here < 0)
    turned = rest.turned()

    def slope(flat: Reals) -> tuple[float, Reals]:
        weights = flat.reshape(-1, rows.width + 1)
        found = _softmax(weights[:, often] @ full + rest.times(weights[:, :-1]) + weights[:, -1:])
        loss = -float(counts @ np.log(np.maximum(found[labels, places], 1e-300)))
        found[labels, places] -= 1
        found *= counts
        gradient = np.hstack([turned.times(found), found.sum(axis=1, keepdims=True)])
        gradient[:, often] = found @ full.T
        return loss, gradient.ravel()

    return slope


def _compiled_slope(rows: Rows, labels: Ints, classes: int, counts: Reals) -> Slope:
    """The same, at weights whose last row is the intercept."""
    from understudy.lexical.fast import backward, forward

    held = rows.starts, rows.columns, rows.values
    scores, chances = np.empty((2, len(rows), classes))

    def slope(flat: Reals) -> tuple[float, Reals]:
        gradient = np.zeros((rows.width + 1, classes))
        forward(*held, flat.reshape(gradient.shape), scores)
        np.exp(scores, out=chances)
        return backward(*held, labels, counts, scores, chances, gradient), gradient.ravel()

    return slope


def _fast() -> bool:
    """Is the optional part there?"""
    return find_spec("numba") is not None


def _softmax(scores: Reals) -> Reals:
    """Down the columns."""
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return scores
