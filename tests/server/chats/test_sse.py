"""A reply as a stream of events: its tokens joined are the reply, and nothing is sent after a stop."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.chats.replies import ReplyStream, split_tokens
from understudy.server.chats.schemas import MessageDocument, Why
from understudy.server.problems import Refused


def message(text: str) -> MessageDocument:
    return MessageDocument(3, 2, "character", "Ines Vale", text, "2.1", "Act 2, scene 1", None, "whole", "", [3], Why())


async def received(stream: ReplyStream) -> list[tuple[str, object]]:
    events = []
    async for event in await stream.events():
        name, data = event.decode().strip().split("\n")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


@given(st.text())
def test_the_tokens_are_the_text(text: str) -> None:
    assert "".join(split_tokens(text)) == text
    assert all(split_tokens(text))


def test_tokens_are_words_or_characters_of_a_script_without_spaces() -> None:
    assert split_tokens("You must be cold.") == ["You ", "must ", "be ", "cold."]
    assert split_tokens("手紙です。") == ["手", "紙", "で", "す", "。"]


def test_a_reply_is_streamed_word_by_word_and_then_whole() -> None:
    async def streaming() -> list[tuple[str, object]]:
        stream = ReplyStream("chat", 0)
        stream.send("said", {"id": 2})
        stream.send_reply(message('Get\nout, <script>"'))
        stream.close()
        return await received(stream)

    events = asyncio.run(streaming())
    assert [name for name, _ in events] == ["said", "reply", "token", "token", "token", "done", "end"]
    assert "".join(data["text"] for name, data in events if name == "token") == 'Get\nout, <script>"'  # type: ignore[index]
    assert events[-2][1]["text"] == 'Get\nout, <script>"'  # type: ignore[index]


def test_after_a_stop_nothing_more_is_sent() -> None:
    async def stopping() -> list[str]:
        stream = ReplyStream("chat", 0)
        stream.send_reply(message("One two three four"))
        stream.close()
        names = []
        async for event in await stream.events():
            names.append(event.decode().split("\n")[0])
            if len(names) == 3:
                stream.stopped = True
        return names

    assert asyncio.run(stopping()) == ["event: reply", "event: token", "event: token"]


def test_an_error_before_the_first_event_is_raised_and_later_it_is_an_event() -> None:
    async def failing(first: bool) -> list[tuple[str, object]]:
        stream = ReplyStream("chat", 0)
        if not first:
            stream.send("said", {"id": 2})
        stream.fail(Refused("the disk is full", 507))
        stream.close()
        return await received(stream)

    with pytest.raises(Refused, match="the disk is full"):
        asyncio.run(failing(first=True))
    events = asyncio.run(failing(first=False))
    assert [name for name, _ in events] == ["said", "problem", "end"]
    assert events[1][1]["error"]["message"] == "the disk is full"  # type: ignore[index]
