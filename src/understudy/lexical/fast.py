"""Compiled loops (the optional part `fast`): the same sums as in plain numpy, made in one pass over the data."""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np

from understudy.lexical.rows import Ints, Reals

__all__ = ["slope"]


def _slope(starts: Ints, columns: Ints, values: Reals, labels: Ints, weights: Reals, gradient: Reals) -> float:
    """The loss of multinomial regression; adds its gradient to `gradient`.

    Both have a line for each feature, the intercept's last, and a column for each class.
    """
    classes = weights.shape[1]
    intercept = weights.shape[0] - 1
    found = np.empty(classes)
    loss = 0.0
    for row in range(len(starts) - 1):
        for k in range(classes):
            found[k] = weights[intercept, k]
        for place in range(starts[row], starts[row + 1]):
            value, column = values[place], columns[place]
            for k in range(classes):
                found[k] += value * weights[column, k]
        highest = found.max()
        total = 0.0
        for k in range(classes):
            found[k] = np.exp(found[k] - highest)
            total += found[k]
        for k in range(classes):
            found[k] /= total
        loss -= np.log(max(found[labels[row]], 1e-300))
        found[labels[row]] -= 1
        for k in range(classes):
            gradient[intercept, k] += found[k]
        for place in range(starts[row], starts[row + 1]):
            value, column = values[place], columns[place]
            for k in range(classes):
                gradient[column, k] += value * found[k]
    return loss


slope: Callable[..., float] = numba.njit(cache=True)(_slope)
