"""Replies that are written: streamed as they come, stopped with what writes them, and kept as far as they came."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from server.chats.conftest import events_of
from server.chats.test_service import BEGUN
from server.conftest import MakeContext, serving
from timing import until
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.story.dialogue import Candidate
from writers import PIECES, Writer

TEXT = "".join(PIECES)


class Chatting:
    """A chat with a writer, over a real server."""

    def __init__(self, writer: Writer, context: AppContext, client: httpx.Client) -> None:
        self.writer, self.context, self.client = writer, context, client
        self.path = f"/api/chats/{client.post('/api/chats', json=BEGUN).json()['id']}"

    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.client.get(self.path).json()["messages"]
        return messages

    def say(self, text: str = "Well?") -> list[tuple[str, Any]]:
        return events_of(self.client.post(f"{self.path}/messages", json={"text": text}))

    def saying(self) -> Any:
        return self.client.stream("POST", f"{self.path}/messages", json={"text": "Well?"})


def next_events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


@pytest.fixture
def chatting(make_context: MakeContext) -> Iterator[Callable[[Writer], Chatting]]:
    opened: list[Any] = []

    def make(writer: Writer) -> Chatting:
        context = make_context(writer)
        server = serving(make_app(context))
        client = httpx.Client(base_url=server.__enter__(), timeout=120)
        opened.extend((server, client))
        return Chatting(writer, context, client)

    yield make
    for server, client in zip(opened[::2], opened[1::2]):
        client.close()
        server.__exit__(None, None, None)


Make = Callable[[Writer], Chatting]


def test_pieces_are_events_as_they_come_and_the_reply_is_stored_whole(chatting: Make) -> None:
    chat = chatting(Writer(gated=True))
    with chat.saying() as response:
        events = next_events(response.iter_lines())
        assert [next(events)[0] for _ in range(2)] == ["said", "thinking"]
        chat.writer.release()
        assert next(events)[0] == "reply"
        assert next(events)[1]["text"] == PIECES[0]
        assert chat.writer.written == [PIECES[0]]  # the second is not written yet
        until(lambda: len(chat.messages()) == 2)
        assert [(message["text"], message["state"]) for message in chat.messages()[1:]] == [(PIECES[0], "cut")]
        chat.writer.release(len(PIECES))
        names = [name for name, _ in events]
    assert names == ["token"] * (len(PIECES) - 1) + ["done", "end"]
    user, reply = chat.messages()
    assert (reply["text"], reply["state"], user["unanswered"]) == (TEXT, "whole", False)
    assert reply["siblings"] == [reply["id"]] and reply["parent"] == user["id"]


def test_a_stop_stops_the_writing_and_keeps_what_was_seen(chatting: Make) -> None:
    chat = chatting(Writer(gated=True))
    with chat.saying() as response:
        events = next_events(response.iter_lines())
        chat.writer.release(3)
        for name, data in events:
            if name == "token" and data["text"] == PIECES[2]:
                break
        stop = {"message": data["message"], "seen": 2}
        stopped = chat.client.post(f"{chat.path}/stop", json=stop).json()
    assert chat.writer.ended.wait(120)
    assert chat.writer.written == list(PIECES[:3])
    assert [message["text"] for message in stopped["messages"]] == ["Well?", "I never"]
    user, reply = chat.messages()
    assert (reply["text"], reply["state"], user["unanswered"]) == ("I never", "cut", False)
    chat.writer.gated = False
    assert chat.say("And then?")[-2][1]["text"] == TEXT


def test_a_stop_before_the_first_piece_stops_the_writing_too(chatting: Make) -> None:
    chat = chatting(Writer(gated=True))
    with chat.saying() as response:
        events = next_events(response.iter_lines())
        said = next(events)[1]
        assert chat.writer.begun.wait(120)
        chat.client.post(f"{chat.path}/stop", json={"after": said["id"]})
    assert chat.writer.ended.wait(120)
    assert chat.writer.written == []
    assert [(message["text"], message["unanswered"]) for message in chat.messages()] == [("Well?", False)]


def test_a_stop_of_what_goes_on_keeps_what_stood_there_and_what_was_seen_of_the_rest(chatting: Make) -> None:
    chat = chatting(Writer())
    chat.say("Well?")
    before = chat.messages()[-1]
    chat.writer.gated, chat.writer.pieces = True, ("Never ", "in ", "my life.")
    chat.writer.ended.clear()
    going_on = f"{chat.path}/messages/{before['id']}/continue"
    with chat.client.stream("POST", going_on) as response:
        events = next_events(response.iter_lines())
        chat.writer.release(2)
        tokens = (data for name, data in events if name == "token")
        first, second = next(tokens), next(tokens)
        assert (first["text"], second["text"]) == (f"{TEXT} Never ", "in ")
        stopped = chat.client.post(f"{chat.path}/stop", json={"message": first["message"], "seen": 1}).json()
    assert chat.writer.ended.wait(120)
    user, reply = stopped["messages"]
    assert (reply["text"], reply["state"]) == (f"{TEXT} Never", "cut")
    assert reply["siblings"] == [before["id"], reply["id"]] and not user["unanswered"]
    with chat.client.stream("POST", going_on) as response:  # and before anything of the rest is seen
        assert next(next_events(response.iter_lines()))[0] == "thinking"
        assert len(chat.client.post(f"{chat.path}/stop", json={}).json()["messages"]) == 2
    assert len(chat.messages()[-1]["siblings"]) == 2


def test_a_client_that_leaves_stops_the_writing_and_what_came_is_kept(chatting: Make) -> None:
    chat = chatting(Writer(gated=True))
    with chat.saying() as response:
        events = next_events(response.iter_lines())
        chat.writer.release(2)
        while next(events)[1].get("text") != PIECES[1]:
            pass
    assert chat.writer.ended.wait(120)
    assert chat.writer.written == list(PIECES[:2])
    until(lambda: [message["text"] for message in chat.messages()] == ["Well?", "I never"])
    assert chat.messages()[1]["state"] == "cut"


def test_a_back_end_that_fails_before_its_first_piece_leaves_the_message_to_be_answered(chatting: Make) -> None:
    chat = chatting(Writer(fails_at=0))
    events = chat.say()
    assert [name for name, _ in events] == ["said", "thinking", "problem", "end"]
    assert "broke off" in events[2][1]["error"]["message"]
    (message,) = chat.messages()
    assert message["unanswered"]
    chat.writer.fails_at = None
    retried = events_of(chat.client.post(f"{chat.path}/messages/{message['id']}/retry"))
    assert retried[-2][1]["text"] == TEXT
    assert not chat.messages()[0]["unanswered"]


def test_a_back_end_that_fails_in_mid_sentence_leaves_what_it_wrote_and_the_reason(chatting: Make) -> None:
    chat = chatting(Writer(fails_at=3))
    events = chat.say()
    assert [name for name, _ in events][-2:] == ["problem", "end"]
    user, reply = chat.messages()
    assert (reply["text"], reply["state"], user["unanswered"]) == ("I never left", "cut", False)
    assert [item["kind"] for item in reply["why"]["evidence"]] == ["problem"]
    assert "broke off" in reply["why"]["evidence"][0]["text"]
    chat.writer.fails_at = None
    retried = events_of(chat.client.post(f"{chat.path}/messages/{reply['id']}/retry"))
    assert retried[-2][1]["text"] == TEXT and len(retried[-2][1]["siblings"]) == 2


def test_what_was_kept_back_is_never_the_next_best_reply(chatting: Make) -> None:
    candidates = (
        Candidate(TEXT, 0.9, source="writer"),
        Candidate("It was the Prior.", 0.8, source="writer", rejected="names somebody absent"),
        Candidate("", 0.7, rejected="not known yet"),
        Candidate("Ask me tomorrow.", 0.6, source="bank"),
    )
    chat = chatting(Writer(candidates=candidates))
    reply = chat.say()[-2][1]
    assert [item["rejected"] for item in reply["why"]["candidates"]] == [item.rejected for item in candidates]
    retried = events_of(chat.client.post(f"{chat.path}/messages/{reply['id']}/retry"))
    assert retried[-2][1]["text"] == "Ask me tomorrow."


def test_a_chat_that_is_deleted_stops_the_writing(chatting: Make) -> None:
    chat = chatting(Writer(gated=True))
    with chat.saying():
        assert chat.writer.begun.wait(120)
        assert chat.client.delete(chat.path).status_code == 204
        assert chat.writer.ended.wait(120)
    assert chat.client.get(chat.path).status_code == 404


def test_a_stop_that_comes_after_the_end_changes_nothing(chatting: Make) -> None:
    chat = chatting(Writer(candidates=(Candidate(TEXT, 0.9),)))
    with chat.saying() as response:
        events = next_events(response.iter_lines())
        reply = next(data for name, data in events if name == "done")
        stop = {"message": reply["id"], "seen": len(PIECES)}
        user, stopped = chat.client.post(f"{chat.path}/stop", json=stop).json()["messages"]
    assert (stopped["text"], stopped["state"], user["unanswered"]) == (TEXT, "whole", False)
    assert stopped["why"]["candidates"]


def test_the_database_says_cut_until_the_reply_is_whole(chatting: Make) -> None:
    """So that a server that is killed has what was seen, marked as cut off."""
    chat = chatting(Writer(gated=True))
    with chat.saying() as response:
        events = next_events(response.iter_lines())
        chat.writer.release()
        while next(events)[0] != "token":
            pass
        until(lambda: len(chat.messages()) == 2)
        with sqlite3.connect(chat.context.database.location) as db:
            assert db.execute("SELECT text, state FROM messages WHERE answers").fetchall() == [(PIECES[0], "cut")]
        db.close()
        chat.writer.release(len(PIECES))
        list(events)
