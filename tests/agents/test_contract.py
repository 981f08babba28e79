"""What every agent promises, whatever it is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from models import tiny_model
from people import hearing, situation, tie
from understudy.agents import AGENTS, TRAINED, WRITING
from understudy.language.backends import ScriptedBackend
from understudy.story.dialogue import Agent, Drafter, Ranker, Sampling, StreamingAgent, Turn

LONG = " ".join(
    random.Random(0).choices(
        ["where", "is", "the", "brass", "key", "that", "Ines", "left", "in", "the", "boat"], k=10_000
    )
)
MESSAGES = [
    "",
    "   ",
    "Where is the key?",
    "🙂🙂",
    "?!...",
    "鍵はどこですか。",
    "钥匙在哪里？",
    "Tomas!",
    "{name} %s \x00",
    LONG,
]
SITUATIONS = {
    "en": situation(
        ("Ines", "Where is the key?", "In my pocket."),
        (None, "", "Fog again."),
        profile=("I am a harbour pilot.", "I have a brass key."),
        relations=(tie("Ines", "affection", 8), tie("Ines", "friend")),
        faced="Ines",
    ),
    "ja": situation(("Ines", "鍵はどこ？", "ポケットの中だ。"), profile=("港の水先案内人だ。",), language="ja"),
    "zh": situation(("Ines", "钥匙在哪里？", "在我口袋里。"), profile=("我是领航员。",), language="zh"),
    "no profile": situation(("Ines", "Where is the key?", "In my pocket.")),
    "no past": situation(profile=("I am a harbour pilot.",)),
    "only ties": situation(relations=(tie("Ines", "affection", -10),), faced="Ines"),
    "nothing": situation(),
    "nothing, ja": situation(language="ja"),
    "nothing, zh": situation(language="zh"),
}
CANDIDATES = ["In my pocket.", "", "The key? I lost it.", "🙂", "鍵はポケットの中だ。", "钥匙丢了。", "In my pocket."]

WRITTEN = ['Tomas: "In my pocket."', "", "It was there. <|im_end|>", "No. Ask Ines, and then"]

agents = pytest.mark.parametrize("name", AGENTS)
writers = pytest.mark.parametrize("name", sorted(WRITING))
rankers = pytest.mark.parametrize("name", [name for name in AGENTS if name not in WRITING])

Open = Callable[..., Agent]

KINDS = {"profile", "relation", "memory", "exchange", "bank", "script", "notice"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Open:
    """The agent of a name, opened once; `another` is a second one of the same model.

    One that needs a model gets a tiny one, one that writes a script.
    """
    folder = tmp_path_factory.mktemp("models")

    @cache
    def model(name: str) -> dict[str, Any]:
        return {"model": tiny_model(name, folder / name)} if name in TRAINED else {}

    @cache
    def opened(name: str, another: bool = False) -> Agent:
        options = {"backend": ScriptedBackend(WRITTEN)} if name in WRITING else model(name)
        return AGENTS[name](**options)

    return opened


@contextmanager
def case(situation: str, message: str = "") -> Iterator[None]:
    """What is raised inside says for which situation and message."""
    try:
        yield
    except Exception as error:
        error.add_note(f"situation {situation!r}, message {message[:20]!a}")
        raise


@agents
def test_a_reply_is_never_blank(opened: Open, name: str) -> None:
    for label, given in SITUATIONS.items():
        for message in MESSAGES:
            with case(label, message):
                reply = opened(name).reply(given, hearing(message))
                assert reply.text.strip()
                assert reply.evidence
                assert reply.text in [candidate.text for candidate in reply.candidates]
                assert {evidence.kind for evidence in reply.evidence} <= KINDS


@agents
def test_an_empty_history_is_answered(opened: Open, name: str) -> None:
    for label, given in SITUATIONS.items():
        with case(label):
            assert opened(name).reply(given, []).text.strip()


@agents
def test_the_same_history_has_the_same_reply(opened: Open, name: str) -> None:
    agent, another = opened(name), opened(name, another=True)
    for label, given in SITUATIONS.items():
        with case(label):
            first = agent.reply(given, hearing("Where is the key?"))
            agent.reply(given, hearing("Something else."))
            assert agent.reply(given, hearing("Where is the key?")) == first
            assert another.reply(given, hearing("Where is the key?")) == first


@agents
def test_a_long_talk_never_stops(opened: Open, name: str) -> None:
    for label, given in SITUATIONS.items():
        history = list[Turn]()
        with case(label):
            for _ in range(12):
                history += hearing("Where is the key?")
                history.append(Turn("Tomas", opened(name).reply(given, history).text))
            assert all(turn.text.strip() for turn in history)


@rankers
def test_a_score_does_not_depend_on_the_other_candidates(opened: Open, name: str) -> None:
    agent, history = ranker(opened(name)), hearing("Where is the key?")
    for label, given in SITUATIONS.items():
        with case(label):
            scores = agent.score(given, history, CANDIDATES)
            assert len(scores) == len(CANDIDATES)
            assert [agent.score(given, history, [candidate])[0] for candidate in CANDIDATES] == scores
            assert agent.score(given, history, CANDIDATES[::-1]) == scores[::-1]
            assert agent.score(given, history, []) == []


@rankers
def test_any_message_can_be_ranked_against(opened: Open, name: str) -> None:
    for message in MESSAGES:
        with case("en", message):
            scores = ranker(opened(name)).score(SITUATIONS["en"], hearing(message), CANDIDATES)
            assert all(score == score for score in scores)


@writers
def test_the_pieces_of_a_stream_are_the_reply(opened: Open, name: str) -> None:
    agent, another = opened(name), opened(name, another=True)
    assert isinstance(agent, StreamingAgent)
    for label, given in SITUATIONS.items():
        for message in ("", "Where is the key?", LONG):
            with case(label, message):
                stream, pieces = agent.stream(given, hearing(message)), list[str]()
                while True:
                    try:
                        pieces.append(next(stream))
                    except StopIteration as stop:
                        reply = stop.value
                        break
                assert "".join(pieces) == reply.text
                assert reply.text == another.reply(given, hearing(message)).text
                assert reply.usage.calls >= 1


@writers
def test_drafts_can_all_be_said(opened: Open, name: str) -> None:
    agent = opened(name)
    assert isinstance(agent, Drafter)
    for label, given in SITUATIONS.items():
        with case(label):
            drafts, usage = agent.drafts(given, hearing("Where is the key?"), Sampling(n=4))
            assert all(draft.text.strip() and draft.source for draft in drafts)
            assert 0 < len(drafts) <= 4
            assert usage.calls >= 1


def ranker(agent: Agent) -> Ranker:
    assert isinstance(agent, Ranker)
    return agent
