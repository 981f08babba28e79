from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hpdsessions
from understudy.papers.hpd.choice_model import folds_of, scenes_of
from understudy.papers.hpd.features import SHARED_WORDS, feature_rows
from understudy.papers.hpd.fitted_ranker import FittingSessions, feature_groups
from understudy.papers.hpd.own_text import OWN_TEXT
from understudy.papers.hpd.sessions import CANDIDATES, load_questions, withhold
from understudy.story.dialogue import Example, Ranker, Situation
from understudy.story.persona import Persona

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
