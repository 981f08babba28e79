"""One person behind each mask, nobody behind two; weights of clues learned from whole scenes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy.guessing import assignment
from understudy.guessing.assignment import SceneClues, best_assignment, fit_weights, marginals
from understudy.language.lexical.rows import Reals

SHAPES = st.integers(1, 4).flatmap(lambda masks: st.tuples(st.just(masks), st.integers(masks, 5)))
SCORES = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(-6, 6)))


@given(SCORES)
def test_marginals_are_what_counting_all_ways_gives(scores: Reals) -> None:
    masks, candidates = scores.shape
    expected, total = np.zeros(scores.shape), 0.0
    for way in permutations(range(candidates), masks):
        weight = np.exp(sum(scores[mask, way[mask]] for mask in range(masks)))
        total += weight
        for mask in range(masks):
            expected[mask, way[mask]] += weight
    assert marginals(scores) == pytest.approx(expected / total)


def test_what_one_mask_surely_is_the_others_are_not() -> None:
    scores = np.array([[9.0, 0.0, 0.0], [1.0, 0.9, 0.0], [1.0, 0.0, 0.5]])
    assert best_assignment(scores).tolist() == [0, 1, 2]
    assert marginals(scores)[1, 0] < 0.01


@pytest.fixture
def nothing_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignment, "LISTED", 0)


@pytest.mark.usefixtures("nothing_listed")
@pytest.mark.parametrize("seed", range(30))
def test_a_crowd_gets_the_best_assignment_as_listing_finds_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    masks = int(rng.integers(1, 6))
    candidates = int(rng.integers(masks, 7))
    scores = rng.normal(size=(masks, candidates))
    best = max(sum(scores[mask, way[mask]] for mask in range(masks)) for way in permutations(range(candidates), masks))
    results = best_assignment(scores)
    assert len(set(results.tolist())) == masks
    assert scores[np.arange(masks), results].sum() == pytest.approx(best)


def test_a_crowd_of_two_hundred_has_probabilities_and_everybody_a_place() -> None:
    rng = np.random.default_rng(1)
    truth = rng.permutation(200)
    scores = rng.normal(size=(200, 200))
    scores[np.arange(200), truth] += 12
    results = marginals(scores)
    assert results.sum(axis=1) == pytest.approx(np.ones(200))
    assert results.sum(axis=0) == pytest.approx(np.ones(200), abs=0.01)
    assert (results.argmax(axis=1) == truth).all()
    assert (best_assignment(scores) == truth).all()


def test_more_masks_than_candidates_cannot_be() -> None:
    with pytest.raises(ValueError, match="3 masks, but only 2 candidates"):
        marginals(np.zeros((3, 2)))


def test_nobody_masked_is_nobody_placed() -> None:
    assert marginals(np.zeros((0, 3))).shape == (0, 3)


def drawn(rng: np.random.Generator, masks: int, weights: np.ndarray) -> SceneClues:
    """A scene whose right assignment is drawn by how the clues are weighed."""
    table = rng.normal(size=(masks, masks, len(weights)))
    noise = rng.gumbel(size=(masks, masks)) * 0.3
    return SceneClues(table, best_assignment(table @ weights + noise))


def test_clues_that_tell_weigh_and_those_that_mislead_weigh_against() -> None:
    rng = np.random.default_rng(0)
    true = np.array([2.0, 0.0, -1.0])
    scenes = [drawn(rng, masks, true) for masks in (2, 3, 4) for _ in range(200)]
    results = fit_weights(scenes, np.zeros(3), regularisation=0.1)
    assert results[0] > 1.5
    assert results[0] / results[2] == pytest.approx(-2, rel=0.2)
    assert abs(results[1]) < 0.25
    fresh = [drawn(rng, 3, true) for _ in range(200)]
    right = [np.mean(best_assignment(scene.table @ results) == scene.answers) for scene in fresh]
    assert np.mean(right) > 0.85


def test_without_scenes_a_clue_counts_as_it_usually_does() -> None:
    begin = np.array([0.5, -2.0])
    assert fit_weights([], begin) == pytest.approx(begin)
    item = [drawn(np.random.default_rng(1), 2, begin)]
    assert fit_weights(item, begin, regularisation=1000.0) == pytest.approx(begin, abs=0.01)


def test_the_order_of_candidates_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    scenes = [drawn(rng, 3, np.array([1.0, 1.0])) for _ in range(30)]
    permuted = [SceneClues(scene.table[:, [2, 0, 1]], np.array([1, 2, 0])[scene.answers]) for scene in scenes]
    assert fit_weights(permuted, np.zeros(2)) == pytest.approx(fit_weights(scenes, np.zeros(2)), abs=1e-6)
