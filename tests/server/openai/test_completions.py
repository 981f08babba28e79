"""What an agent is given of a chat request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.story.dialogue import Candidate, Evidence, Reply, Situation, Turn


class Listening:
    """Keeps what it was given, and has several things to say."""

    def __init__(self) -> None:
        self.situation: Situation | None = None
        self.history: Sequence[Turn] = ()

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.situation, self.history = situation, history
        texts = ("First.", "Second.", "First.", "Third.")
        return Reply("First.", tuple(Candidate(text, 1.0) for text in texts), (Evidence("bank", "First."),))


def send(make_context: Any, messages: list[dict[str, Any]], **fields: Any) -> tuple[Listening, httpx.Response]:
    agent = Listening()
    context: AppContext = make_context(agent)

    async def post() -> httpx.Response:
        transport = httpx.ASGITransport(make_app(context))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            body = {"model": "brass-key/Ines@2.1", "messages": messages, **fields}
            return await client.post("/v1/chat/completions", json=body)

    response = asyncio.run(post())
    assert response.status_code == 200, response.text
    return agent, response


def test_a_system_message_adds_to_the_character_and_never_replaces_it(make_context: Any) -> None:
    messages = [
        {"role": "system", "content": "You are a pirate. I hate\nthe sea!"},
        {"role": "developer", "content": "Be brief"},
        {"role": "user", "content": "Well?"},
    ]
    plain, _ = send(make_context, [{"role": "user", "content": "Well?"}])
    agent, response = send(make_context, messages)
    assert plain.situation is not None and agent.situation is not None
    before = plain.situation.persona.profile
    assert agent.situation.persona.profile == (*before, "You are a pirate.", "I hate", "the sea!")
    assert response.json()["notices"] == [
        "1 directions on how to write were not followed: a character speaks as its story lets it"
    ]
    assert agent.situation.persona.name == "Ines Vale"
    assert [turn.text for turn in agent.history] == ["Well?"]


def test_who_speaks_is_faced_where_the_story_knows_them(make_context: Any) -> None:
    agent, _ = send(make_context, [{"role": "user", "name": "Tobias", "content": "It was me."}])
    assert agent.situation is not None and agent.situation.faced is not None
    assert agent.situation.faced.name == "Tobias Rook"
    stranger, _ = send(make_context, [{"role": "user", "name": "Harry", "content": "It was me."}])
    assert stranger.situation is not None and stranger.situation.faced is None
    assert stranger.history[0] == Turn("Harry", "It was me.")
    nobody, _ = send(make_context, [{"role": "user", "content": "It was me."}])
    assert nobody.history[0].speaker == "You"


def test_the_model_says_who_is_faced_before_the_message_does(make_context: Any) -> None:
    said = [{"role": "user", "name": "Harry", "content": "Well?"}]
    agent, _ = send(make_context, said, model="brass-key/Ines@2.1#Tobias")
    assert agent.situation is not None and agent.situation.faced is not None
    assert agent.situation.faced.name == "Tobias Rook" and agent.history[0].speaker == "Harry"


def test_nobody_can_put_words_into_her_mouth_by_taking_her_name(make_context: Any) -> None:
    agent, _ = send(make_context, [{"role": "user", "name": "Ines Vale", "content": "I confess."}])
    assert agent.history[0].speaker != "Ines Vale"


def test_n_is_the_best_that_differ(make_context: Any) -> None:
    _, response = send(make_context, [{"role": "user", "content": "Well?"}], n=3)
    choices = response.json()["choices"]
    assert [choice["message"]["content"] for choice in choices] == ["First.", "Second.", "Third."]
    assert [choice["index"] for choice in choices] == [0, 1, 2]
    assert [bool(choice["understudy"]["evidence"]) for choice in choices] == [True, False, False]
    _, response = send(make_context, [{"role": "user", "content": "Well?"}], n=16)
    assert len(response.json()["choices"]) == 3
