from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import judged
from understudy.agents.recall import Recall
from understudy.agents.writer import WriterAgent
from understudy.bench import answers as answers_module
from understudy.bench.answer_metrics import NO_LOG_PROBS, likelihood_items, likelihood_rows
from understudy.bench.answers import (
    GeneratedReply,
    JudgedAgent,
    MissingAnswers,
    likelihoods_of,
    prompt_of,
    replies_of,
)
from understudy.errors import AgentError, BackendError, MissingAnswer
from understudy.language.backends import ScriptedBackend
from understudy.papers.personachat.bench import files_of, questions_in
from understudy.story.dialogue import Example, Reply, Situation, Turn


@pytest.fixture
def questions(tmp_path: Path) -> tuple[Example, ...]:
    data = judged.personachat(tmp_path / "data")
    return questions_in(files_of(data, "valid")["self_original"], "self_original").examples


class Moody(judged.Chimes):
    """Fails while the history is as long as it does not like."""

    def __init__(self, *disliked: int) -> None:
        self.disliked = set(disliked)
        self.asked: list[int] = []

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.asked.append(len(history))
        if len(history) in self.disliked:
            raise BackendError(f"no answer to {len(history)} turns")
        return super().reply(situation, history)


def test_replies_one_by_one_and_many_at_once(questions: tuple[Example, ...]) -> None:
    one_by_one = replies_of(JudgedAgent("one", judged.Chimes(), "one"), questions)
    many = judged.ManyChimes()
    assert replies_of(JudgedAgent("many", many, "many"), questions) == one_by_one
    assert many.asked == [4]
    assert one_by_one is not None
    assert one_by_one[1] == GeneratedReply("1.2", "i mend clocks , 3 of them .")
    assert replies_of(JudgedAgent("clock", judged.Clock(), "clock"), questions) is None


def test_a_failure_is_missing_and_asked_again_by_the_next_run(questions: tuple[Example, ...], tmp_path: Path) -> None:
    agent = Moody(3)
    answers = replies_of(JudgedAgent("moody", agent, "moody"), questions, cache=tmp_path / "answers")
    assert answers is not None
    assert [answer.text is None for answer in answers] == [False, True, False, True]
    assert answers[1].reason == "no answer to 3 turns"
    agent.disliked.clear()
    answers = replies_of(JudgedAgent("moody", agent, "moody"), questions, cache=tmp_path / "answers")
    assert answers == replies_of(JudgedAgent("chimes", judged.Chimes(), "chimes"), questions)
    assert agent.asked == [1, 3, 1, 3, 3, 3]


def test_a_batch_that_fails_is_asked_one_by_one(questions: tuple[Example, ...]) -> None:
    class Batched(Moody):
        def reply_many(self, questions: Sequence[tuple[Situation, Sequence[Turn]]]) -> list[Reply]:
            return [self.reply(*question) for question in questions]

    answers = replies_of(JudgedAgent("moody", Batched(3), "moody"), questions)
    assert answers is not None
    assert [answer.text is None for answer in answers] == [False, True, False, True]


def test_an_agent_that_waits_is_asked_several_at_once(questions: tuple[Example, ...]) -> None:
    together = threading.Barrier(4, timeout=60)

    class Waiting(Moody):
        waits = True

        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            together.wait()  # broken unless all four are under way
            return super().reply(situation, history)

    answers = replies_of(JudgedAgent("waiting", Waiting(3), "waiting"), questions)
    assert answers is not None
    assert [answer.text is None for answer in answers] == [False, True, False, True]


def test_a_reply_is_owed_to_every_question(questions: tuple[Example, ...]) -> None:
    class Fewer(judged.ManyChimes):
        def reply_many(self, questions: object) -> list[Reply]:
            return [Reply("yes")]

    with pytest.raises(AgentError, match="1 replies to 4 questions"):
        replies_of(JudgedAgent("fewer", Fewer(), "fewer"), questions)


def test_an_agent_that_never_answers_is_an_error(questions: tuple[Example, ...]) -> None:
    with pytest.raises(AgentError, match="no answer to"):
        replies_of(JudgedAgent("moody", Moody(1, 3), "moody"), questions)


