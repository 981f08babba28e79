"""Minimises a smooth function of many weights by L-BFGS, in plain numpy.

With the last m steps s_i, the changes y_i of the gradient g over them, and their scale c, the next step is the
quasi-Newton step in its compact form (Byrd, Nocedal and Schnabel, 1994):

    step = - (c g + S b - c Y a),   a = R^-1 (S . g),   b = R^-T ((D + c Y . Y) a - c Y . g)

where R_ij = s_i . y_j for i <= j, D is its diagonal and c = s_m . y_m / y_m . y_m: few passes over S and Y. With a
hundred thousand weights memory bandwidth is the cost, so arrays are allocated once and overwritten. scipy's L-BFGS-B
takes about twice as long on the same objective (docs/decisions/0007).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.language.lexical.rows import Reals

__all__ = ["Objective", "minimize"]

Objective = Callable[[Reals], tuple[float, Reals]]
"""From weights to the loss there, and its gradient."""

MEMORY = 3  # steps that the curvature is estimated from
MAX_STEPS = 300
SUFFICIENT_DECREASE, SHORTEST_STEP = 1e-4, 1e-10  # of the backtracking line search


def minimize(
    objective: Objective, start: Reals, diagonal: Reals, tolerance: float, max_steps: int = MAX_STEPS
) -> Reals:
    """The weights at which the objective is smallest; stops when half the squared Newton step is below `tolerance`.

    `diagonal` estimates the diagonal of the Hessian: the problem is preconditioned with it.
    """
    scale = 1 / np.sqrt(diagonal)
    history = LBFGSHistory(len(start))
    weights, candidate = start.copy(), np.empty_like(start)
    loss, gradient = objective(weights)
    gradient *= scale
    for _ in range(max_steps):
        direction = history.direction(gradient)
        slope = float(direction @ gradient)
        if -slope / 2 <= tolerance:
            break
        length = 1.0
        while True:
            np.multiply(scale, direction, out=candidate)
            candidate *= length
            candidate += weights
            new_loss, new_gradient = objective(candidate)
            if new_loss <= loss + SUFFICIENT_DECREASE * length * slope or length < SHORTEST_STEP:
                break
            length /= 2
        new_gradient *= scale
        history.add(direction, length, new_gradient, gradient)
        weights, candidate, loss, gradient = candidate, weights, new_loss, new_gradient
    return weights


class LBFGSHistory:
    """The last steps and gradient changes, in ring buffers, and their inner products."""

    def __init__(self, size: int) -> None:
        self._both = np.zeros((2 * MEMORY, size))  # one array, so that one pass multiplies with both
        self._steps, self._changes = self._both.reshape(2, MEMORY, size)
        self._steps_changes = np.zeros((MEMORY, MEMORY))
        self._changes_changes = np.zeros((MEMORY, MEMORY))
        self._direction, self._scratch = np.empty((2, size))
        self._count = 0

    def add(self, direction: Reals, length: float, gradient: Reals, previous: Reals) -> None:
        """A step of some length in a direction, with the gradients after and before it."""
        change = np.subtract(gradient, previous, out=self._scratch)
        if float(direction @ change) <= 0:  # negative curvature would make the estimate indefinite
            return
        slot = self._count % MEMORY
        self._count += 1
        np.multiply(direction, length, out=self._steps[slot])
        self._changes[slot] = change
        self._steps_changes[:, slot], products = (self._both @ change).reshape(2, MEMORY)
        self._changes_changes[slot] = self._changes_changes[:, slot] = products

    def direction(self, gradient: Reals) -> Reals:
        """The quasi-Newton direction; the array is overwritten by the next call."""
        if not self._count:
            return np.negative(gradient, out=self._direction)
        oldest = max(self._count - MEMORY, 0)
        order = np.arange(oldest, self._count) % MEMORY
        upper = np.triu(self._steps_changes[np.ix_(order, order)])
        changes_changes = self._changes_changes[np.ix_(order, order)]
        scale = upper[-1, -1] / changes_changes[-1, -1]
        steps, changes = (self._both @ gradient).reshape(2, MEMORY)[:, order]
        a = np.linalg.solve(upper, steps)
        b = np.linalg.solve(upper.T, (np.diag(np.diag(upper)) + scale * changes_changes) @ a - scale * changes)
        coefficients = np.zeros((2, MEMORY))
        coefficients[0, order], coefficients[1, order] = -b, scale * a
        direction = np.dot(coefficients.ravel(), self._both, out=self._direction)
        direction -= np.multiply(gradient, scale, out=self._scratch)
        return direction
