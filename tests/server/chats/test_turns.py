"""A scene of several: who answers, what each has heard, turns without a message, and a reply that goes on."""

from __future__ import annotations

from typing import Any

import pytest

from server.chats.conftest import Events, Remembering, events_of
from server.chats.test_service import begin, reaching, said, texts
from server.conftest import Ask, MakeContext
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.story.dialogue import DEFAULT_SAMPLING, Sampling
from writers import PIECES, Writer

BOTH = {"characters": ["Ines Vale", "Tobias Rook"], "at": "2.2"}


def post(ask: Ask, chat: str, path: str, **body: Any) -> Events:
    return events_of(ask("POST", f"/api/chats/{chat}{path}", json=body))


def authors(ask: Ask, chat: str) -> list[str]:
    return [author for author, _ in texts(ask, chat)]


def last_id(ask: Ask, chat: str) -> int:
    return int(ask("GET", f"/api/chats/{chat}").json()["messages"][-1]["id"])


def test_both_get_turns_and_the_user_may_ask_for_anybody(ask: Ask) -> None:
    chat = begin(ask, **BOTH)
    for text in ("It rains.", "Still.", "Tobias, does it?"):
        said(ask, chat, text)
    assert authors(ask, chat)[1::2] == ["Ines Vale", "Tobias Rook", "Tobias Rook"]
    post(ask, chat, "/messages", text="And you?", answerers=["Tobias Rook"])
    post(ask, chat, "/messages", text="Tobias, and all of you?", answerers=["Tobias Rook", "Ines Vale"])
    assert authors(ask, chat)[7:] == ["Tobias Rook", "You", "Tobias Rook", "Ines Vale"]
    message = ask("GET", f"/api/chats/{chat}").json()["messages"][-3]["id"]
    again = post(ask, chat, f"/messages/{message}/retry")  # as it was asked for
    assert [data["author"] for name, data in again if name == "done"] == ["Tobias Rook", "Ines Vale"]


def test_each_of_those_asked_answers_the_user(remembering: tuple[Remembering, AppContext]) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, **BOTH)
    said(ask, chat, "Ines, Tobias, where is the key?")
    assert authors(ask, chat) == ["You", "Ines Vale", "Tobias Rook"]
    situation, history = agent.heard[-1]
    assert situation.persona.name == "Tobias Rook"
    assert [turn.speaker for turn in history] == ["Ines Vale", "You"]
    assert history[-1].text == "Ines, Tobias, where is the key?"
    post(ask, chat, "/turns", characters=["Ines Vale"])
    assert [turn.speaker for turn in agent.heard[-1][1]] == ["You", "Ines Vale", "Tobias Rook"]


def test_they_talk_on_without_the_user(remembering: tuple[Remembering, AppContext]) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, **BOTH)
    assert ask("POST", f"/api/chats/{chat}/turns", json={}).status_code == 409
    said(ask, chat, "Ines, what of the key?")
    post(ask, chat, "/turns")
    assert authors(ask, chat) == ["You", "Ines Vale", "Tobias Rook"]
    situation, history = agent.heard[-1]
    assert situation.persona.name == "Tobias Rook"
    assert [turn.speaker for turn in history] == ["You", "Ines Vale"]
    post(ask, chat, "/turns", characters=["Ines Vale", "Tobias Rook"])
    assert authors(ask, chat)[3:] == ["Ines Vale", "Tobias Rook"]
    elsewhere = ask("POST", f"/api/chats/{chat}/turns", json={"characters": ["Mara Quill"]})
    assert elsewhere.status_code == 400


def test_whoever_comes_later_has_not_heard_what_was_said_before(remembering: tuple[Remembering, AppContext]) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, characters=["Ines Vale"], at="2.2")
    said(ask, chat, "Tobias has the key, but do not tell him.")
    ask("PATCH", f"/api/chats/{chat}", json={"characters": ["Ines Vale", "Tobias Rook"]})
    said(ask, chat, "Tobias, good evening.")
    situation, history = agent.heard[-1]
    assert situation.persona.name == "Tobias Rook"
    assert [turn.text for turn in history] == ["Tobias, good evening."]
    said(ask, chat, "Ines?")
    assert [turn.text for turn in agent.heard[-1][1]][::2] == [
        "Tobias has the key, but do not tell him.",
        "Tobias, good evening.",
        "Ines?",
    ]


