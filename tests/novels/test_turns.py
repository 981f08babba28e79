from __future__ import annotations

import itertools

import numpy as np

from understudy.novels.features import CandidatePairs
from understudy.novels.turns import GAP_KINDS, event_factors, turn_marginals


def pairs_of(people: np.ndarray) -> CandidatePairs:
    count, width = people.shape
    return CandidatePairs(np.repeat(np.arange(count), width), people.ravel(), np.arange(count) * width)


def by_enumeration(people: np.ndarray, unary: np.ndarray, kinds: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Sums over every sequence of speakers."""
    count, width = people.shape
    totals = np.zeros((count, width))
    for choice in itertools.product(range(width), repeat=count):
        said = [int(people[index, at]) for index, at in enumerate(choice)]
        weight, other = float(unary[0, choice[0]]), None
        for index in range(1, count):
            now, last = said[index], said[index - 1]
            same, back, third = factors[kinds[index]]
            weight *= same if now == last else back if now == other else third
            weight *= float(unary[index, choice[index]])
            if now != last:
                other = last
        totals[np.arange(count), choice] += weight
    shares: np.ndarray = totals / totals.sum(1, keepdims=True)
    return shares


def test_forward_backward_is_the_sum_over_all_sequences() -> None:
    rng = np.random.default_rng(3)
    people = np.tile(np.array([0, 1, 2]), (5, 1))
    unary = rng.dirichlet(np.ones(3), 5).astype(np.float32)
    kinds = rng.integers(0, GAP_KINDS, 5)
    factors = rng.uniform(0.2, 2.0, (GAP_KINDS, 3)).astype(np.float32)
    found = turn_marginals(pairs_of(people), unary.ravel(), kinds, factors).reshape(5, 3)
    np.testing.assert_allclose(found, by_enumeration(people, unary, kinds, factors), rtol=1e-4)


def test_one_known_turn_decides_a_conversation_of_two() -> None:
    people = np.tile(np.array([4, 7]), (6, 1))
    unary = np.full((6, 2), 0.5, np.float32)
    unary[3] = 0.999, 0.001
    factors = np.tile(np.array([0.02, 1.5, 0.5], np.float32), (GAP_KINDS, 1))
    found = turn_marginals(pairs_of(people), unary.ravel(), np.full(6, 2), factors).reshape(6, 2)
    assert found.argmax(1).tolist() == [1, 0, 1, 0, 1, 0]


def test_factors_are_what_happens_over_what_chance_would_have() -> None:
    people = np.tile(np.array([0, 1]), (400, 1))
    speakers = np.arange(400) % 2
    kinds = np.full(400, 2)
    factors = event_factors([(kinds, pairs_of(people), np.full(800, 0.5, np.float32), speakers)])
    same, back, _ = factors[2]
    assert same < 0.05 and 1.8 < back < 2.05
