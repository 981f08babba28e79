"""Where a smooth function of many weights is least, by L-BFGS in plain numpy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from understudy.lexical.rows import Reals

__all__ = ["Slope", "least"]

Slope = Callable[[Reals], tuple[float, Reals]]
"""From weights to the function's height there, and its gradient."""

REMEMBERED = 5  # steps from which the curvature is told
LONGEST = 300  # steps


def least(slope: Slope, at: Reals, curvature: Reals, precision: float, longest: int = LONGEST) -> Reals:
    """The weights at which a function is least. It ends when half the squared Newton step is below `precision`.

    `curvature` is a guess at how much each weight bends the function: steps are measured in it.
    """
    steps: deque[tuple[Reals, Reals, float]] = deque(maxlen=REMEMBERED)
    height, gradient = slope(at)
    for _ in range(longest):
        direction = _downhill(gradient, steps, curvature)
        fall = float(direction @ gradient)
        if -fall / 2 <= precision:
            break
        length = 1.0
        while True:
            there = at + length * direction
            new_height, new_gradient = slope(there)
            if new_height <= height + 1e-4 * length * fall or length < 1e-10:
                break
            length /= 2
        moved, turned = there - at, new_gradient - gradient
        agreement = float(moved @ turned)
        if agreement > 0:
            steps.append((moved, turned, agreement))
        at, height, gradient = there, new_height, new_gradient
    return at


def _downhill(gradient: Reals, steps: deque[tuple[Reals, Reals, float]], curvature: Reals) -> Reals:
    """The Newton step, as far as the last steps tell the curvature."""
    left = -gradient
    part = np.empty_like(left)  # written over again and again: making large arrays costs more than filling them
    shares = []
    for moved, turned, agreement in reversed(steps):
        share = float(moved @ left) / agreement
        shares.append(share)
        left -= np.multiply(turned, share, out=part)
    left /= curvature
    if steps:
        _, turned, agreement = steps[-1]
        left *= agreement / float(turned @ np.divide(turned, curvature, out=part))
    for (moved, turned, agreement), share in zip(steps, reversed(shares)):
        left += np.multiply(moved, share - float(turned @ left) / agreement, out=part)
    return left
