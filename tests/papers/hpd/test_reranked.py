from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import hpdsessions
from understudy.errors import MissingExtra
from understudy.papers.hpd.measures import Reranked, open_reranked
from understudy.papers.hpd.sessions import CANDIDATES, load_questions, withhold
from understudy.story.dialogue import Example, Situation, Turn


class Counting:
    """Scores a reply by how many letters it has after what it was told; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Situation, int]] = []

    def score_many(self, questions: Sequence[tuple[Situation, Sequence[Turn], Sequence[str]]]) -> list[list[float]]:
        self.asked += [(situation, len(history)) for situation, history, _ in questions]
        return [
            [float(len(situation.setting) + len(history) * 1000 + len(text)) for text in candidates]
            for situation, history, candidates in questions
        ]


@pytest.fixture
def examples(tmp_path: Path) -> list[Example]:
    return load_questions(hpdsessions.write(tmp_path / "t.json", hpdsessions.sessions()))


def test_a_session_is_read_once_whatever_else_is_given(examples: list[Example]) -> None:
    agent = Counting()
    group = Reranked(agent)
    for given in ("dialogue+scene", "dialogue+scene+attributes", "dialogue+scene+attributes+relations"):
        group.precompute([withhold(example, given) for example in examples])
    assert len(agent.asked) == len(examples)
    assert all(not situation.persona.profile and situation.faced is None for situation, _ in agent.asked)


def test_dialogue_scene_and_nothing_are_three_different_questions(examples: list[Example]) -> None:
    group = Reranked(Counting())
    full, bare, blind = (
        group.values(withhold(examples[0], given))[0, 0] for given in ("dialogue+scene", "dialogue", CANDIDATES)
    )
    letters = len(examples[0].candidates[0])
    assert (full, bare, blind) == (len(examples[0].situation.setting) + 1000 + letters, 1000 + letters, letters)


def test_how_far_it_is_is_told(examples: list[Example]) -> None:
    steps: list[tuple[str, int, int]] = []
    Reranked(Counting()).precompute(examples, lambda *step: steps.append(step))
    assert steps == [("reranker", 8, 12), ("reranker", 12, 12)]


def test_other_languages_have_no_such_feature(tmp_path: Path) -> None:
    chinese = load_questions(hpdsessions.write(tmp_path / "t.json", hpdsessions.chinese_sessions()))
    agent = Counting()
    group = Reranked(agent)
    group.precompute(chinese)
    assert not group.values(chinese[0]).any()
    assert agent.asked == []


def test_scores_are_kept_in_a_folder(examples: list[Example], tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    values = [Reranked(agent, tmp_path / "cache").values(examples[0]).tolist() for agent in (first, second)]
    assert values[0] == values[1]
    assert (len(first.asked), len(second.asked)) == (1, 0)


def test_without_its_library_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_self: object) -> None:
        raise MissingExtra("a transformer as language model", "train")

    monkeypatch.setattr("understudy.agents.reranker.Reranker.check", missing)
    reason = open_reranked()
    assert isinstance(reason, str)
    assert "train" in reason
