"""A reply told in pieces: joined they are the reply, and nothing is told after it was stopped."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.chats.documents import MessageDocument, Why
from understudy.server.chats.telling import Telling, pieces
from understudy.server.problems import Refused


def message(text: str) -> MessageDocument:
    return MessageDocument(3, 2, "character", "Ines Vale", text, "2.1", "Act 2, scene 1", None, "whole", "", [3], Why())


async def heard(telling: Telling) -> list[tuple[str, object]]:
    found = []
    async for event in await telling.events():
        name, data = event.decode().strip().split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@given(st.text())
def test_the_pieces_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert all(pieces(text))


def test_pieces_are_words_or_characters_of_a_script_without_spaces() -> None:
    assert pieces("You must be cold.") == ["You ", "must ", "be ", "cold."]
    assert pieces("手紙です。") == ["手", "紙", "で", "す", "。"]


def test_a_reply_is_told_word_for_word_and_then_whole() -> None:
    async def telling() -> list[tuple[str, object]]:
        told = Telling("chat", 0)
        told.tell("said", {"id": 2})
        told.speak(message('Get\nout, <script>"'))
        told.end()
        return await heard(told)

    events = asyncio.run(telling())
    assert [name for name, _ in events] == ["said", "reply", "token", "token", "token", "done", "end"]
    assert "".join(data["text"] for name, data in events if name == "token") == 'Get\nout, <script>"'  # type: ignore[index]
    assert events[-2][1]["text"] == 'Get\nout, <script>"'  # type: ignore[index]


def test_after_a_stop_nothing_more_is_told() -> None:
    async def stopping() -> list[str]:
        told = Telling("chat", 0)
        told.speak(message("One two three four"))
        told.end()
        found = []
        async for event in await told.events():
            found.append(event.decode().split("\n")[0])
            if len(found) == 3:
                told.stopped = True
        return found

    assert asyncio.run(stopping()) == ["event: reply", "event: token", "event: token"]


def test_an_error_before_anything_was_told_is_raised_and_later_it_is_an_event() -> None:
    async def failing(first: bool) -> list[tuple[str, object]]:
        told = Telling("chat", 0)
        if not first:
            told.tell("said", {"id": 2})
        told.fail(Refused("the disk is full", 507))
        told.end()
        return await heard(told)

    with pytest.raises(Refused, match="the disk is full"):
        asyncio.run(failing(first=True))
    events = asyncio.run(failing(first=False))
    assert [name for name, _ in events] == ["said", "problem", "end"]
    assert events[1][1]["error"]["message"] == "the disk is full"  # type: ignore[index]
