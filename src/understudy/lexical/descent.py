"""Where a smooth function of many weights is least, by L-BFGS in plain numpy.

With the last m steps s_i, the changes y_i of the gradient g on them, and c their scale, the next step is the Newton
step under what those tell of the curvature, in its compact form:

    step = - (c g + S b - c Y a),   a = R^-1 (S . g),   b = R^-T ((D + c Y . Y) a - c Y . g)

where R_ij = s_i . y_j for i up to j, D is its diagonal, c = s_m . y_m / y_m . y_m. That takes few passes over S and Y.
With a hundred thousand weights it is memory that costs: arrays are made once and written over.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.lexical.rows import Reals

__all__ = ["Slope", "least"]

Slope = Callable[[Reals], tuple[float, Reals]]
"""From weights to the function's height there, and its gradient."""

REMEMBERED = 3  # steps from which the curvature is told
LONGEST = 300  # steps


def least(slope: Slope, at: Reals, curvature: Reals, precision: float, longest: int = LONGEST) -> Reals:
    """The weights at which a function is least. It ends when half the squared Newton step is below `precision`.

    `curvature` is a guess at how much each weight bends the function: steps are measured in it.
    """
    unit = 1 / np.sqrt(curvature)
    bends = Bends(len(at))
    at, there = at.copy(), np.empty_like(at)
    height, gradient = slope(at)
    gradient *= unit
    for _ in range(longest):
        direction = bends.downhill(gradient)
        fall = float(direction @ gradient)
        if -fall / 2 <= precision:
            break
        length = 1.0
        while True:
            np.multiply(unit, direction, out=there)
            there *= length
            there += at
            new_height, new_gradient = slope(there)
            if new_height <= height + 1e-4 * length * fall or length < 1e-10:
                break
            length /= 2
        new_gradient *= unit
        bends.remember(direction, length, new_gradient, gradient)
        at, there, height, gradient = there, at, new_height, new_gradient
    return at


class Bends:
    """What the last steps tell of a function's curvature; the oldest makes room for the newest."""

    def __init__(self, size: int) -> None:
        self._both = np.zeros((2 * REMEMBERED, size))  # in one array, so that they are passed over together
        self._steps, self._changes = self._both.reshape(2, REMEMBERED, size)
        self._met = np.zeros((REMEMBERED, REMEMBERED))  # of each step with each later change
        self._alike = np.zeros((REMEMBERED, REMEMBERED))  # of each change with each
        self._found, self._part = np.empty((2, size))
        self._count = 0

    def remember(self, direction: Reals, length: float, gradient: Reals, before: Reals) -> None:
        """A step of some length in a direction, with the gradient after and before it."""
        change = np.subtract(gradient, before, out=self._part)
        if float(direction @ change) <= 0:  # the function is not bent upwards along it
            return
        place = self._count % REMEMBERED
        self._count += 1
        np.multiply(direction, length, out=self._steps[place])
        self._changes[place] = change
        self._met[:, place], alike = (self._both @ change).reshape(2, REMEMBERED)
        self._alike[place] = self._alike[:, place] = alike

    def downhill(self, gradient: Reals) -> Reals:
        """The Newton step, as far as is known; it is written over by the next."""
        if not self._count:
            return np.negative(gradient, out=self._found)
        first = max(self._count - REMEMBERED, 0)
        order = np.arange(first, self._count) % REMEMBERED  # from the oldest to the newest
        met, alike = np.triu(self._met[np.ix_(order, order)]), self._alike[np.ix_(order, order)]
        scale = met[-1, -1] / alike[-1, -1]
        steps, changes = (self._both @ gradient).reshape(2, REMEMBERED)[:, order]
        along = np.linalg.solve(met, steps)
        bent = (np.diag(np.diag(met)) + scale * alike) @ along - scale * changes
        parts = np.zeros((2, REMEMBERED))
        parts[0, order], parts[1, order] = -np.linalg.solve(met.T, bent), scale * along
        found = np.dot(parts.ravel(), self._both, out=self._found)
        found -= np.multiply(gradient, scale, out=self._part)
        return found
