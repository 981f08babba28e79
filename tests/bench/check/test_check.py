from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from threading import Lock
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.bench.check import CheckRepeat, CheckResult, document_of, run_tests
from understudy.bench.check.tests_file import CheckTest, TestsFile
from understudy.cli.check import junit_xml
from understudy.errors import BackendError, InputError
from understudy.formats import read
from understudy.judging import Rule
from understudy.language.backends import Backend, Completion
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Usage, situation_at

Say = Callable[[Sequence[ChatMessage], Sampling], str]


class Bot:
    """A back end that answers by a function, and keeps what it was sent."""

    name = "llm:bot"
    context_tokens = 1000

    def __init__(self, say: Say) -> None:
        self.say, self.sent, self._lock = say, list[tuple[list[ChatMessage], Sampling]](), Lock()

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        raise NotImplementedError
        yield ""

    def complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> list[Completion]:
        with self._lock:
            self.sent.append((list(messages), sampling))
        return [Completion(self.say(messages, sampling), usage=Usage(1, 10, 5, 0.1))]


def run(tests: Sequence[CheckTest], say: Say, jobs: int = 2) -> tuple[list[CheckResult], Bot]:
    bot = Bot(say)
    backend: Backend = bot
    return run_tests(TestsFile(Path("tests.toml"), tuple(tests)), lambda _: backend, "bot", jobs), bot


def test_turns_are_said_in_turn_with_the_bot_s_replies_between_them() -> None:
    test = CheckTest("a", ("One?", "Two?"), system="You are Ann.", must=("2",))
    (result,), bot = run([test], lambda messages, _: f"reply {len(messages) // 2}")
    assert [message.content for message in bot.sent[-1][0]] == ["You are Ann.", "One?", "reply 1", "Two?"]
    assert [message.role for message in bot.sent[-1][0]] == ["system", "user", "assistant", "user"]
    assert result.passed and result.repeats[0].replies == ("reply 1", "reply 2")
    assert result.repeats[0].usage.calls == 2


def test_each_repeat_has_a_seed_and_the_share_decides() -> None:
    tests = [
        CheckTest("all", ("?",), must=("yes",), repeats=4),
        CheckTest("half", ("?",), must=("yes",), repeats=4, pass_at=0.5),
        CheckTest("sure", ("?",), must=("yes",), repeats=4, pass_at=0.5, judged_by="low"),
    ]
    results, bot = run(tests, lambda _, sampling: "yes" if (sampling.seed or 0) % 2 else "no", jobs=1)
    assert [sampling.seed for _, sampling in bot.sent] == [0, 1, 2, 3] * 3
    assert [result.share.value for result in results] == [0.5, 0.5, 0.5]
    assert [result.passed for result in results] == [False, True, False]


def test_every_reply_is_judged_and_the_last_must_say_it() -> None:
    test = CheckTest("a", ("One?", "Two?"), must=("hook",), must_not=("Reuss",), never=("assistant",), max_words=4)
    replies = iter(["As an AI I know Reuss well.", "On the hook."])
    (result,), _ = run([test], lambda *_: next(replies), jobs=1)
    assert result.repeats[0].reasons == (
        "says 'Reuss'",
        "speaks as an assistant ('As an AI')",
        "has 7 words, more than 4",
    )


def test_a_blank_reply_says_nothing() -> None:
    (result,), _ = run([CheckTest("a", ("?",), must_not=("x",))], lambda *_: " ...\n")
    assert result.repeats[0].reasons == ("says nothing",)


def test_a_story_s_rules_judge_at_the_moment() -> None:
    story = read("demo")
    situation = situation_at(story, "Zita", "2.3", "Pia")
    test = CheckTest("a", ("Who is he?",), rules=(Rule.parse("anachronism<=0"),), situation=situation)
    file = TestsFile(Path("t.toml"), (test,), story)
    reasons = []
    for reply in ("A dealer in feathers.", "Danilo Reuss, and the Doctor died on the thirtieth of October."):
        bot: Backend = Bot(lambda *_, reply=reply: reply)
        reasons.append(run_tests(file, lambda _, bot=bot: bot, "bot")[0].repeats[0].reasons)  # type: ignore[misc]
    assert reasons[0] == () and "anachronism" in reasons[1][0]


def test_a_voice_is_told_from_the_embedded_story_s() -> None:
    own = tuple(
        f"Arr, ye scurvy dog number {number}, hoist the mainsail and be quick about it!" for number in range(25)
    )
    test = CheckTest("a", ("Well?",), voice_like=own, voice_at_least=0.5)
    like, _ = run([test], lambda *_: "Arr, hoist the mainsail, ye scurvy dog!")
    unlike, _ = run([test], lambda *_: "I have smoked ninety thousand letters on this rock, Doctor.")
    short, _ = run([test], lambda *_: "Perhaps.")
    few, _ = run([CheckTest("b", ("Well?",), voice_like=own[:3])], lambda *_: "Arr, hoist the mainsail, ye dog!")
    assert like[0].passed and short[0].passed
    assert unlike[0].repeats[0].reasons[0].startswith("voice 0.")
    assert "cannot be judged by voice" in few[0].repeats[0].reasons[0]


def test_a_server_that_is_down_is_given_up() -> None:
    def fails(*_: object) -> str:
        raise BackendError("cannot be reached: is it running?")

    tests = [CheckTest(f"test {number}", ("?",), must=("x",)) for number in range(40)]
    results, bot = run(tests, fails, jobs=1)
    assert len(bot.sent) == 5
    assert all(result.is_error and not result.passed for result in results)
    assert results[-1].repeats[0].error.startswith("not tried")


def test_a_model_has_to_be_named() -> None:
    file = TestsFile(Path("t.toml"), (CheckTest("a", ("?",), must=("x",), line=7),))
    with pytest.raises(InputError, match=r"t.toml:7: test 'a' names no model"):
        run_tests(file, lambda _: Bot(lambda *_: "x"), None)


def test_the_document_has_rows_and_every_reply(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text("x", encoding="utf-8")
    tests = [CheckTest("a", ("?",), must=("yes",), kind="identity"), CheckTest("b", ("?",), must=("no",))]
    results, _ = run(tests, lambda *_: "yes")
    document = document_of(TestsFile(path, tuple(tests), None, (path,)), results, "http://x/v1", "bot", 0)
    assert document["passed"] is False
    assert {(row["kind"], row["value"]) for row in document["rows"]} == {("all", 0.5), ("identity", 1.0)}
    assert document["tests"][1]["repeats"][0]["reasons"] == ["says none of 'no'"]
    json.dumps(document)


@given(st.text(), st.text(min_size=1), st.booleans())
def test_junit_is_well_formed_with_any_text(reply: str, name: str, is_error: bool) -> None:
    test = CheckTest(name, (reply,), kind=name)
    failed = CheckRepeat((), error=reply or "x") if is_error else CheckRepeat((reply,), (reply or "x",))
    results = [CheckResult(test, (failed,)), CheckResult(test, (CheckRepeat((reply,)),))]
    root = ElementTree.fromstring(junit_xml(name, results))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == (
        "2",
        str(int(not is_error)),
        str(int(is_error)),
    )
    assert len(root.findall("./testsuite/testcase")) == 2
    assert root.find("./testsuite/testcase/error" if is_error else "./testsuite/testcase/failure") is not None
