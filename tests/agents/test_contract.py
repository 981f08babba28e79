"""What every agent promises, whatever it is."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from models import tiny_model
from people import hearing, situation, tie
from understudy.agents import AGENTS, TRAINED, WRITING
from understudy.backends.scripted import ScriptedBackend
from understudy.dialogue import Agent, Drafter, Ranker, Sampling, Situation, StreamingAgent, Turn

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
situations = pytest.mark.parametrize("given", SITUATIONS.values(), ids=SITUATIONS.keys())

Make = Callable[[str], Agent]

KINDS = {"profile", "relation", "memory", "exchange", "bank", "script", "notice"}


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes an agent by its name; one that needs a model gets a tiny one, one that writes a script."""
    folder = tmp_path_factory.mktemp("models")
    models = {name: tiny_model(name, folder / name) for name in TRAINED}

    def make(name: str) -> Agent:
        if name in WRITING:
            return AGENTS[name](backend=ScriptedBackend(WRITTEN))
        return AGENTS[name](model=models[name]) if name in models else AGENTS[name]()

    return make


@agents
@situations
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: ascii(message[:20]))
def test_a_reply_is_never_blank(make: Make, name: str, given: Situation, message: str) -> None:
    reply = make(name).reply(given, hearing(message))
    assert reply.text.strip()
    assert reply.evidence
    assert reply.text in [candidate.text for candidate in reply.candidates]
    assert {evidence.kind for evidence in reply.evidence} <= KINDS


@agents
@situations
def test_an_empty_history_is_answered(make: Make, name: str, given: Situation) -> None:
    assert make(name).reply(given, []).text.strip()


@agents
@situations
def test_the_same_history_has_the_same_reply(make: Make, name: str, given: Situation) -> None:
    agent = make(name)
    first = agent.reply(given, hearing("Where is the key?"))
    agent.reply(given, hearing("Something else."))
    assert agent.reply(given, hearing("Where is the key?")) == first
    assert make(name).reply(given, hearing("Where is the key?")) == first


@agents
@situations
def test_a_long_talk_never_stops(make: Make, name: str, given: Situation) -> None:
    agent, history = make(name), list[Turn]()
    for _ in range(12):
        history += hearing("Where is the key?")
        history.append(Turn("Tomas", agent.reply(given, history).text))
    assert all(turn.text.strip() for turn in history)


@rankers
@situations
def test_a_score_does_not_depend_on_the_other_candidates(make: Make, name: str, given: Situation) -> None:
    agent = ranker(make(name))
    history = hearing("Where is the key?")
    scores = agent.score(given, history, CANDIDATES)
    assert len(scores) == len(CANDIDATES)
    assert [agent.score(given, history, [candidate])[0] for candidate in CANDIDATES] == scores
    assert agent.score(given, history, CANDIDATES[::-1]) == scores[::-1]
    assert agent.score(given, history, []) == []


@rankers
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: ascii(message[:20]))
def test_any_message_can_be_ranked_against(make: Make, name: str, message: str) -> None:
    scores = ranker(make(name)).score(SITUATIONS["en"], hearing(message), CANDIDATES)
    assert all(score == score for score in scores)


@writers
@situations
@pytest.mark.parametrize("message", ["", "Where is the key?", LONG], ids=["nothing", "a question", "a long one"])
def test_the_pieces_of_a_stream_are_the_reply(make: Make, name: str, given: Situation, message: str) -> None:
    agent = make(name)
    assert isinstance(agent, StreamingAgent)
    stream, pieces = agent.stream(given, hearing(message)), list[str]()
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as stop:
            reply = stop.value
            break
    assert "".join(pieces) == reply.text
    assert reply.text == make(name).reply(given, hearing(message)).text
    assert reply.usage.calls >= 1


@writers
@situations
def test_drafts_can_all_be_said(make: Make, name: str, given: Situation) -> None:
    agent = make(name)
    assert isinstance(agent, Drafter)
    drafts, usage = agent.drafts(given, hearing("Where is the key?"), Sampling(n=4))
    assert all(draft.text.strip() and draft.source for draft in drafts)
    assert 0 < len(drafts) <= 4
    assert usage.calls >= 1


def ranker(agent: Agent) -> Ranker:
    assert isinstance(agent, Ranker)
    return agent
