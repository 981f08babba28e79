from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hpdsessions
from understudy.errors import InputError
from understudy.papers.hpd.choice_model import (
    FittingSessions,
    cross_validate,
    feature_groups,
    fit_choice,
    folds_of,
    scenes_of,
)
from understudy.papers.hpd.features import SHARED_WORDS, feature_rows
from understudy.papers.hpd.own_text import OWN_TEXT
from understudy.papers.hpd.sessions import CANDIDATES, load_questions, withhold
from understudy.story.dialogue import Example, Ranker, Situation
from understudy.story.persona import Persona


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


GROUPS = (OWN_TEXT, SHARED_WORDS)


@pytest.fixture
def examples(tmp_path: Path) -> list[Example]:
    return load_questions(hpdsessions.write(tmp_path / "t.json", hpdsessions.sessions()))


def prepared(examples: list[Example]) -> FittingSessions:
    return FittingSessions(examples, GROUPS, feature_rows(GROUPS, examples))


def test_it_learns_that_the_right_reply_speaks_of_the_same(examples: list[Example]) -> None:
    """Every reply is right in one session: only by the context can they be told apart."""
    sessions = prepared(examples)
    for scores in sessions.held_out_scores(scenes_of(examples), remembers=False, seed=0):
        assert all(int(np.argmax(row)) in example.gold for row, example in zip(scores, examples))


def test_given_the_candidates_alone_no_context_is_seen(examples: list[Example]) -> None:
    shuffled = [
        replace(example, situation=other.situation, history=other.history)
        for example, other in zip(examples, reversed(examples))
    ]
    blind, shuffled_blind = (
        FittingSessions(asked, groups := feature_groups(), feature_rows(groups, asked))
        for asked in ([withhold(one, CANDIDATES) for one in some] for some in (examples, shuffled))
    )
    scenes = scenes_of(examples)
    for remembers in (False, True):
        scores = blind.held_out_scores(scenes, remembers, seed=0)
        assert scores == shuffled_blind.held_out_scores(scenes, remembers, seed=0)


def test_a_session_is_not_judged_by_weights_that_saw_it(examples: list[Example]) -> None:
    """Changing which reply is right in a session changes no score of that session itself."""
    sessions, scenes = prepared(examples), scenes_of(examples)
    gold_moved = [replace(examples[0], gold=frozenset({5})), *examples[1:]]
    scores = sessions.held_out_scores(scenes, remembers=True, seed=0)
    moved = prepared(gold_moved).held_out_scores(scenes, remembers=True, seed=0)
    assert [repeat[0] for repeat in scores] == [repeat[0] for repeat in moved]
    assert scores != moved  # what others learned from it did change


def test_one_that_remembers_knows_the_replies_of_other_sessions_only(examples: list[Example]) -> None:
    sessions = prepared(examples)
    fold = next(folds_of(scenes_of(examples), 4, 0))
    ranker = sessions.fit(fold.training, remembers=True)
    assert ranker.remembered is not None
    assert ranker.weights()["repeated"] <= 0
    texts = {text for index in fold.training for text in examples[index].candidates}
    assert len(ranker.remembered) == len(texts)
    assert sessions.fit(fold.training).remembered is None


def test_a_repeat_within_its_own_session_is_none() -> None:
    """While it is fitted, a reply counts as repeated where a second session has it."""
    wren = Situation(Persona("Wren"))
    own = [Example(wren, (), (f"right {n}", "again", f"wrong {n}"), frozenset({0})) for n in range(6)]
    sessions = FittingSessions(own, (OWN_TEXT,), feature_rows((OWN_TEXT,), own))
    ranker = sessions.fit(range(6), remembers=True)
    assert ranker.weights()["repeated"] < 0
    scores = ranker.choose(feature_rows((OWN_TEXT,), [own[0]])[0], own[0].candidates)
    assert scores[1] < scores[0]
    unlike = [replace(one, candidates=(f"right {n}", f"mine {n}", f"wrong {n}")) for n, one in enumerate(own)]
    without = FittingSessions(unlike, (OWN_TEXT,), feature_rows((OWN_TEXT,), unlike)).fit(range(6), remembers=True)
    assert without.weights()["repeated"] == 0


def test_it_is_a_ranker_whose_scores_stand_alone(examples: list[Example]) -> None:
    ranker = prepared(examples).fit(range(12))
    assert isinstance(ranker, Ranker)
    asked = examples[3]
    together = ranker.score(asked.situation, asked.history, asked.candidates)
    alone = [ranker.score(asked.situation, asked.history, [text])[0] for text in asked.candidates]
    assert together == pytest.approx(alone, rel=1e-9, abs=1e-12)
    assert ranker.score(asked.situation, asked.history, []) == []


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
