from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

import judged
from understudy.agents.recall import Recall
from understudy.agents.writer import WriterAgent
from understudy.bench.generation import GeneratedReply, prompt_of, replies, replies_of
from understudy.bench.judged_agents import JudgedAgent
from understudy.errors import AgentError, BackendError
from understudy.language.backends.scripted import ScriptedBackend
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
    monkeypatch.setattr(replies, "FAILURES", 2)
    agent = Moody(3)
    ordered = sorted(questions, key=lambda example: len(example.history))
    answers = replies_of(JudgedAgent("moody", agent, "moody"), [*ordered, *questions[:1]][:4])
    assert answers is not None
    assert [answer.reason for answer in answers] == ["", "", "no answer to 3 turns", "no answer to 3 turns"]
    assert agent.asked == [1, 1, 3, 3]


def test_a_stopped_run_goes_on(questions: tuple[Example, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "BATCH", 1)
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
