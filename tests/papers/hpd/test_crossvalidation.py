from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from understudy.errors import InputError
from understudy.papers.hpd.choice_model import cross_validate, folds_of

SCENES = [f"scene {number // 2}" for number in range(11)]  # five of two sessions, one of one


def test_every_session_is_judged_once_and_never_learned_from_there() -> None:
    folds = list(folds_of(SCENES, 4, seed=3))
    assert Counter(index for fold in folds for index in fold.judged) == Counter(range(11))
    for fold in folds:
        assert set(fold.training).isdisjoint(fold.judged)
        assert sorted((*fold.training, *fold.judged)) == list(range(11))


def test_sessions_of_one_scene_are_not_parted() -> None:
    for seed in range(5):
        for fold in folds_of(SCENES, 3, seed):
            assert {SCENES[index] for index in fold.judged}.isdisjoint(SCENES[index] for index in fold.training)


def test_the_model_that_judges_a_session_has_not_seen_it() -> None:
    judged: list[tuple[tuple[int, ...], int]] = []

    def fit(training: Sequence[int]) -> tuple[int, ...]:
        return tuple(training)

    def scores(model: tuple[int, ...], index: int) -> list[float]:
        judged.append((model, index))
        return [float(index)]

    results = cross_validate(SCENES, fit, scores, seed=1, folds=4, repeats=3)
    assert results == [[[float(index)] for index in range(11)]] * 3
    assert all(index not in model for model, index in judged)


def test_folds_follow_from_the_seed() -> None:
    once, again, other = (list(folds_of(SCENES, 4, seed)) for seed in (5, 5, 6))
    assert once == again != other


def test_one_scene_cannot_be_cross_validated() -> None:
    with pytest.raises(InputError, match="--train"):
        list(folds_of(["one"] * 4, 10, 0))
