"""Who is this, from the vectors of several texts? Attentive pooling, and a classifier over what is pooled.

    a_j      = exp(u . x_j) / sum over the texts k of the same mask of exp(u . x_k)
    P(c)     ~ exp(w_c . sum over j of a_j x_j + b_c)

u, w and b are learned together from masks whose name is known; vectors stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.lexical.lbfgs import minimize
from understudy.lexical.rows import Ints, Reals

__all__ = ["Pooled", "learn_pooling"]

Vectors = NDArray[np.float32]
STEPS = 150
PRECISION = 1e-5  # what a mask's loss may still fall
HOLD = 0.5  # how much weights are held back, however many masks there are to learn from


@dataclass(frozen=True, slots=True)
class Pooled:
    attention: Reals
    weights: Reals
    intercepts: Reals

    def scores(self, vectors: Vectors, starts: Ints) -> Reals:
        """The logarithm of how probable each class is, for each mask; its texts lie at `starts[i]:starts[i + 1]`."""
        shares = _shares(vectors @ self.attention, starts)
        logits = np.add.reduceat(vectors * shares[:, None], starts[:-1]) @ self.weights.T + self.intercepts
        found: Reals = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return found


def learn_pooling(vectors: Vectors, starts: Ints, labels: Ints, classes: int, hold: float = HOLD) -> Pooled:
    """`labels` has the class of each mask, 0 .. classes - 1; every mask has a text."""
    masks, width = len(labels), vectors.shape[1]
    owners = np.repeat(np.arange(masks), np.diff(starts))
    places = np.arange(masks)

    def slope(flat: Reals) -> tuple[float, Reals]:
        attention, weights, intercepts = _parts(flat, classes, width)
        shares = _shares(vectors @ attention, starts)
        pooled = np.add.reduceat(vectors * shares[:, None], starts[:-1])
        logits = pooled @ weights.T + intercepts
        logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
        loss = -float(logits[places, labels].sum()) + hold * float(flat[:-classes] @ flat[:-classes]) / 2
        missed = np.exp(logits)
        missed[places, labels] -= 1
        pull = np.einsum("ij,ij->i", vectors, (missed @ weights)[owners])
        mean = np.add.reduceat(shares * pull, starts[:-1])
        gradient = np.concatenate(
            (vectors.T @ (shares * (pull - mean[owners])), (missed.T @ pooled).ravel(), missed.sum(axis=0))
        )
        gradient[:-classes] += hold * flat[:-classes]
        return loss, gradient

    start = np.zeros(width + classes * width + classes)
    curvature = np.full(len(start), hold + masks / width / classes)
    curvature[-classes:] = masks / classes
    return Pooled(*_parts(minimize(slope, start, curvature, PRECISION * masks, STEPS), classes, width))


def _parts(flat: Reals, classes: int, width: int) -> tuple[Reals, Reals, Reals]:
    return flat[:width], flat[width:-classes].reshape(classes, width), flat[-classes:]


def _shares(scores: Reals, starts: Ints) -> Reals:
    """Softmax within each mask."""
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    raised = np.exp(scores - np.maximum.reduceat(scores, starts[:-1])[owners])
    found: Reals = raised / np.add.reduceat(raised, starts[:-1])[owners]
    return found