def test_a_reply_goes_on_beside_itself(make_context: MakeContext) -> None:
    writer = Writer()
    ask = reaching(make_app(make_context(writer)))
    chat = begin(ask)
    said(ask, chat, "Where were you?")
    first = "".join(PIECES)
    writer.pieces = ("Not ", "once.")
    events = post(ask, chat, f"/messages/{last_id(ask, chat)}/continue")
    assert texts(ask, chat)[-1] == ("Ines Vale", f"{first} Not once.")
    assert "".join(data["text"] for name, data in events if name == "token") == f"{first} Not once."
    assert writer.heard[-1][1][-1].text == first
    shown = ask("GET", f"/api/chats/{chat}").json()["messages"][-1]
    assert len(shown["siblings"]) == 2  # what stood there can be shown again
    writer.pieces = ("Never.",)
    post(ask, chat, "/turns")  # alone in the scene, whoever spoke last goes on as well
    assert texts(ask, chat)[-1] == ("Ines Vale", f"{first} Not once. Never.")
    user = ask("GET", f"/api/chats/{chat}").json()["messages"][0]["id"]
    assert ask("POST", f"/api/chats/{chat}/messages/{user}/continue").status_code == 409


def test_an_agent_that_chooses_goes_on_too_or_says_that_there_is_nothing_to_add(ask: Ask) -> None:
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    post(ask, chat, f"/messages/{last_id(ask, chat)}/continue")
    assert texts(ask, chat)[-1][1].startswith("This is the line numbered 1. This is the line numbered")


@pytest.mark.parametrize("when", ["at the start", "later"])
def test_settings_reach_what_writes(make_context: MakeContext, when: str) -> None:
    writer = Writer()
    ask = reaching(make_app(make_context(writer)))
    settings = {"temperature": 1.25, "top_p": 0.5, "max_tokens": 64, "seed": 7}
    chat = begin(ask, **({"sampling": settings} if when == "at the start" else {}))
    if when == "later":
        said(ask, chat, "Hm?")
        assert writer.samplings == [DEFAULT_SAMPLING]
        changed = ask("PATCH", f"/api/chats/{chat}", json={"sampling": settings})
        assert changed.json()["sampling"] == settings
    said(ask, chat, "Where were you?")
    assert writer.samplings[-1] == Sampling(1.25, 0.5, 64, seed=7)
    writer.pieces = ("Elsewhere.",)
    post(ask, chat, f"/messages/{last_id(ask, chat)}/retry")
    assert writer.samplings[-1].seed not in (None, 7)  # another try of the same seed is another text
    branch = ask("POST", f"/api/chats/{chat}/messages/{last_id(ask, chat)}/branch").json()
    assert branch["sampling"] == settings
    assert ask("PATCH", f"/api/chats/{chat}", json={"sampling": {}}).json()["sampling"] == {}
    assert ask("PATCH", f"/api/chats/{chat}", json={"sampling": {"temperature": 9}}).status_code == 400


def test_a_deleted_chat_can_be_brought_back(ask: Ask) -> None:
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    before = texts(ask, chat)
    assert ask("DELETE", f"/api/chats/{chat}").status_code == 204
    assert ask("GET", f"/api/chats/{chat}").status_code == 404
    assert ask("GET", "/api/chats").json()["chats"] == []
    (deleted,) = ask("GET", "/api/chats", params={"deleted": "true"}).json()["chats"]
    assert (deleted["id"], deleted["title"]) == (chat, "Where is the key?")
    assert ask("POST", f"/api/chats/{chat}/restore").status_code == 200
    assert texts(ask, chat) == before
    assert ask("POST", f"/api/chats/{chat}/restore").status_code == 404
    assert ask("GET", "/api/chats", params={"deleted": "true"}).json()["chats"] == []


def test_a_deleted_message_can_be_brought_back(ask: Ask) -> None:
    chat = begin(ask)
    for text in ("Where is the key?", "And the hook?"):
        said(ask, chat, text)
    before = texts(ask, chat)
    message = f"/api/chats/{chat}/messages/{ask('GET', f'/api/chats/{chat}').json()['messages'][1]['id']}"
    assert ask("DELETE", message).status_code == 200
    assert texts(ask, chat) == before[:1]
    assert ask("POST", f"{message}/restore").status_code == 200
    assert texts(ask, chat) == before
    assert ask("POST", f"{message}/restore").status_code == 404


def test_chats_that_begin_alike_are_told_apart_by_what_was_said_last(ask: Ask) -> None:
    for follow_up in ("And the hook?", "And the rain?"):
        chat = begin(ask)
        said(ask, chat, "Where is the key?")
        said(ask, chat, follow_up)
    listed = ask("GET", "/api/chats").json()["chats"]
    assert [item["last_said"] for item in listed] == ["And the rain?", "And the hook?"]
