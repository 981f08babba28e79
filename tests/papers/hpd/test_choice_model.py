from __future__ import annotations

import math

import numpy as np
import pytest

from understudy.papers.hpd.choice_model import fit_choice


def test_one_feature_of_one_question_by_hand() -> None:
    """Two candidates at +1 and -1 after standardising: penalty * w = 2 / (1 + exp(2 w))."""
    model = fit_choice([np.array([[4.0], [2.0]])], [{0}], [0], penalty=0.5)
    weight = float(model.weights[0])
    assert 0.5 * weight == pytest.approx(2 / (1 + math.exp(2 * weight)), abs=1e-7)
    assert model.scores(np.array([[4.0], [2.0]])) == pytest.approx([weight, -weight])


def test_a_weight_never_takes_the_wrong_sign() -> None:
    rng = np.random.default_rng(0)
    features = [rng.normal(size=(5, 3)) for _ in range(40)]
    gold = [{int(np.argmax(rows @ [1.0, -2.0, 0.5]))} for rows in features]
    free = fit_choice(features, gold, [0, 0, 0], penalty=1.0).weights
    assert free[0] > 0 > free[1]
    bound = fit_choice(features, gold, [-1, 1, 1], penalty=1.0).weights
    assert bound[0] == bound[1] == 0.0
    assert bound[2] > 0


def test_at_the_minimum_no_free_weight_has_a_slope() -> None:
    rng = np.random.default_rng(1)
    features = [rng.normal(size=(int(size), 4)) for size in rng.integers(2, 9, 30)]
    gold = [{int(rng.integers(len(rows)))} for rows in features]

    def loss(weights: np.ndarray) -> float:
        scaled = [(rows - model.means) / model.deviations @ weights for rows in features]
        own = sum(float(np.log(np.exp(scores).sum()) - scores[min(right)]) for scores, right in zip(scaled, gold))
        return own + 2.0 * float(weights @ weights) / 2

    model = fit_choice(features, gold, [0] * 4, penalty=2.0)
    for index in range(4):
        moved = model.weights.copy()
        for step in (1e-4, -1e-4):
            moved[index] = model.weights[index] + step
            assert loss(moved) > loss(model.weights) - 1e-9


def test_what_is_the_same_for_all_counts_nothing_and_right_replies_share() -> None:
    features = [np.array([[1.0, 7.0], [0.0, 7.0], [1.0, 7.0]])] * 3
    model = fit_choice(features, [{0, 2}] * 3, [0, 0], penalty=1.0)
    assert model.weights[1] == 0.0
    scores = model.scores(features[0])
    assert scores[0] == scores[2] > scores[1]


def test_a_score_does_not_depend_on_the_other_candidates() -> None:
    rng = np.random.default_rng(2)
    features = [rng.normal(size=(6, 5)) for _ in range(10)]
    model = fit_choice(features, [{0}] * 10, [0] * 5)
    assert [model.scores(row[None])[0] for row in features[0]] == model.scores(features[0])
