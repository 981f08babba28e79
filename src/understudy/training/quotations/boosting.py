"""Gradient boosting with a softmax over the candidates of each quotation.

    loss = - sum over quotations of ln P(speaker)             P as `quotations.forest` has it
    g_c  = y_c - P(c),  h_c = P(c) (1 - P(c))                 gradient and curvature of a candidate's score
    gain of a split = G_l^2 / (H_l + l2) + G_r^2 / (H_r + l2) - G^2 / (H + l2)
    value of a leaf = rate * G / (H + l2)

Evidence is cut into bins at its quantiles. Each tree sees a share of the quotations and of the columns. Histograms of
the smaller child are counted, the other's are the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import MissingExtra
from understudy.libraries import import_library
from understudy.quotations.forest import Forest, softmax_of_groups

__all__ = ["BoostingSettings", "bin_edges", "encode_bins", "fit_forest"]

NEGLIGIBLE = 0.003  # curvature of a candidate who is ruled out: such rows rest until they come back
WARM_UP = 15  # trees that see all rows

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BoostingSettings:
    """`rows` and `columns` are the shares of quotations and of columns that a tree sees."""

    trees: int = 100
    depth: int = 5
    rate: float = 0.12
    l2: float = 20.0
    least: float = 10.0
    rows: float = 0.4
    columns: float = 0.35
    bins: int = 48
    rate_decay: float = 0.5


def bin_edges(evidence: Floats, count: int) -> list[Floats]:
    """Where to cut each column into at most so many bins."""
    return [_edges(evidence[:, column], count) for column in range(evidence.shape[1])]


def encode_bins(edges: list[Floats], evidence: Floats) -> NDArray[np.uint8]:
    """The bin of each value: the first whose edge is not below it."""
    codes = np.empty(evidence.shape, np.uint8)
    for column, cuts in enumerate(edges):
        codes[:, column] = np.searchsorted(cuts, evidence[:, column], side="left")
    return codes


def _edges(values: Floats, count: int) -> Floats:
    """Cuts between values: between all of them where they are few, else at quantiles."""
    distinct = np.unique(values)
    if len(distinct) > count:
        distinct = np.unique(np.quantile(values, np.linspace(0, 1, count + 1)).astype(np.float32))
    return ((distinct[1:] + distinct[:-1]) / 2).astype(np.float32)


def fit_forest(
    codes: NDArray[np.uint8],
    edges: list[Floats],
    gold: Floats,
    starts: Ints,
    groups: Ints,
    settings: BoostingSettings,
    seed: int = 0,
    progress: Callable[[int, int, float], None] | None = None,
) -> Forest:
    """Learn from rows of evidence (as bins), of which `gold` marks the speakers; groups without one teach nothing."""
    grow = _compiled()
    rng = np.random.default_rng(seed)
    taught = np.add.reduceat(gold, starts) > 0
    scores = np.zeros(len(gold), np.float32)
    inner, leaves = 2**settings.depth - 1, 2**settings.depth
    features = np.zeros((settings.trees, inner), np.int32)
    thresholds = np.full((settings.trees, inner), np.inf, np.float32)
    values = np.zeros((settings.trees, leaves), np.float32)
    width = codes.shape[1]
    for tree in range(settings.trees):
        probabilities = softmax_of_groups(scores, starts, groups)
        gradient = (gold - probabilities).astype(np.float32)
        curvature = (probabilities * (1 - probabilities)).astype(np.float32)
        drawn = (rng.random(len(starts)) < settings.rows) & taught
        is_open = curvature > NEGLIGIBLE if tree >= WARM_UP else np.ones(len(gold), np.bool_)
        rows = np.flatnonzero(drawn[groups] & is_open)
        columns = np.sort(rng.choice(width, max(1, round(settings.columns * width)), replace=False))
        rate = settings.rate * (1 - settings.rate_decay * tree / settings.trees)
        split, cut, value, leaf = grow(
            codes, rows, columns, gradient, curvature, settings.depth, settings.bins + 1, settings.l2, settings.least
        )
        features[tree] = split
        for node in np.flatnonzero(cut >= 0).tolist():
            thresholds[tree, node] = edges[split[node]][cut[node]]
        values[tree] = rate * value
        scores += values[tree][leaf]
        if progress is not None:
            loss = -float(np.log(np.maximum(probabilities[gold > 0], 1e-9)).mean()) if gold.any() else 0.0
            progress(tree + 1, settings.trees, loss)
    return Forest(features, thresholds, values)


@cache
def _compiled() -> Any:
    try:
        numba = import_library("numba")
    except ImportError as error:
        raise MissingExtra("training the quotations model", "fast") from error
    count = numba.njit(cache=True)(_count)

    def grow(codes, rows, columns, gradient, curvature, depth, bins, l2, least):  # type: ignore[no-untyped-def]
        inner = 2**depth - 1
        split = np.zeros(inner, np.int32)
        cut = np.full(inner, -1, np.int32)
        value = np.zeros(2**depth, np.float32)
        order = rows.copy()
        bounds = np.zeros((2 * inner + 1, 2), np.int64)
        bounds[0, 1] = len(order)
        histograms = {0: np.zeros((len(columns), bins, 2), np.float64)}
        if len(order):
            count(codes, order, 0, len(order), columns, gradient, curvature, histograms[0])
        for node in range(inner):
            low, high = bounds[node]
            left, right = 2 * node + 1, 2 * node + 2
            histogram = histograms.pop(node, None)
            best = _best_split(histogram, l2, least) if histogram is not None else None
            if best is None:
                bounds[left], bounds[right] = (low, high), (high, high)
                continue
            column, place = best
            split[node], cut[node] = columns[column], place
            inside = order[low:high]
            goes_right = codes[inside, columns[column]] > place
            middle = low + int((~goes_right).sum())
            order[low:high] = np.concatenate([inside[~goes_right], inside[goes_right]])
            bounds[left], bounds[right] = (low, middle), (middle, high)
            if left < inner:
                small, large = (left, right) if middle - low <= high - middle else (right, left)
                fresh = np.zeros_like(histogram)
                count(codes, order, bounds[small, 0], bounds[small, 1], columns, gradient, curvature, fresh)
                histograms[small], histograms[large] = fresh, histogram - fresh
        for leaf in range(2**depth):
            low, high = bounds[inner + leaf]
            inside = order[low:high]
            value[leaf] = gradient[inside].sum(dtype=np.float64) / (curvature[inside].sum(dtype=np.float64) + l2)
        return split, cut, value, route(codes, split, cut, depth)

    route = numba.njit(cache=True)(_route)
    return grow


def _best_split(histogram: NDArray[np.float64], l2: float, least: float) -> tuple[int, int] | None:
    """(column, bin) of the largest gain, if one is above zero."""
    sums = np.cumsum(histogram, axis=1)
    gradient, curvature = sums[..., 0], sums[..., 1]
    all_gradient, all_curvature = gradient[:, -1:], curvature[:, -1:]
    right_gradient, right_curvature = all_gradient - gradient, all_curvature - curvature
    gain = gradient**2 / (curvature + l2) + right_gradient**2 / (right_curvature + l2)
    gain -= all_gradient**2 / (all_curvature + l2)
    gain[(curvature < least) | (right_curvature < least)] = -1.0
    at = int(gain.argmax())
    column, place = divmod(at, gain.shape[1])
    return (column, place) if gain[column, place] > 1e-6 else None


def _count(codes, order, low, high, columns, gradient, curvature, histogram):  # type: ignore[no-untyped-def]
    for at in range(low, high):
        row = order[at]
        g, h = gradient[row], curvature[row]
        for column in range(len(columns)):
            code = codes[row, columns[column]]
            histogram[column, code, 0] += g
            histogram[column, code, 1] += h


def _route(codes, split, cut, depth):  # type: ignore[no-untyped-def]
    inner = len(split)
    leaves = np.empty(len(codes), np.int64)
    for row in range(len(codes)):
        node = 0
        for _ in range(depth):
            node = 2 * node + 1 + (cut[node] >= 0 and codes[row, split[node]] > cut[node])
        leaves[row] = node - inner
    return leaves
