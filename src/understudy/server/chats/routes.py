"""The endpoints of chats, and the formats a chat can be exported in: JSON lines, SillyTavern's chat file, Markdown."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from understudy.server.chats import schemas
from understudy.server.chats.scene import MemoryDocument, MemorySwitch, RememberedText
from understudy.server.chats.store import OwnPersona
from understudy.server.operations import EVENTS, Call, Operations
from understudy.server.problems import Refused
from understudy.server.streaming import EventStream
from understudy.story.dialogue import USER_NAME, StreamingAgent

CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

FORMATS: dict[schemas.ExportFormat, tuple[str, str]] = {
    "jsonl": ("application/jsonl", "jsonl"),
    "sillytavern": ("application/jsonl", "sillytavern.jsonl"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
}
"""Format -> its media type, and its file extension."""

HTML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~])")
UNSAFE = re.compile(r"[^A-Za-z0-9]+")


CHAT = "/api/chats/{chat}"
MESSAGE = CHAT + "/messages/{message}"
MEMORY = CHAT + "/memory"
SENTENCE = MEMORY + "/{number}"

OPERATIONS = Operations("chats")


@OPERATIONS("GET", "/api/chats", "Chats, the last changed first")
async def list_chats(call: Call, query: schemas.ChatsQuery) -> schemas.ChatList:
    return schemas.ChatList(await call.context.chats.list_chats(query.deleted))


@OPERATIONS("POST", "/api/chats", "Begin a chat: a story, who is there, when, and who one speaks as", status=201)
async def create(call: Call, body: schemas.NewChat) -> schemas.ChatDocument:
    sampling, speaker = body.sampling.sampling(), _speaker(body.speaker)
    return await call.context.chats.create(
        body.story, body.characters, body.at, speaker, body.agent, body.greeting, sampling
    )


@OPERATIONS("GET", CHAT, "A chat, with the branch that is shown")
async def get(call: Call) -> schemas.ChatDocument:
    return await call.context.chats.get(call.path("chat"))


@OPERATIONS("PATCH", CHAT, "Rename a chat, move it through the story, change who is there, show a branch")
async def update(call: Call, body: schemas.ChatChanges) -> schemas.ChatDocument:
    changes = msgspec.structs.asdict(body)
    changes["title"] = None if body.title is None else await _clean_of_chat(call, body.title)
    changes["speaker"] = body.speaker if isinstance(body.speaker, msgspec.UnsetType) else _speaker(body.speaker)
    return await call.context.chats.update(call.path("chat"), **changes)


@OPERATIONS("DELETE", CHAT, "Delete a chat; for a day it can be restored", status=204)
async def delete(call: Call) -> Response:
    await call.context.chats.delete(call.path("chat"))
    return Response(status_code=204)


@OPERATIONS("POST", CHAT + "/restore", "Bring a deleted chat back")
async def restore(call: Call) -> schemas.ChatDocument:
    return await call.context.chats.restore(call.path("chat"))


@OPERATIONS(
    "POST", CHAT + "/messages", "Say something; events: said, thinking, reply, token, done, problem, end", media=EVENTS
)
async def say(call: Call, body: schemas.NewMessage) -> Response:
    text = await _clean_of_chat(call, body.text)
    return EventStream(*await call.context.chats.say(call.path("chat"), text, body.answerers))


@OPERATIONS(
    "POST", CHAT + "/turns", "Let somebody of the scene speak without saying anything", media=EVENTS, refuses=(409,)
)
async def take_turns(call: Call, body: schemas.NewTurn) -> Response:
    return EventStream(*await call.context.chats.take_turns(call.path("chat"), body.characters))


@OPERATIONS("POST", CHAT + "/stop", "Stop the reply that is being streamed; what was seen of it is kept")
async def stop(call: Call, body: schemas.StopRequest) -> schemas.ChatDocument:
    return await call.context.chats.stop(call.path("chat"), body.message, body.seen, body.after)


@OPERATIONS("POST", MESSAGE + "/retry", "The next best reply, beside this one", media=EVENTS, refuses=(409,))
async def retry(call: Call) -> Response:
    return EventStream(*await call.context.chats.retry(call.path("chat"), _number(call, "message")))


@OPERATIONS("POST", MESSAGE + "/continue", "A reply with what comes after it, beside it", media=EVENTS, refuses=(409,))
async def continue_reply(call: Call) -> Response:
    return EventStream(*await call.context.chats.continue_reply(call.path("chat"), _number(call, "message")))


@OPERATIONS("POST", MESSAGE + "/edit", "Say something else in a message's place: a new branch", media=EVENTS)
async def edit(call: Call, body: schemas.EditedMessage) -> Response:
    number, text = _number(call, "message"), await _clean_of_chat(call, body.text)
    return EventStream(*await call.context.chats.edit(call.path("chat"), number, text))


@OPERATIONS("DELETE", MESSAGE, "Delete a message and what followed it")
async def remove_message(call: Call) -> schemas.ChatDocument:
    return await call.context.chats.remove_message(call.path("chat"), _number(call, "message"))


@OPERATIONS("POST", MESSAGE + "/restore", "Bring back the message that was deleted last, with what followed it")
async def restore_message(call: Call) -> schemas.ChatDocument:
    return await call.context.chats.restore_message(call.path("chat"), _number(call, "message"))


@OPERATIONS("POST", MESSAGE + "/branch", "A new chat from here", status=201)
async def branch(call: Call) -> schemas.ChatDocument:
    return await call.context.chats.branch(call.path("chat"), _number(call, "message"))


@OPERATIONS("GET", MEMORY, "What the characters of a chat were told by its user, who is remembered", tag="memory")
async def get_memory(call: Call) -> MemoryDocument:
    return await call.context.memory.get(call.path("chat"))


@OPERATIONS("PATCH", MEMORY, "Remember the user of a chat by a name from now on; null: no longer", tag="memory")
async def switch_memory(call: Call, body: MemorySwitch) -> MemoryDocument:
    name = None if body.name is None else await _clean_of_chat(call, body.name)
    return await call.context.memory.switch(call.path("chat"), name)


@OPERATIONS(
    "DELETE", MEMORY, "Forget everything that the characters of a chat were told by its user", refuses=(409,),
    tag="memory",
)  # fmt: skip
async def forget_all(call: Call) -> MemoryDocument:
    return await call.context.memory.forget(call.path("chat"))


@OPERATIONS("PATCH", SENTENCE, "Change a sentence that is remembered", refuses=(409,), tag="memory")
async def edit_remembered(call: Call, body: RememberedText) -> MemoryDocument:
    number, text = _number(call, "number"), await _clean_of_chat(call, body.text)
    return await call.context.memory.edit(call.path("chat"), number, text)


@OPERATIONS("DELETE", SENTENCE, "Forget a sentence", refuses=(409,), tag="memory")
async def forget_remembered(call: Call) -> MemoryDocument:
    return await call.context.memory.forget(call.path("chat"), _number(call, "number"))


@OPERATIONS("POST", MEMORY + "/undo", "Undo the last change of what is remembered", refuses=(409,), tag="memory")
async def undo_memory(call: Call) -> MemoryDocument:
    return await call.context.memory.undo(call.path("chat"))


@OPERATIONS("GET", "/api/agents", "Who can find the words for a character")
async def list_agents(call: Call) -> schemas.AgentList:
    agents = call.context.executor.agents.items()
    return schemas.AgentList([schemas.AgentDocument(name, isinstance(agent, StreamingAgent)) for name, agent in agents])


@OPERATIONS("GET", "/api/personas", "Those of one's own that were spoken as")
async def list_personas(call: Call) -> schemas.PersonaList:
    personas = await call.context.chats.list_personas()
    return schemas.PersonaList([schemas.SpeakerPersona(persona.name, persona.description) for persona in personas])


@OPERATIONS("DELETE", "/api/personas/{name}", "Forget one of one's own; chats keep theirs", status=204)
async def delete_persona(call: Call) -> Response:
    await call.context.chats.delete_persona(call.path("name"))
    return Response(status_code=204)


@OPERATIONS("GET", CHAT + "/export", "A chat to take away: jsonl, sillytavern or markdown", media="application/jsonl")
async def export(call: Call, query: schemas.ExportQuery) -> Response:
    chat, texts = await call.context.chats.get_with_texts(call.path("chat"))
    media_type, extension = FORMATS[query.format]
    stem = UNSAFE.sub("-", chat.title)[:60].strip("-").lower() or "chat"
    disposition = {"Content-Disposition": f'attachment; filename="{stem}.{extension}"'}
    return Response(_render(chat, query.format, texts).encode(), media_type=media_type, headers=disposition)


def _speaker(speaker: str | schemas.SpeakerPersona | None) -> str | OwnPersona | None:
    if not isinstance(speaker, schemas.SpeakerPersona):
        return speaker
    return OwnPersona(" ".join(_clean(speaker.name).split()), _clean(speaker.description))


def _number(call: Call, what: str) -> int:
    text = call.path(what)
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise Refused(f"there is no such {what}: its number is not one", 404)
    return int(text)


def _clean(text: str) -> str:
    """Text without control characters, with uniform line ends."""
    clean = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    clean = CONTROL_CHARACTERS.sub("", clean).strip()
    if not clean:
        raise Refused("there is nothing to say in that message: write something", 400, "text")
    return clean


async def _clean_of_chat(call: Call, text: str) -> str:
    """The same of a text that is for a chat: where there is no such chat, that is what is told."""
    try:
        return _clean(text)
    except Refused:
        await call.context.chats.get(call.path("chat"))
        raise


def _render(chat: schemas.ChatDocument, form: schemas.ExportFormat, texts: Mapping[int, str]) -> str:
    """The chat in a format; `texts` has the text of every message, those of other branches too."""
    if form == "markdown":
        return "\n".join(_markdown(chat))
    plain = ({"moment": each.moment, "speaker": each.author, "text": each.text} for each in chat.messages)
    rows = _sillytavern(chat, texts) if form == "sillytavern" else plain
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _sillytavern(chat: schemas.ChatDocument, texts: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    """A header, then a message a line; the alternatives to a reply are its swipes."""
    yield {
        "user_name": chat.speaker or USER_NAME,
        "character_name": ", ".join(character.name for character in chat.characters),
        "create_date": chat.created,
        "chat_metadata": {"understudy": {"story": chat.story, "at": chat.at}},
    }
    for message in chat.messages:
        row = {
            "name": message.author,
            "is_user": message.by == "user",
            "is_system": False,
            "send_date": message.created,
            "mes": message.text,
            "extra": {"understudy": {"moment": message.moment}},
        }
        if message.by == "character":
            row["swipe_id"] = message.siblings.index(message.id)
            row["swipes"] = [texts[sibling] for sibling in message.siblings]
        yield row


def _markdown(chat: schemas.ChatDocument) -> Iterator[str]:
    yield f"# {_escape(chat.title or 'Chat')}\n"
    moment = None
    for message in chat.messages:
        if message.moment != moment:
            moment = message.moment
            yield f"## {_escape(message.when)}\n"
        suffix = " *(cut off)*" if message.state == "cut" else ""
        text = "  \n".join(_escape(line) for line in message.text.splitlines())
        yield f"**{_escape(message.author)}:** {text}{suffix}\n"


def _escape(text: str) -> str:
    """Plain text for Markdown, which may contain HTML."""
    return MARKDOWN_SPECIAL.sub(r"\\\1", text.translate(HTML_ESCAPES))
