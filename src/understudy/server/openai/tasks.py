"""What chat programs ask behind the user's back: titles, tags, next questions. Answered at once, by no character.

Open WebUI sends such a request as a message of its own that begins with '### Task:' and says which JSON it wants:

    {"title": ...}  {"tags": [...]}  {"follow_ups": [...]}  {"queries": [...]}  {"text": ...}  {"prompt": ...}

A character would answer it in character, which no program can read, and each costs a run of a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from understudy.server.chats.store import title_from
from understudy.server.story_registry import ServedCharacter
from understudy.story.dialogue import Evidence, Reply

__all__ = ["task_reply"]

TASK = re.compile(r"\s*#{2,3} Task:\s*\n", re.IGNORECASE)
CHAT = re.compile(r"#{2,3} Chat History:|<chat_history>", re.IGNORECASE)
WANTED = re.compile(r"[{,]\s*\\?\"(title|tags|follow_ups|queries|text|prompt)\\?\"\s*:")
EMOJI = re.compile(r"\bemoji\b", re.IGNORECASE)
TOOLS = re.compile(r"\bavailable tools\b.*\btool_calls\b", re.IGNORECASE | re.DOTALL)
SAID = re.compile(r"^(?P<role>USER|ASSISTANT):[ \t]*(?P<text>.*)$", re.MULTILINE)
GREETING = re.compile(
    r"^(?:good (?:morning|day|afternoon|evening|night)|hello|hi|hey|greetings)\b[^.!?,]{0,40}[.!?,]\s*", re.IGNORECASE
)
TITLE_LETTERS = 40
FOLLOW_UPS = 3
ANSWERED = Evidence("notice", "asked by the program, not by its user: answered without a model")


def task_reply(role: str, text: str, system: Sequence[str], character: ServedCharacter) -> Reply | None:
    """The reply to a request that a program makes by itself; None where somebody talks to the character."""
    if role != "user":
        return None
    if any(map(TOOLS.search, system)):
        return _reply({"tool_calls": []})
    if TASK.match(text) is None:
        return None
    task, chat = [*CHAT.split(text, maxsplit=1), ""][:2]
    wanted = WANTED.search(task)
    if wanted is None:
        return Reply("🙂", evidence=(ANSWERED,)) if EMOJI.search(task) else None
    return _reply({wanted[1]: _value(wanted[1], chat, character)})


def _reply(document: object) -> Reply:
    return Reply(msgspec.json.encode(document).decode(), evidence=(ANSWERED,))


def _value(wanted: str, chat: str, character: ServedCharacter) -> object:
    said = [match["text"].strip() for match in SAID.finditer(chat) if match["role"] == "USER"]
    if wanted == "title":
        return _title(said, character)
    if wanted == "tags":
        return list(dict.fromkeys(filter(None, (character.shown_name, character.situation.persona.story))))
    if wanted == "follow_ups":
        return _follow_ups(said, character)
    return [] if wanted == "queries" else ""


def _title(said: Sequence[str], character: ServedCharacter) -> str:
    """The character, and what the chat began with."""
    first = GREETING.sub("", said[0]) if said else ""
    name = character.shown_name
    first = re.sub(rf"^(?:{re.escape(name)}|{re.escape(name.split()[0])})\b[\s,.!]*", "", first, flags=re.IGNORECASE)
    title = title_from(first, TITLE_LETTERS)
    return f"{name}: {title}" if title else name


def _follow_ups(said: Sequence[str], character: ServedCharacter) -> list[str]:
    """Questions about whom the character has ties to; nobody is named whom it does not know by then."""
    persona = character.shown_situation.persona
    if persona.language != "en":
        return []
    names = dict.fromkeys(tie.to for tie in sorted(persona.relations, key=lambda tie: tie.since.numbers, reverse=True))
    questions = ["What do you do all day?", *(f"What do you think of {name}?" for name in names), "Who are you?"]
    asked = {text.casefold() for text in said}
    return [question for question in questions if question.casefold() not in asked][:FOLLOW_UPS]
