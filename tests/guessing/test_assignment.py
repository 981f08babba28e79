"""One person behind each mask, nobody behind two."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy.guessing import assignment
from understudy.guessing.assignment import best_assignment, marginals
from understudy.lexical.rows import Reals

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
    found = best_assignment(scores)
    assert len(set(found.tolist())) == masks
    assert scores[np.arange(masks), found].sum() == pytest.approx(best)


def test_a_crowd_of_two_hundred_has_probabilities_and_everybody_a_place() -> None:
    rng = np.random.default_rng(1)
    truth = rng.permutation(200)
    scores = rng.normal(size=(200, 200))
    scores[np.arange(200), truth] += 12
    found = marginals(scores)
    assert found.sum(axis=1) == pytest.approx(np.ones(200))
    assert found.sum(axis=0) == pytest.approx(np.ones(200), abs=0.01)
    assert (found.argmax(axis=1) == truth).all()
    assert (best_assignment(scores) == truth).all()


def test_more_masks_than_candidates_cannot_be() -> None:
    with pytest.raises(ValueError, match="3 masks, but only 2 candidates"):
        marginals(np.zeros((3, 2)))


def test_nobody_masked_is_nobody_placed() -> None:
    assert marginals(np.zeros((0, 3))).shape == (0, 3)
