"""Sparse rows: for each text, the few columns that are not nothing. What scipy's csr_matrix is, as far as needed here.

With the optional part `fast` (numba) the same sums are made by compiled loops; see `understudy.lexical.fast`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "Reals", "Rows", "distinct", "ranges", "sums"]

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Row i holds `values[starts[i]:starts[i + 1]]` in the columns of the same places; columns rise within a row."""

    starts: Ints
    columns: Ints
    values: Reals
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def owners(self) -> Ints:
        """The row of every value."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def kept(self, places: NDArray[np.bool_]) -> Rows:
        """The rows with some of their values only."""
        before = np.concatenate(([0], np.cumsum(places)))
        return Rows(before[self.starts], self.columns[places], self.values[places], self.width)

    def some(self, rows: Ints) -> Rows:
        """Some of the rows, in the order given."""
        first, lengths = self.starts[rows], np.diff(self.starts)[rows]
        places = ranges(first, lengths)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        return Rows(starts, self.columns[places], self.values[places], self.width)

    def unit(self) -> Rows:
        """The rows brought to length 1; one of nothing but zeros stays as it is."""
        lengths = np.sqrt(sums(self.values**2, self.starts))
        lengths[lengths == 0] = 1
        return Rows(self.starts, self.columns, self.values / lengths[self.owners], self.width)

    def turned(self) -> Rows:
        """Columns become rows."""
        owners = self.owners
        order = np.argsort(self.columns * max(len(self), 1) + owners)  # no two are equal, so it need not be stable
        starts = np.concatenate(([0], np.cumsum(np.bincount(self.columns, minlength=self.width))))
        return Rows(starts, owners[order], self.values[order], len(self))

    def times(self, matrix: Reals) -> Reals:
        """Rows @ matrix.T: `matrix` has a line for each result, because lines that lie together are summed fastest."""
        return np.stack([sums(self.values * one[self.columns], self.starts) for one in matrix])


def sums(values: Reals, starts: Ints) -> Reals:
    """The sum of each stretch of values; of an empty one, 0."""
    found = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        found[filled] = np.add.reduceat(values, starts[filled])
    return found


def ranges(first: Ints, lengths: Ints) -> Ints:
    """All places of stretches that begin at `first`, one after another."""
    total = int(lengths.sum())
    ends = np.cumsum(lengths)
    return np.arange(total) + np.repeat(first - ends + lengths, lengths)


def distinct(values: Ints) -> Ints:
    """The different values, rising. (numpy's `unique` hashes before it sorts, which takes ten times as long.)"""
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]
