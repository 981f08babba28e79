"""A chat to take away: JSON lines, a chat file that SillyTavern imports, or Markdown to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from understudy.server.chats.documents import OWN_NAME, ChatDocument

__all__ = ["FORMATS", "Format", "file_name", "written"]

Format = Literal["jsonl", "sillytavern", "markdown"]
FORMATS: dict[Format, tuple[str, str]] = {
    "jsonl": ("application/jsonl", "jsonl"),
    "sillytavern": ("application/jsonl", "sillytavern.jsonl"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
}
"""Format -> its media type, and how its files end."""

HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~])")
UNSAFE = re.compile(r"[^A-Za-z0-9]+")


def written(chat: ChatDocument, form: Format, texts: Mapping[int, str]) -> str:
    """The chat in a format; `texts` has what every message of it says, those of other branches too."""
    if form == "sillytavern":
        return _lines(_sillytavern(chat, texts))
    if form == "markdown":
        return "\n".join(_paragraphs(chat))
    return _lines({"moment": one.moment, "speaker": one.author, "text": one.text} for one in chat.messages)


def file_name(chat: ChatDocument, form: Format) -> str:
    """A name for the file, of plain letters whatever the title holds."""
    stem = UNSAFE.sub("-", chat.title)[:60].strip("-").lower()
    return f"{stem or 'chat'}.{FORMATS[form][1]}"


def _sillytavern(chat: ChatDocument, texts: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    """A header, then a message a line; other tries of a reply are its swipes."""
    yield {
        "user_name": chat.speaker or OWN_NAME,
        "character_name": ", ".join(character.name for character in chat.characters),
        "create_date": chat.created,
        "chat_metadata": {"understudy": {"story": chat.story, "at": chat.at}},
    }
    for one in chat.messages:
        message = {
            "name": one.author,
            "is_user": one.by == "user",
            "is_system": False,
            "send_date": one.created,
            "mes": one.text,
            "extra": {"understudy": {"moment": one.moment}},
        }
        if one.by == "character":
            message["swipe_id"] = one.siblings.index(one.id)
            message["swipes"] = [texts[number] for number in one.siblings]
        yield message


def _paragraphs(chat: ChatDocument) -> Iterator[str]:
    yield f"# {_plain(chat.title or 'Chat')}\n"
    here = None
    for one in chat.messages:
        if one.moment != here:
            here = one.moment
            yield f"## {_plain(one.when)}\n"
        ended = " *(cut off)*" if one.state == "cut" else ""
        text = "  \n".join(_plain(line) for line in one.text.splitlines())
        yield f"**{_plain(one.author)}:** {text}{ended}\n"


def _lines(documents: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)


def _plain(text: str) -> str:
    """Text that Markdown, and the HTML that may stand in it, leave as it is."""
    return SPECIAL.sub(r"\\\1", text.translate(HTML))
