"""Gradient boosting with a softmax over the candidates of each quotation.

    loss = - sum over quotations of ln P(speaker)             P as `novels.attribution` has it
    g_c  = y_c - P(c),  h_c = P(c) (1 - P(c))                 gradient and curvature of a candidate's score
    gain of a split = G_l^2 / (H_l + l2) + G_r^2 / (H_r + l2) - G^2 / (H + l2)
    value of a leaf = rate * G / (H + l2)

Evidence is cut into bins at its quantiles. Each tree sees a share of the quotations and of the columns. Histograms of
the smaller child are counted, the other's are the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import MissingExtra
from understudy.language import import_library
from understudy.novels.attribution import Forest, softmax_of_groups

NEGLIGIBLE = 0.003  # curvature of a candidate who is ruled out: such rows rest until they come back
WARM_UP = 15  # trees that see all rows

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BoostingSettings:
    """`rows` and `columns` are the shares of quotations and of columns that a tree sees."""

    trees: int = 190
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
) -> Forest:
    """Learn from rows of evidence (as bins), of which `gold` marks the speakers; groups without one teach nothing."""
    grow, route = _compiled()
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
        split, cut, value = grow(
            codes, rows, columns, gradient, curvature, settings.depth, settings.bins + 1, settings.l2, settings.least
        )
        features[tree] = columns[split]
        for node in np.flatnonzero(cut >= 0).tolist():
            thresholds[tree, node] = edges[features[tree, node]][cut[node]]
        values[tree] = rate * value
        route(codes, features[tree], cut, settings.depth, values[tree], scores)
    return Forest(features, thresholds, values)


@cache
def _compiled() -> tuple[Any, Any]:
    try:
        numba = import_library("numba")
    except ImportError as error:
        raise MissingExtra("training the quotations model", "fast") from error
    return numba.njit(cache=True)(_grow), numba.njit(cache=True)(_route)


def _grow(evidence, rows, columns, gradients, curvatures, depth, bins, l2, least):  # type: ignore[no-untyped-def]
    """(column and bin of each node's split, -1 where there is none; value of each leaf) of one tree."""
    count, width = len(rows), len(columns)
    inner = 2**depth - 1
    codes = np.empty((count, width), evidence.dtype)
    gradient, curvature = np.empty(count, gradients.dtype), np.empty(count, curvatures.dtype)
    for row in range(count):
        gradient[row], curvature[row] = gradients[rows[row]], curvatures[rows[row]]
        for column in range(width):
            codes[row, column] = evidence[rows[row], columns[column]]
    split, cut = np.zeros(inner, np.int32), np.full(inner, -1, np.int32)
    value = np.zeros(inner + 1, np.float32)
    order, spare = np.arange(count), np.empty(count, np.int64)
    bounds = np.zeros((2 * inner + 1, 2), np.int64)
    bounds[0, 1] = count
    histograms = np.zeros((inner, width, bins, 2), np.float64)
    is_split = np.zeros(2 * inner + 1, np.bool_)  # of what a node comes from: else its histogram is not counted
    is_split[0] = True
    for row in range(count):
        for column in range(width):
            histograms[0, column, codes[row, column], 0] += gradient[row]
            histograms[0, column, codes[row, column], 1] += curvature[row]
    for node in range(inner):
        low, high = bounds[node]
        left, right = 2 * node + 1, 2 * node + 2
        best = 1e-6
        if is_split[node]:
            for column in range(width):
                g = h = 0.0
                for code in range(bins):
                    g += histograms[node, column, code, 0]
                    h += histograms[node, column, code, 1]
                at_once = g * g / (h + l2)
                left_g = left_h = 0.0
                for code in range(bins):
                    left_g += histograms[node, column, code, 0]
                    left_h += histograms[node, column, code, 1]
                    if left_h < least or h - left_h < least:
                        continue
                    gain = left_g**2 / (left_h + l2) + (g - left_g) ** 2 / (h - left_h + l2) - at_once
                    if gain > best:
                        best, split[node], cut[node] = gain, column, code
        if cut[node] < 0:
            bounds[left], bounds[right] = (low, high), (high, high)
            continue
        middle, last = low, 0
        for at in range(low, high):
            row = order[at]
            if codes[row, split[node]] > cut[node]:
                spare[last] = row
                last += 1
            else:
                order[middle] = row
                middle += 1
        for at in range(last):
            order[middle + at] = spare[at]
        bounds[left], bounds[right] = (low, middle), (middle, high)
        if left < inner:
            is_split[left] = is_split[right] = True
            small, large = (left, right) if middle - low <= high - middle else (right, left)
            for at in range(bounds[small, 0], bounds[small, 1]):
                row = order[at]
                for column in range(width):
                    histograms[small, column, codes[row, column], 0] += gradient[row]
                    histograms[small, column, codes[row, column], 1] += curvature[row]
            for column in range(width):
                for code in range(bins):
                    for part in range(2):
                        histograms[large, column, code, part] = (
                            histograms[node, column, code, part] - histograms[small, column, code, part]
                        )
    for leaf in range(inner + 1):
        low, high = bounds[inner + leaf]
        g = h = 0.0
        for at in range(low, high):
            g += gradient[order[at]]
            h += curvature[order[at]]
        value[leaf] = g / (h + l2)
    return split, cut, value


def _route(codes, split, cut, depth, value, scores):  # type: ignore[no-untyped-def]
    """Adds to each row's score the value of the leaf that it falls into."""
    inner = len(split)
    for row in range(len(codes)):
        node = 0
        for _ in range(depth):
            node = 2 * node + 1 + (cut[node] >= 0 and codes[row, split[node]] > cut[node])
        scores[row] += value[node - inner]
