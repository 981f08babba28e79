"""Compiled loops (the optional part `fast`): the same as in plain numpy, made in one pass over the data.

Between `forward` and `backward` exponentials are taken by numpy, which takes several at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from understudy.lexical.rows import Ints, Reals
from understudy.libraries import import_library

__all__ = ["backward", "forward", "told_apart"]

numba = import_library("numba")

Letters = NDArray[np.int32]


def _forward(starts: Ints, columns: Ints, values: Reals, weights: Reals, scores: Reals) -> None:
    """Fills in each row's score for each class, less the highest of the row.

    Weights have a line for each feature, the intercept's last, and a column for each class.
    """
    classes = weights.shape[1]
    intercept = weights.shape[0] - 1
    found = np.empty(classes)
    for row in range(len(starts) - 1):
        for k in range(classes):
            found[k] = weights[intercept, k]
        for place in range(starts[row], starts[row + 1]):
            value, column = values[place], columns[place]
            for k in range(classes):
                found[k] += value * weights[column, k]
        highest = found[0]
        for k in range(1, classes):
            highest = max(highest, found[k])
        for k in range(classes):
            scores[row, k] = found[k] - highest


def _backward(
    starts: Ints, columns: Ints, values: Reals, labels: Ints, counts: Reals, scores: Reals, chances: Reals,
    gradient: Reals,
) -> float:  # fmt: skip
    """The loss, each row counting as much as `counts` says; adds its gradient to `gradient`, which lies as weights do.

    `chances` are the exponentials of the scores.
    """
    classes = scores.shape[1]
    intercept = gradient.shape[0] - 1
    found = np.empty(classes)
    loss = 0.0
    for row in range(len(starts) - 1):
        own, total = labels[row], 0.0
        for k in range(classes):
            total += chances[row, k]
        loss += counts[row] * (np.log(total) - scores[row, own])
        share = counts[row] / total
        for k in range(classes):
            found[k] = share * chances[row, k]
        found[own] -= counts[row]
        for k in range(classes):
            gradient[intercept, k] += found[k]
        for place in range(starts[row], starts[row + 1]):
            value, column = values[place], columns[place]
            for k in range(classes):
                gradient[column, k] += value * found[k]
    return loss


def _told_apart(letters: Letters, begins: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Where each different word first comes up, and for each word which of them it is, by a table of their hashes."""
    size = 2
    while size < 2 * len(begins):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    firsts, numbers = np.empty(len(begins), dtype=np.int64), np.empty(len(begins), dtype=np.int64)
    different = 0
    for place in range(len(begins)):
        begin, length = begins[place], lengths[place]
        key = length
        for at in range(begin, begin + length):
            key = key * 1000003 + letters[at]
        slot = (key ^ (key >> 20)) & (size - 1)
        while True:
            number = table[slot]
            if number < 0:
                table[slot], firsts[different] = different, place
                number = different
                different += 1
                break
            first = firsts[number]
            same = lengths[first] == length
            nth = 0
            while same and nth < length:
                same = letters[begins[first] + nth] == letters[begin + nth]
                nth += 1
            if same:
                break
            slot = (slot + 1) & (size - 1)
        numbers[place] = number
    return firsts[:different], numbers


told_apart: Callable[[Letters, Ints, Ints], tuple[Ints, Ints]] = numba.njit(cache=True)(_told_apart)
forward: Callable[..., None] = numba.njit(cache=True)(_forward)
backward: Callable[..., float] = numba.njit(cache=True)(_backward)
