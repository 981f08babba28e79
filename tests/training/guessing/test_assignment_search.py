"""The likeliest of many assignments, few of which are scored."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.language.lexical.rows import Ints, Reals
from understudy.training.guessing.naming import DRAWN, score_assignments


def test_few_namings_are_all_scored() -> None:
    assignments, scores = score_assignments(2, 3, lambda assignments: assignments.sum(axis=1).astype(float))
    assert len(assignments) == 6 and scores.tolist() == assignments.sum(axis=1).tolist()


@pytest.mark.parametrize(("masks", "candidates"), [(5, 5), (6, 6), (5, 8), (12, 12)])
def test_of_many_namings_the_best_is_found_though_few_are_scored(masks: int, candidates: int) -> None:
    chance = np.random.default_rng(5)
    table = chance.normal(size=(masks, candidates)) * 0.3
    right = chance.permutation(candidates)[:masks]
    table[np.arange(masks), right] += 2
    seen: list[tuple[int, ...]] = []

    def scored(assignments: Ints) -> Reals:
        seen.extend(map(tuple, assignments.tolist()))
        totals: Reals = table[np.arange(masks), assignments].sum(axis=1)
        return totals

    assignments, scores = score_assignments(masks, candidates, scored)
    assert assignments[scores.argmax()].tolist() == right.tolist()
    assert len(seen) == len(set(seen)) == len(assignments) <= 2 * DRAWN
