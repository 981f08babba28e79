"""How much each part of a score counts: logistic regression over a few columns, by Newton's method.

loss = sum of weight * ln(1 + exp(-y (x . w + b))) / sum of weights + HELD_BACK * |w * spread of x|^2
"""

from __future__ import annotations

import numpy as np

from understudy.lexical.rows import Reals

__all__ = ["sigmoid", "weighed"]

HELD_BACK = 1e-3
ROUNDS = 50
SETTLED = 1e-9


def weighed(parts: Reals, own: Reals, weights: Reals) -> Reals:
    """A weight for each column, then what is added; `own` is 1 or 0 for each row."""
    mean, spread = parts.mean(axis=0), parts.std(axis=0)
    spread[spread == 0] = 1.0
    rows = np.hstack([(parts - mean) / spread, np.ones((len(parts), 1))])
    share = weights / weights.sum()
    held = np.full(rows.shape[1], 2 * HELD_BACK)
    held[-1] = 0.0
    found = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        chance = sigmoid(rows @ found)
        slope = rows.T @ (share * (chance - own)) + held * found
        bend = (rows * (share * chance * (1 - chance))[:, None]).T @ rows + np.diag(held + 1e-9)
        step = np.linalg.solve(bend, slope)
        found -= step
        if np.abs(step).max() < SETTLED:
            break
    plain = found[:-1] / spread
    return np.append(plain, found[-1] - plain @ mean)


def sigmoid(values: Reals) -> Reals:
    """1 / (1 + exp(-x)), without overflow."""
    found: Reals = 0.5 * (1 + np.tanh(values / 2))
    return found
