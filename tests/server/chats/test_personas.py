"""Speaking as an invented persona, and choosing the reply agent."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from server.chats.conftest import events_of
from server.chats.test_service import BEGUN, reaching
from server.conftest import MakeContext
from understudy.agents import Scripted
from understudy.server.app import make_app
from understudy.story.dialogue import Turn
from writers import Writer

TOM = {"name": "Tom", "description": "A sailor, 40. He drinks."}


def said(ask: Any, chat: str, text: str) -> dict[str, Any]:
    reply: dict[str, Any] = events_of(ask("POST", f"/api/chats/{chat}/messages", json={"text": text}))[-2][1]
    return reply


def test_somebody_of_ones_own_is_faced_and_kept(make_context: MakeContext) -> None:
    writer = Writer()
    ask = reaching(make_app(make_context(writer)))
    chat = ask("POST", "/api/chats", json={**BEGUN, "speaker": TOM}).json()
    assert chat["speaker"] == "Tom" and chat["persona"] == TOM
    reply = said(ask, chat["id"], "Ahoy.")
    situation, history = writer.heard[-1]
    assert situation.faced is not None
    assert situation.faced.name == "Tom" and situation.faced.profile == ("Tom: A sailor, 40.", "He drinks.")
    assert history == (Turn("Tom", "Ahoy."),)
    assert reply["faced"] == "Tom"
    messages = ask("GET", f"/api/chats/{chat['id']}").json()["messages"]
    assert [message["author"] for message in messages] == ["Tom", "Ines Vale"]
    assert ask("GET", "/api/personas").json() == {"personas": [TOM]}


def test_one_who_speaks_as_oneself_again_is_no_longer_tom(make_context: MakeContext) -> None:
    writer = Writer()
    ask = reaching(make_app(make_context(writer)))
    chat = ask("POST", "/api/chats", json={**BEGUN, "speaker": TOM}).json()["id"]
    first = said(ask, chat, "Ahoy.")
    assert ask("PATCH", f"/api/chats/{chat}", json={"at": "2.2"}).json()["persona"] == TOM  # a move keeps it
    changed = ask("PATCH", f"/api/chats/{chat}", json={"speaker": None}).json()
    assert changed["persona"] is None and changed["speaker"] is None
    said(ask, chat, "It is me.")
    assert [turn.speaker for turn in writer.heard[-1][1]] == ["Tom", "Ines Vale", "You"]
    assert writer.heard[-1][0].faced is None
    events_of(ask("POST", f"/api/chats/{chat}/messages/{first['parent']}/retry"))  # as of then: Tom asks
    assert writer.heard[-1][0].faced is not None and writer.heard[-1][0].faced.name == "Tom"
    branch = ask("POST", f"/api/chats/{chat}/messages/{first['id']}/branch").json()
    assert branch["persona"] == TOM


@pytest.mark.parametrize(
    "speaker", [{"name": "Tobias", "description": "a liar"}, {"name": "Ines Vale", "description": "herself"}]
)
def test_nobody_passes_for_a_character(make_context: MakeContext, speaker: dict[str, str]) -> None:
    ask = reaching(make_app(make_context()))
    refused = ask("POST", "/api/chats", json={**BEGUN, "speaker": speaker})
    assert refused.status_code == 400 and "choose another name" in refused.json()["error"]["message"]
    chat = ask("POST", "/api/chats", json=BEGUN).json()["id"]
    assert ask("PATCH", f"/api/chats/{chat}", json={"speaker": speaker}).status_code == 400
    assert ask("GET", "/api/personas").json() == {"personas": []}


def test_what_was_kept_can_be_forgotten(make_context: MakeContext) -> None:
    ask = reaching(make_app(make_context()))
    chat = ask("POST", "/api/chats", json={**BEGUN, "speaker": TOM}).json()["id"]
    assert ask("DELETE", "/api/personas/Tom").status_code == 204
    assert ask("GET", "/api/personas").json() == {"personas": []}
    assert ask("GET", f"/api/chats/{chat}").json()["persona"] == TOM
    assert ask("DELETE", "/api/personas/Tom").status_code == 404


def test_a_chat_says_who_finds_the_words(make_context: MakeContext) -> None:
    ask = reaching(make_app(make_context({"script": Scripted(["From the script."] * 9), "writer": Writer()})))
    assert ask("GET", "/api/agents").json() == {
        "agents": [{"name": "script", "writes": False}, {"name": "writer", "writes": True}]
    }
    chat = ask("POST", "/api/chats", json=BEGUN).json()
    assert chat["agent"] is None
    assert said(ask, chat["id"], "Well?")["text"] == "From the script."
    assert ask("PATCH", f"/api/chats/{chat['id']}", json={"agent": "writer"}).json()["agent"] == "writer"
    assert said(ask, chat["id"], "Well?")["text"] == "I never left the quay."
    chosen = ask("POST", "/api/chats", json={**BEGUN, "agent": "writer"}).json()
    assert said(ask, chosen["id"], "Well?")["text"] == "I never left the quay."
    refused: httpx.Response = ask("POST", "/api/chats", json={**BEGUN, "agent": "oracle"})
    assert refused.status_code == 404 and "script, writer" in refused.json()["error"]["message"]


def test_an_agent_that_is_not_served_any_more_is_told_and_another_can_be_chosen(make_context: MakeContext) -> None:
    context = make_context({"script": Scripted(["From the script."] * 9), "writer": Writer()})
    ask = reaching(make_app(context))
    chat = ask("POST", "/api/chats", json={**BEGUN, "agent": "writer"}).json()["id"]
    del context.executor.agents["writer"]
    events = events_of(ask("POST", f"/api/chats/{chat}/messages", json={"text": "Well?"}))
    assert events[-2][0] == "problem" and "choose from script" in events[-2][1]["error"]["message"]
    ask("PATCH", f"/api/chats/{chat}", json={"agent": None})
    assert said(ask, chat, "Well?")["text"] == "From the script."
