from __future__ import annotations

import numpy as np
import pytest

from understudy.bench.chats.measures import folds_of, out_of_fold
from understudy.metrics.statistics import spearman


def test_a_person_is_never_on_both_sides() -> None:
    people = [f"p{number % 7}" for number in range(50)]
    judged: list[int] = []
    for learnt, held_back in folds_of(people, 4, seed=1):
        assert {people[index] for index in learnt}.isdisjoint(people[index] for index in held_back)
        judged += held_back.tolist()
    assert sorted(judged) == list(range(50))
    assert len(folds_of(["a", "a", "b"], 10, 0)) == 2


def test_what_is_there_is_found_and_what_is_not_is_not() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(1, 6, 300).astype(float)
    telling, noise = target + rng.normal(0, 2, 300), rng.normal(size=(300, 12))
    people = [str(index // 2) for index in range(300)]
    alone = spearman(telling, target)
    with_noise = spearman(out_of_fold(np.column_stack([np.exp(telling), noise]), target, people), target)
    assert with_noise == pytest.approx(alone, abs=0.06)
    assert abs(spearman(out_of_fold(noise, target, people), target)) < 0.15


def test_missing_values_are_no_news() -> None:
    rng = np.random.default_rng(1)
    target = rng.normal(size=200)
    features = np.column_stack([target + 0.1 * rng.normal(size=200), np.full(200, np.nan)])
    features[::5, 0] = np.nan
    predicted = out_of_fold(features, target, list(range(200)))
    assert not np.isnan(predicted).any()
    assert spearman(predicted, target) > 0.7
