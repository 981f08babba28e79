"""The operations of chats."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from starlette.responses import Response, StreamingResponse

from understudy.server.chats.documents import ChatDocument, ChatList
from understudy.server.chats.exports import FORMATS, Format, file_name, written
from understudy.server.operations import Call, Operation
from understudy.server.problems import Refused

__all__ = ["OPERATIONS"]

LONGEST = 4000
NOT_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class NewChat(msgspec.Struct, forbid_unknown_fields=True):
    story: Name
    characters: Annotated[list[Name], msgspec.Meta(min_length=1, max_length=20)]
    at: Name = "end"
    speaker: Annotated[Name | None, msgspec.Meta(description="who of the story one speaks as; null is oneself")] = None


class ChangedChat(msgspec.Struct, forbid_unknown_fields=True):
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    at: Name | None = None
    characters: Annotated[list[Name], msgspec.Meta(min_length=1, max_length=20)] | None = None
    speaker: Name | msgspec.UnsetType | None = msgspec.UNSET
    shown: Annotated[Number | None, msgspec.Meta(description="a message whose branch is to be shown")] = None


class NewMessage(msgspec.Struct, forbid_unknown_fields=True):
    text: Text


class Stopped(msgspec.Struct, forbid_unknown_fields=True):
    message: Annotated[Number | None, msgspec.Meta(description="the reply that was being told, if one was")] = None
    seen: Annotated[Number, msgspec.Meta(description="how many of its tokens were seen")] = 0
    after: Annotated[Number | None, msgspec.Meta(description="the last message that was said, or done")] = None


class Wanted(msgspec.Struct):
    format: Format = "jsonl"


async def all_chats(call: Call) -> ChatList:
    return ChatList(await call.context.chats.all())


async def create(call: Call) -> ChatDocument:
    asked: NewChat = call.body
    return await call.context.chats.create(asked.story, asked.characters, asked.at, asked.speaker)


async def read(call: Call) -> ChatDocument:
    return await call.context.chats.read(call.path("chat"))


async def change(call: Call) -> ChatDocument:
    asked: ChangedChat = call.body
    return await call.context.chats.change(
        call.path("chat"),
        title=None if asked.title is None else _clean(asked.title),
        at=asked.at,
        characters=asked.characters,
        speaker=asked.speaker,
        shown=asked.shown,
    )


async def delete(call: Call) -> Response:
    await call.context.chats.delete(call.path("chat"))
    return Response(status_code=204)


async def say(call: Call) -> Response:
    asked: NewMessage = call.body
    return _streamed(await call.context.chats.say(call.path("chat"), _clean(asked.text)))


async def stop(call: Call) -> ChatDocument:
    asked: Stopped = call.body
    return await call.context.chats.stop(call.path("chat"), asked.message, asked.seen, asked.after)


async def retry(call: Call) -> Response:
    return _streamed(await call.context.chats.retry(call.path("chat"), _message(call)))


async def edit(call: Call) -> Response:
    asked: NewMessage = call.body
    return _streamed(await call.context.chats.edit(call.path("chat"), _message(call), _clean(asked.text)))


async def remove(call: Call) -> ChatDocument:
    return await call.context.chats.remove(call.path("chat"), _message(call))


async def branch(call: Call) -> ChatDocument:
    return await call.context.chats.branch(call.path("chat"), _message(call))


async def export(call: Call) -> Response:
    asked: Wanted = call.query
    chat, texts = await call.context.chats.read_all(call.path("chat"))
    text = written(chat, asked.format, texts)
    return Response(
        text.encode(),
        media_type=FORMATS[asked.format][0],
        headers={"Content-Disposition": f'attachment; filename="{file_name(chat, asked.format)}"'},
    )


CHAT = "/api/chats/{chat}"
MESSAGE = CHAT + "/messages/{message}"
EVENTS = "text/event-stream"

OPERATIONS = (
    Operation("GET", "/api/chats", all_chats, "Chats, the last changed first", ChatList, tag="chats"),
    Operation("POST", "/api/chats", create, "Begin a chat: a story, who is there, when, and who one speaks as",
              ChatDocument, body=NewChat, status=201, refuses=(404,), tag="chats"),
    Operation("GET", CHAT, read, "A chat, with the branch that is shown", ChatDocument, refuses=(404,), tag="chats"),
    Operation("PATCH", CHAT, change, "Rename a chat, move it through the story, change who is there, show a branch",
              ChatDocument, body=ChangedChat, refuses=(404,), tag="chats"),
    Operation("DELETE", CHAT, delete, "Delete a chat", status=204, refuses=(404,), tag="chats"),
    Operation("POST", CHAT + "/messages", say,
              "Say something; events: said, thinking, reply, token, done, problem, end",
              media=EVENTS, body=NewMessage, refuses=(404,), tag="chats"),
    Operation("POST", CHAT + "/stop", stop, "Stop the reply that is being told; what was seen of it is kept",
              ChatDocument, body=Stopped, refuses=(404,), tag="chats"),
    Operation("POST", MESSAGE + "/retry", retry, "The next best reply, beside this one", media=EVENTS,
              refuses=(404, 409), tag="chats"),
    Operation("POST", MESSAGE + "/edit", edit, "Say something else in a message's place: a new branch", media=EVENTS,
              body=NewMessage, refuses=(404,), tag="chats"),
    Operation("DELETE", MESSAGE, remove, "Delete a message and what followed it", ChatDocument, refuses=(404,),
              tag="chats"),
    Operation("POST", MESSAGE + "/branch", branch, "A new chat from here", ChatDocument, status=201, refuses=(404,),
              tag="chats"),
    Operation("GET", CHAT + "/export", export, "A chat to take away: jsonl, sillytavern or markdown",
              media="application/jsonl", query=Wanted, refuses=(404,), tag="chats"),
)  # fmt: skip


def _message(call: Call) -> int:
    told = call.path("message")
    if not told.isascii() or not told.isdigit() or len(told) > 15:
        raise Refused("there is no such message: its number is not one", 404)
    return int(told)


def _clean(text: str) -> str:
    """What was typed, without characters that are no text, line ends made alike."""
    clean = NOT_TEXT.sub("", unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))).strip()
    if not clean:
        raise Refused("there is nothing to say in that message: write something", 400, "text")
    return clean


def _streamed(events: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(
        events, media_type=EVENTS, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )
