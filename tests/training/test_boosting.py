from __future__ import annotations

import numpy as np

from understudy.novels.attribution import softmax_of_groups
from understudy.training.boosting import BoostingSettings, bin_edges, encode_bins, fit_forest


def choices(count: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each group the row with the largest product of its first two columns is right: no single column tells."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(size=(count * width, 5)).astype(np.float32)
    value = (evidence[:, 0] * evidence[:, 1]).reshape(count, width)
    gold = (value == value.max(1, keepdims=True)).astype(np.float32).ravel()
    return evidence, gold, np.arange(count) * width, np.repeat(np.arange(count), width)


def test_trees_learn_what_no_single_column_tells() -> None:
    evidence, gold, starts, groups = choices(800, 4, 0)
    edges = bin_edges(evidence, 24)
    settings = BoostingSettings(trees=60, depth=4, rate=0.3, l2=1, least=1, rows=0.8, columns=0.8, bins=24)
    forest = fit_forest(encode_bins(edges, evidence), edges, gold, starts, groups, settings)
    unseen, right, starts, groups = choices(300, 4, 1)
    shares = softmax_of_groups(forest.scores(unseen), starts, groups)
    assert (shares.reshape(-1, 4).argmax(1) == right.reshape(-1, 4).argmax(1)).mean() > 0.8


def test_scores_are_the_same_from_values_as_from_bins() -> None:
    """A value is at most an edge exactly if its bin is at most that edge's."""
    evidence = np.array([[0.0], [1.0], [1.0], [2.0], [5.0]], np.float32)
    edges = bin_edges(evidence, 8)
    codes = encode_bins(edges, evidence)[:, 0]
    for cut, edge in enumerate(edges[0].tolist()):
        assert ((evidence[:, 0] <= edge) == (codes <= cut)).all()


def test_the_same_seed_gives_the_same_trees() -> None:
    evidence, gold, starts, groups = choices(100, 3, 0)
    edges = bin_edges(evidence, 16)
    settings = BoostingSettings(trees=5, depth=3, l2=1, least=1, bins=16)
    one, two = (fit_forest(encode_bins(edges, evidence), edges, gold, starts, groups, settings, 7) for _ in range(2))
    assert (one.features == two.features).all() and (one.values == two.values).all()
