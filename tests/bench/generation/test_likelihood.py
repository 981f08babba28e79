from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import judged
from understudy.bench.generation import likelihood, likelihood_items, likelihood_marks, likelihood_rows
from understudy.bench.generation.likelihood import NO_LOG_PROBS
from understudy.bench.judged_agents import JudgedAgent
from understudy.errors import AgentError
from understudy.papers.personachat.bench import files_of, questions_in
from understudy.story.dialogue import Example, Situation, Turn


@pytest.fixture
def questions(tmp_path: Path) -> tuple[Example, ...]:
    data = judged.personachat(tmp_path / "data")
    return questions_in(files_of(data, "valid")["self_original"], "self_original").examples


def chimes() -> JudgedAgent:
    return JudgedAgent("chimes", judged.Chimes(), "chimes")


def test_perplexity_and_hits_by_hand(questions: tuple[Example, ...]) -> None:
    """In bits: a word of clocks 1, any other 3, the end 1."""
    marks = likelihood_marks(chimes(), questions)
    assert marks is not None
    # 'i mend old clocks .': 4 other words, one of clocks, the end
    assert marks[0].log_probs[-1] == pytest.approx(-(4 * 3 + 1 + 1) * math.log(2))
    assert marks[0].tokens == marks[0].words == [5, 4, 6]
    rows = {row["metric"]: row for row in likelihood_rows({"agent": "chimes"}, questions, marks)}
    # right replies: 14 bits in 6 units; 'just off the square .' 16 in 6; 'i am up at four to bake .' 25 in 9;
    # 'for the bread , yes .' 19 in 7
    assert rows["perplexity"]["value"] == pytest.approx(2 ** ((14 + 16 + 25 + 19) / (6 + 6 + 9 + 7)))
    assert rows["perplexity"]["value"] == rows["perplexity_per_token"]["value"]
    assert rows["perplexity"]["low"] <= rows["perplexity"]["value"] <= rows["perplexity"]["high"]
    # by the sum the shortest wins but for clocks (14 bits against 10 of 'rain again .'): never the right one;
    # by the mean of a token the right one has 14/6 against 13/5 of 'i bake bread .' and 10/4: once
    assert rows["hits@1"]["value"] == 0
    assert rows["hits@1_per_token"]["value"] == 0.25
    assert (rows["hits@1"]["n"], rows["hits@1"]["agent"], rows["hits@1"]["paper"]) == (4, "chimes", None)


def test_delta_p_is_the_mean_over_questions(questions: tuple[Example, ...]) -> None:
    marks = likelihood_marks(chimes(), questions)
    rows = {row["metric"]: row for row in likelihood_rows({}, questions, marks)}

    def per_word(text: str) -> tuple[float, int]:
        return -sum(judged.Chimes().log_probs(questions[0].situation, (), text)), len(text.split()) + 1

    values = []
    for example in questions:
        right = per_word(example.candidates[2])
        wrong = [per_word(text) for text in example.candidates[:2]]
        positive = math.exp(right[0] / right[1])
        negative = math.exp(sum(surprise for surprise, _ in wrong) / sum(words for _, words in wrong))
        values.append((negative - positive) / (negative + positive))
    assert rows["delta-p"]["value"] == pytest.approx(sum(values) / 4)
    assert rows["delta-p_of_sets"]["value"] != rows["delta-p"]["value"]


def test_a_reply_that_is_listed_twice_counts_once(questions: tuple[Example, ...]) -> None:
    example = questions[0]
    twice = replace(example, candidates=(*example.candidates, example.candidates[2]), gold=frozenset({2, 3}))
    perplexities = [
        likelihood_rows({}, [each], likelihood_marks(chimes(), [each]))[0]["value"] for each in (example, twice)
    ]
    assert perplexities[0] == perplexities[1]


def test_questions_without_a_wrong_reply_have_no_delta_p(questions: tuple[Example, ...]) -> None:
    alone = [replace(example, candidates=example.candidates[2:], gold=frozenset({0})) for example in questions]
    rows = {row["metric"]: row for row in likelihood_rows({}, alone, likelihood_marks(chimes(), alone))}
    assert (rows["delta-p"]["value"], rows["delta-p"]["reason"]) == (None, "no question has a wrong reply")
    assert rows["perplexity"]["value"] is not None


def test_an_agent_without_log_probs_has_none_and_says_so(questions: tuple[Example, ...]) -> None:
    marks = likelihood_marks(JudgedAgent("clock", judged.Clock(), "clock"), questions)
    assert marks is None
    for row in likelihood_rows({"agent": "clock"}, questions, marks, paper=lambda metric: 0.1):
        assert (row["value"], row["low"], row["n"], row["paper"], row["reason"]) == (None, None, 0, 0.1, NO_LOG_PROBS)


def test_marks_of_single_questions(questions: tuple[Example, ...]) -> None:
    marks = likelihood_marks(chimes(), questions)
    assert marks is not None
    items = likelihood_items(questions, marks)
    assert items["hits@1_per_token"] == [1, 0, 0, 0]
    assert items["log_prob_per_word"][0] == pytest.approx(-14 / 6 * math.log(2))


def test_many_at_once_and_a_stopped_run_goes_on(
    questions: tuple[Example, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likelihood, "BATCH", 1)
    agent, folder = judged.ManyChimes(stop_after=2), tmp_path / "answers"
    with pytest.raises(KeyboardInterrupt):
        likelihood_marks(JudgedAgent("many", agent, "many"), questions, cache=folder)
    (log,) = folder.iterdir()
    log.write_bytes(log.read_bytes() + b'{"item": "2.1", "log_pr')  # stopped while it was written
    agent.stop_after = None
    marks = likelihood_marks(JudgedAgent("many", agent, "many"), questions, cache=folder)
    assert agent.asked == [1, 1, 1, 1]
    assert marks == likelihood_marks(chimes(), questions)
    assert likelihood_marks(JudgedAgent("many", agent, "many"), questions, cache=folder) == marks
    assert agent.asked == [1, 1, 1, 1]
    likelihood_marks(JudgedAgent("many", agent, "many"), questions[:1], cache=folder)  # other questions, another file
    assert len(agent.asked) == 5


def test_answers_that_are_none(questions: tuple[Example, ...]) -> None:
    class Short(judged.Chimes):
        def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
            return []

    class Endless(judged.Chimes):
        def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
            return [float("-inf")]

    class Fewer(judged.ManyChimes):
        def log_probs_many(self, questions: object) -> list[list[list[float]]]:
            return []

    for agent, message in ((Short(), "every candidate"), (Endless(), "no finite number"), (Fewer(), "0 of 4")):
        with pytest.raises(AgentError, match=message):
            likelihood_marks(JudgedAgent("wrong", agent, "wrong"), questions)
