"""Sparse matrices in CSR layout: for each row (a text), the columns (terms) that are not zero, and their values.

The arrays of `scipy.sparse.csr_array` under plain names, always 64-bit: keys of pairs such as row * width + column
would overflow scipy's 32-bit indices. Products and transposes are scipy's, which is imported for the first of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Row i holds `values[starts[i]:starts[i + 1]]` in the columns at the same indices; columns rise within a row."""

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

    def filter_values(self, mask: NDArray[np.bool_]) -> SparseRows:
        """All rows, with only the values that the mask keeps."""
        before = np.concatenate(([0], np.cumsum(mask)))
        return SparseRows(before[self.starts], self.columns[mask], self.values[mask], self.width)

    def take(self, rows: Ints) -> SparseRows:
        """Some of the rows, in the order given."""
        first, lengths = self.starts[rows], np.diff(self.starts)[rows]
        indices = index_ranges(first, lengths)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        return SparseRows(starts, self.columns[indices], self.values[indices], self.width)

    def normalized(self) -> SparseRows:
        """The rows divided by their Euclidean length; an empty row stays empty."""
        lengths = np.sqrt(segment_sums(self.values**2, self.starts))
        lengths[lengths == 0] = 1
        return SparseRows(self.starts, self.columns, self.values / lengths[self.owners], self.width)

    def transpose(self) -> SparseRows:
        columns = self.to_scipy().T.tocsr()
        columns.sort_indices()
        return SparseRows(columns.indptr.astype(np.int64), columns.indices.astype(np.int64), columns.data, len(self))

    def product(self, matrix: Reals) -> Reals:
        """SparseRows @ matrix.T: a row for each of these rows, a column for each row of `matrix`."""
        if len(self.values) < self.width:  # of a few rows, copy only those columns of the matrix that they have
            columns = np.arange(len(self.columns))
            rows, matrix = SparseRows(self.starts, columns, self.values, len(columns)), matrix[:, self.columns]
        else:
            rows = self
        result: Reals = rows.to_scipy() @ np.ascontiguousarray(matrix.T)
        return result

    def to_scipy(self) -> Any:
        """The same matrix as a `scipy.sparse.csr_array`; values are shared, indices as narrow as scipy likes them."""
        from scipy.sparse import csr_array

        return csr_array((self.values, self.columns, self.starts), shape=(len(self), self.width))


def segment_sums(values: Reals, starts: Ints) -> Reals:
    """The sum of each segment `values[starts[i]:starts[i + 1]]`; of an empty one, 0."""
    totals = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        totals[filled] = np.add.reduceat(values, starts[filled])
    return totals


def index_ranges(first: Ints, lengths: Ints) -> Ints:
    """The indices of all segments `first[i] .. first[i] + lengths[i]`, one segment after another."""
    total = int(lengths.sum())
    ends = np.cumsum(lengths)
    return np.arange(total) + np.repeat(first - ends + lengths, lengths)


def sorted_unique(values: Ints) -> Ints:
    """The different values, ascending. (numpy's `unique` hashes before it sorts, which takes ten times as long.)"""
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]


def probability(weights: Iterable[float], features: Iterable[float], intercept: float) -> float:
    """Of a single row of few features, the same to the last digit on every machine."""
    score = intercept + math.fsum(weight * value for weight, value in zip(weights, features, strict=True))
    return 1 / (1 + math.exp(-score))


def softmax(scores: Reals) -> Reals:
    """exp(x) / sum of exp(x) along the last axis, without overflow."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Reals = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def sigmoid(values: Reals) -> Reals:
    """1 / (1 + exp(-x)), without overflow."""
    result: Reals = 0.5 * (1 + np.tanh(values / 2))
    return result
