"""MAUVE: how near two sets of texts are as distributions (Pillutla et al. 2021), written from its definition.

    features    a vector for each text, by any encoder; both sets together reduced to the principal components that
                hold 90% of their variance
    P, Q        histograms of the two sets over the k clusters of k-means of both together,
                k = round(min(|P|, |Q|) / 10), at least 2 and at most 500; the best of 5 starts
    frontier    {(exp(-c KL(Q | R)), exp(-c KL(P | R))) : R = l P + (1 - l) Q, 0 < l < 1},  c = 5
    MAUVE       the area under the frontier and its ends, (0, 1) and (1, 0)

It is 1 where P = Q, and where they share no cluster c B(c + 1, c) = .004: then KL(P | R) = -ln l, and the frontier is
((1 - l)^c, l^c). P and Q are the shares counted, nothing is smoothed. Both sets are put into one order before anything
is computed, so that neither the order of texts nor which set is named first matters. The paper's features are
GPT-2 large's; with another encoder figures are not the paper's, and compare only with each other. Of few texts it says
little: two samples of 100 texts of one distribution are further apart than two of 5,000.

    deltaM      = MAUVE(positives, replies) - MAUVE(negatives, replies)

The value is the mean over seeds of k-means, with the smallest and the largest as its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.language.encoding.encoder import shared_encoder
from understudy.language.lexical.rows import Ints, Reals
from understudy.metrics.statistics import Interval

Encode = Callable[[Sequence[str]], NDArray[Any]]
"""Texts to a matrix with a row of features for each."""

SCALING = 5.0
VARIANCE = 0.9
TEXTS_PER_CLUSTER = 10
CLUSTERS = (2, 500)
STARTS = 5
ITERATIONS = 100
POINTS = 1000  # of the frontier
SEEDS = 5


def mauve(
    ours: Sequence[str], theirs: Sequence[str], encode: Encode | None = None, seed: int = 0, seeds: int = SEEDS
) -> Interval:
    """MAUVE of two sets of texts; `encode` is the shipped sentence encoder by default."""
    vectors = _features(ours, encode), _features(theirs, encode)
    return _over_seeds([mauve_of_features(*vectors, seed=seed + number) for number in range(seeds)])


def delta_m(
    positives: Sequence[str],
    negatives: Sequence[str],
    replies: Sequence[str],
    encode: Encode | None = None,
    seed: int = 0,
    seeds: int = SEEDS,
) -> Interval:
    """deltaM of a set of replies: above 0 they are more like the positives than like the negatives."""
    right, wrong, said = (_features(texts, encode) for texts in (positives, negatives, replies))
    numbers = range(seed, seed + seeds)
    return _over_seeds([mauve_of_features(right, said, at) - mauve_of_features(wrong, said, at) for at in numbers])


def mauve_of_features(ours: ArrayLike, theirs: ArrayLike, seed: int = 0) -> float:
    """MAUVE of two sets of texts by their features, a row each."""
    first, second = (np.asarray(features, dtype=np.float64) for features in (ours, theirs))
    if not len(first) or not len(second):
        raise ValueError("a set without texts has no distribution")
    both = np.concatenate([first, second])
    is_ours = np.arange(len(both)) < len(first)
    order = np.lexsort(both.T)
    low, high = CLUSTERS
    count = min(max(low, round(min(len(first), len(second)) / TEXTS_PER_CLUSTER)), high)
    clusters = _k_means(_principal_components(both[order]), count, np.random.default_rng(seed))
    p, q = (np.bincount(clusters[side[order]], minlength=count) / side.sum() for side in (is_ours, ~is_ours))
    return frontier_area(p, q)


def frontier_area(p: ArrayLike, q: ArrayLike, scaling: float = SCALING, points: int = POINTS) -> float:
    """The area under the divergence frontier of two histograms, its ends joined to (0, 1) and (1, 0)."""
    x, y = divergence_frontier(p, q, scaling, points)
    across, up = np.concatenate(([0.0], x, [1.0])), np.concatenate(([1.0], y, [0.0]))
    return float((np.diff(across) * (up[1:] + up[:-1])).sum() / 2)


def divergence_frontier(
    p: ArrayLike, q: ArrayLike, scaling: float = SCALING, points: int = POINTS
) -> tuple[Reals, Reals]:
    """exp(-c KL(Q | R)) and exp(-c KL(P | R)) for mixtures R from P, where the first is smallest, to Q."""
    ours, theirs = (np.asarray(shares, dtype=np.float64) for shares in (p, q))
    weights = (np.arange(points, 0, -1) - 0.5)[:, None] / points  # symmetric about 1/2
    mixtures = weights * ours + (1 - weights) * theirs
    return np.exp(-scaling * _divergence(theirs, mixtures)), np.exp(-scaling * _divergence(ours, mixtures))


def _divergence(shares: Reals, mixtures: Reals) -> Reals:
    """KL(shares | mixture) for each mixture; what has no share adds nothing."""
    there = shares > 0
    divergence = (shares[there] * np.log(shares[there] / mixtures[:, there])).sum(axis=1)
    not_below: Reals = np.maximum(divergence, 0.0)  # as rounding may leave it
    return not_below


def _features(texts: Sequence[str], encode: Encode | None) -> Reals:
    encode = encode or shared_encoder().encode
    return np.asarray(encode(texts), dtype=np.float64)


def _over_seeds(values: Sequence[float]) -> Interval:
    return Interval(float(np.mean(values)), min(values), max(values))


def _principal_components(vectors: Reals) -> Reals:
    """The vectors by as many principal components as hold the wanted share of the variance."""
    centred = vectors - vectors.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    variances, directions = np.maximum(variances[::-1], 0.0), directions[:, ::-1]
    if not variances.sum():
        return vectors[:, :1]
    size = int(np.searchsorted(np.cumsum(variances) / variances.sum(), VARIANCE)) + 1
    components: Reals = centred @ directions[:, :size]
    return components


def _k_means(points: Reals, count: int, rng: np.random.Generator) -> Ints:
    """The cluster of each point, by Lloyd's algorithm from random points: the closest fit of several starts."""
    best, least = np.zeros(len(points), dtype=np.int64), np.inf
    distinct = np.unique(points, axis=0)
    for _ in range(STARTS):
        centres = distinct[rng.choice(len(distinct), min(count, len(distinct)), replace=False)]
        clusters, error = _lloyd(points, centres)
        if error < least:
            best, least = clusters, error
    return best


def _lloyd(points: Reals, centres: Reals) -> tuple[Ints, float]:
    """Clusters and their summed squared distances; a cluster that loses all its points stays where it is."""
    from scipy.sparse import csr_array

    lengths = (points**2).sum(axis=1)
    every, rows = np.ones(len(points)), np.arange(len(points) + 1)
    clusters = np.full(len(points), -1, dtype=np.int64)
    error = np.inf
    for _ in range(ITERATIONS):
        distances = (centres**2).sum(axis=1) - 2 * points @ centres.T
        nearest = distances.argmin(axis=1)
        error = float((distances[np.arange(len(points)), nearest] + lengths).sum())
        if (nearest == clusters).all():
            break
        clusters = nearest
        sizes = np.bincount(clusters, minlength=len(centres))
        sums = csr_array((every, clusters, rows), (len(points), len(centres))).T @ points
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return clusters, error
