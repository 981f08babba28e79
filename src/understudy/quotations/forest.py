"""Gradient-boosted trees that score the candidates of a quotation.

    z_c  = sum over trees t of  v_t[leaf_t(x_c)]           x_c the evidence for candidate c
    P(c) = exp(z_c) / sum over candidates d of exp(z_d)

Trees are complete, of one depth: node i asks whether x[feature_i] <= threshold_i and goes on with node 2i + 1 or
2i + 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Forest", "softmax_of_groups"]

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
ROWS_AT_ONCE = 8192  # so that what is worked on stays in the processor's cache


@dataclass(frozen=True, slots=True)
class Forest:
    """Arrays of trees by nodes, and of trees by leaves."""

    features: NDArray[np.int32]
    thresholds: Floats
    values: Floats

    @property
    def depth(self) -> int:
        return int(self.values.shape[1]).bit_length() - 1

    def scores(self, evidence: Floats) -> Floats:
        """A score for each row of evidence."""
        result = np.zeros(len(evidence), np.float32)
        inner = self.features.shape[1]
        for begin in range(0, len(evidence), ROWS_AT_ONCE):
            rows = np.ascontiguousarray(evidence[begin : begin + ROWS_AT_ONCE].T)
            flat, count = rows.ravel(), rows.shape[1]
            position = np.arange(count)
            total = np.zeros(count, np.float32)
            for features, thresholds, values in zip(
                self.features.astype(np.int64) * count, self.thresholds, self.values
            ):
                node = np.zeros(count, np.int64)
                for _ in range(self.depth):
                    right = flat[features[node] + position] > thresholds[node]
                    node = 2 * node + 1 + right
                total += values[node - inner]
            result[begin : begin + ROWS_AT_ONCE] = total
        return result


def softmax_of_groups(scores: Floats, starts: Ints, groups: Ints) -> Floats:
    """Probabilities within each group of rows; `starts` are the first rows of groups, `groups` each row's group."""
    if not len(scores):
        return scores
    powers = np.exp(scores - np.maximum.reduceat(scores, starts)[groups])
    result: Floats = (powers / np.add.reduceat(powers, starts)[groups]).astype(np.float32)
    return result