def test_an_agent_that_stops_answering_is_asked_no_more(
    questions: tuple[Example, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers_module, "FAILURES", 2)
    agent = Moody(3)
    ordered = sorted(questions, key=lambda example: len(example.history))
    answers = replies_of(JudgedAgent("moody", agent, "moody"), [*ordered, *questions[:1]][:4])
    assert answers is not None
    assert [answer.reason for answer in answers] == ["", "", "no answer to 3 turns", "no answer to 3 turns"]
    assert agent.asked == [1, 1, 3, 3]


def test_a_stopped_run_goes_on(questions: tuple[Example, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(answers_module.BATCHES, "replies", 1)
    agent = judged.ManyChimes(stop_after=3)
    with pytest.raises(KeyboardInterrupt):
        replies_of(JudgedAgent("many", agent, "many"), questions, cache=tmp_path)
    agent.stop_after = None
    answers = replies_of(JudgedAgent("many", agent, "many"), questions, cache=tmp_path)
    assert answers == replies_of(JudgedAgent("one", judged.Chimes(), "one"), questions)
    assert agent.asked == [1, 1, 1, 1]


def test_the_prompt_of_an_agent_that_writes(questions: tuple[Example, ...]) -> None:
    agent = WriterAgent(ScriptedBackend(["I mend clocks."]), Recall())
    messages = prompt_of(agent, questions[0])
    assert messages is not None
    assert messages[0]["role"] == "system"
    assert "mend clocks" in messages[0]["content"]
    assert messages[-1]["role"] == "user"
    assert "hello , what do you do ?" in messages[-1]["content"]
    assert prompt_of(judged.Chimes(), questions[0]) is None


def chimes() -> JudgedAgent:
    return JudgedAgent("chimes", judged.Chimes(), "chimes")


def test_perplexity_and_hits_by_hand(questions: tuple[Example, ...]) -> None:
    """In bits: a word of clocks 1, any other 3, the end 1."""
    marks = likelihoods_of(chimes(), questions)
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
    marks = likelihoods_of(chimes(), questions)
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
        likelihood_rows({}, [each], likelihoods_of(chimes(), [each]))[0]["value"] for each in (example, twice)
    ]
    assert perplexities[0] == perplexities[1]


def test_questions_without_a_wrong_reply_have_no_delta_p(questions: tuple[Example, ...]) -> None:
    alone = [replace(example, candidates=example.candidates[2:], gold=frozenset({0})) for example in questions]
    rows = {row["metric"]: row for row in likelihood_rows({}, alone, likelihoods_of(chimes(), alone))}
    assert (rows["delta-p"]["value"], rows["delta-p"]["reason"]) == (None, "no question has a wrong reply")
    assert rows["perplexity"]["value"] is not None


def test_an_agent_without_log_probs_has_none_and_says_so(questions: tuple[Example, ...]) -> None:
    marks = likelihoods_of(JudgedAgent("clock", judged.Clock(), "clock"), questions)
    assert marks is None
    for row in likelihood_rows({"agent": "clock"}, questions, marks, paper=lambda metric: 0.1):
        assert (row["value"], row["low"], row["n"], row["paper"], row["reason"]) == (None, None, 0, 0.1, NO_LOG_PROBS)


def test_marks_of_single_questions(questions: tuple[Example, ...]) -> None:
    marks = likelihoods_of(chimes(), questions)
    assert marks is not None
    items = likelihood_items(questions, marks)
    assert items["hits@1_per_token"] == [1, 0, 0, 0]
    assert items["log_prob_per_word"][0] == pytest.approx(-14 / 6 * math.log(2))


def test_many_at_once_and_a_stopped_run_goes_on(
    questions: tuple[Example, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(answers_module.BATCHES, "likelihood", 1)
    agent, folder = judged.ManyChimes(stop_after=2), tmp_path / "answers"
    with pytest.raises(KeyboardInterrupt):
        likelihoods_of(JudgedAgent("many", agent, "many"), questions, cache=folder)
    (log,) = folder.iterdir()
    log.write_bytes(log.read_bytes() + b'{"item": "2.1", "log_pr')  # stopped while it was written
    agent.stop_after = None
    marks = likelihoods_of(JudgedAgent("many", agent, "many"), questions, cache=folder)
    assert agent.asked == [1, 1, 1, 1]
    assert marks == likelihoods_of(chimes(), questions)
    assert likelihoods_of(JudgedAgent("many", agent, "many"), questions, cache=folder) == marks
    assert agent.asked == [1, 1, 1, 1]
    likelihoods_of(JudgedAgent("many", agent, "many"), questions[:1], cache=folder)  # other questions, another file
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
            likelihoods_of(JudgedAgent("wrong", agent, "wrong"), questions)


def test_what_is_missing_is_collected_and_raised_as_one() -> None:
    missing = MissingAnswers()
    missing.check()
    for name in ("a", "b", "a"):
        with missing:
            raise MissingAnswer({(Path("folder"), name): {"model": "m"}})
    with pytest.raises(MissingAnswer) as error:
        missing.check()
    assert [name for _, name in error.value.requests] == ["a", "b"]


def test_other_errors_are_nobodys_business() -> None:
    with pytest.raises(AgentError), MissingAnswers():
        raise AgentError("no words today")
