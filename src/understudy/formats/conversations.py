"""Conversations as training sets and servers keep them: a record is a conversation, a conversation a scene.

ShareGPT's form, and chat messages by role:

    {"conversations": [{"from": "system", "value": "You are Odile."},
                       {"from": "human", "value": "..."},
                       {"from": "gpt", "value": "..."}]}
    {"messages": [{"role": "system", "content": "You are Odile."},
                  {"role": "user", "name": "Bastien", "content": "..."},
                  {"role": "assistant", "content": "..."}]}

A file is a JSON list of records, one a line, or a single one; it may also be the messages of one conversation, without
a record around them. `from` may be a character's own name. In both forms
- a message of the user or the assistant is a speech, by the name that it carries, or that of its role;
- a system prompt is a description. Where it says plainly 'You are NAME', the assistant is called that;
- calls of tools and what they return are listed as unread: nobody says them.

Counted are conversations, their messages and prompts, and (once) whatever else a record has beside its id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from understudy.formats.export import write_rows
from understudy.sources import Description, Event, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.jsonstream import json_records, shown_json
from understudy.sources.names import DeclaredNames
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story
from understudy.story.types import Line, Source
from understudy.text import one_line

CONVERSATIONS, MESSAGE_LIST = "conversations", "messages"  # keys of a record
USER, ASSISTANT = "User", "Assistant"
ROLES: Mapping[str, str] = {
    **dict.fromkeys(("human", "user", "prompter"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bot", "bing", "bard"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "function_call", "tool_call", "function_response", "observation"), "tool"),
}
"""What programs write for each of the four roles."""

KEYS = (("from", "role"), ("value", "content"), ("name", "name"))
NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\.\s)?[^\W\d_a-z][\w'’-]*(?:\s(?:(?:de|von|van|of)\s)?[^\W\d_a-z][\w'’-]*){0,3}"
YOU_ARE = re.compile(
    rf"\bYou(?:\sare|['’]re)\s({NAME})(?=\s*(?:[,.;:!?(\n—–]|$)|\s(?:-|from|in|and|the|who|of|at|on)\s)"
)
NO_NAME = frozenset({"a", "an", "the", "not", "now", "my", "your", "i", "ai", "no", "one"})
SAYS_NOTHING = "says nothing"
LONGEST_SHOWN = 200


class RoleMessage(NamedTuple):
    """One message: a role as it was written, the name it carries, and its text."""

    role: str
    name: str
    text: str


def parse_message(message: Any) -> RoleMessage | None:
    """A message with `from` and `value`, or with `role` and `content`; None for what is neither."""
    if not isinstance(message, dict):
        return None
    role, content, name = (message.get(keys[0], message.get(keys[1])) for keys in KEYS)
    if isinstance(content, list):  # parts, of which only those that are text are talk
        texts = (part.get("text") for part in content if isinstance(part, dict))
        content = "\n".join(text for text in texts if isinstance(text, str))
    if not isinstance(role, str) or not isinstance(content, str | None):
        return None
    if not content and (message.get("tool_calls") or message.get("function_call")):
        role = "tool"
    return RoleMessage(one_line(role), one_line(name) if isinstance(name, str) else "", (content or "").strip())


def conversation_events(
    source: SourceFile, key: str, prepare: Callable[[Any], Any] = lambda record: record
) -> Iterator[Event]:
    """The stream of events of a file of conversations, whose messages each have in a list under `key`.

    `prepare` makes such a record of one that has them in another way.
    """
    yield Opening()
    reading = _ConversationReading(source, key)
    for location, record in json_records(source):
        yield from reading.record(source.at(location.line), prepare(record))


class _ConversationReading:
    """One pass over the records. Names are those of accounts, not labels to be merged: each is declared."""

    def __init__(self, source: SourceFile, key: str) -> None:
        self.source, self.key = source, key
        self.declared = DeclaredNames()
        self.assistant = ASSISTANT
        self.is_bare = False

    def record(self, at: Source, record: Any) -> Iterator[Event]:
        messages = record.get(self.key) if isinstance(record, dict) else None
        if isinstance(messages, list):
            self.is_bare = False
            yield from self._conversation(at, record, messages)
        elif parse_message(record) is not None:
            if not self.is_bare:
                self.is_bare, self.assistant = True, ASSISTANT
                yield SceneStart(at, "", units=0)
            yield from self._message(at, record)
        else:
            self.source.units += 1
            yield Unread(at, shown_json(record), f"is no conversation: it has no list of {self.key}")

    def _conversation(self, at: Source, record: Mapping[str, Any], messages: Sequence[Any]) -> Iterator[Event]:
        self.assistant = ASSISTANT
        self.source.units += 1
        setting = record.get("setting")
        yield SceneStart(at, setting if isinstance(setting, str) else "")
        system = record.get("system")
        if isinstance(system, str) and system.strip():
            yield from self._prompt(at, system)
        for message in messages:
            yield from self._message(at, message)
        known = {self.key, "id", "setting", "system"}
        more = {key: value for key, value in record.items() if key not in known and value not in (None, "", [])}
        if more:
            self.source.units += 1
            yield Unread(at, shown_json(more), f"not talk: {', '.join(list(more)[:5])[:LONGEST_SHOWN]}")

    def _message(self, at: Source, message: Any) -> Iterator[Event]:
        parsed = parse_message(message)
        role = "" if parsed is None else ROLES.get(parsed.role.casefold(), "")
        if parsed is not None and role == "system" and parsed.text:
            yield from self._prompt(at, parsed.text)
            return
        self.source.units += 1
        if parsed is None:
            yield Unread(at, shown_json(message), "is no message: it has no role or no text")
        elif role == "tool":
            yield Unread(at, shown_json(message), "a call of a tool, or what it returned: nobody says it")
        elif not parsed.text:
            yield Unread(at, shown_json(message), SAYS_NOTHING)
        else:
            by_role = {"user": USER, "assistant": self.assistant}
            speaker = parsed.name or by_role.get(role) or parsed.role
            if not speaker:
                yield Description(at, parsed.text)
                return
            yield from self.declared.entries(at, speaker)
            yield Speech(at, (speaker,), parsed.text)

    def _prompt(self, at: Source, text: str) -> Iterator[Event]:
        self.source.units += 1
        self.assistant = _named_in(text) or self.assistant
        yield Description(at, text)


def _named_in(prompt: str) -> str | None:
    """Whom a prompt says that the assistant is."""
    match = YOU_ARE.search(prompt)
    if match is None or match[1].split()[0].casefold() in NO_NAME:
        return None
    return one_line(match[1])


# Open WebUI exports a chat as a tree of messages, of which the branch on its page was said; where several models were
# asked, the answers of all were. Models are called by the character that they name: `demo/Zita Karst@2.3` is Zita
# Karst.
#
#     [{"title": ..., "chat": {"history": {"currentId": "b", "messages": {
#         "a": {"id": "a", "parentId": null, "role": "user", "content": "..."},
#         "b": {"id": "b", "parentId": "a", "role": "assistant", "model": "demo/Zita Karst@2.3", "content": "..."}}}}}]


def _branch_shown(record: Any) -> Any:
    """An exported chat of Open WebUI as a list of messages; any other record as it is."""
    chat = record.get("chat") if isinstance(record, dict) else None
    history = chat.get("history") if isinstance(chat, dict) else None
    tree = history.get("messages") if isinstance(history, dict) else None
    if not isinstance(chat, dict) or not isinstance(history, dict) or not isinstance(tree, dict):
        return record
    messages = {name: message for name, message in tree.items() if isinstance(message, dict)}
    answers: dict[str, list[str]] = {}
    for name, message in messages.items():
        if message.get("role") == "assistant" and isinstance(message.get("parentId"), str):
            answers.setdefault(message["parentId"], []).append(name)
    branch: list[str] = []
    at, seen = history.get("currentId"), set[str]()
    while isinstance(at, str) and at in messages and at not in seen:
        parent = messages[at].get("parentId")
        together = [at]
        if messages[at].get("role") == "assistant" and isinstance(parent, str):
            together = _asked_together(at, answers[parent], messages)
        branch += reversed(together)
        seen.update(together)
        at = parent
    parameters = chat.get("params")
    return {
        "id": record.get("id"),
        "system": parameters.get("system") if isinstance(parameters, dict) else None,
        MESSAGE_LIST: [_message_of(messages[name]) for name in reversed(branch)],
        "other tries": [message for name, message in tree.items() if name not in seen],
    }


def _asked_together(shown: str, answers: Sequence[str], messages: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The answer on the page and the newest one of each other model that was asked, in the order of the models."""
    by_model = {_model_index(messages[name]): name for name in answers}
    by_model[_model_index(messages[shown])] = shown
    return [by_model[index] for index in sorted(by_model)]


def _model_index(message: Mapping[str, Any]) -> int:
    index = message.get("modelIdx")
    return index if isinstance(index, int) else 0


def _message_of(message: Mapping[str, Any]) -> dict[str, Any]:
    user, model = message.get("user"), message.get("model")
    name = user.get("name") if isinstance(user, dict) else None
    if isinstance(model, str) and "/" in model:
        name = unquote(model.partition("/")[2].partition("@")[0].partition("#")[0])
    return {"role": message.get("role"), "name": name, "content": message.get("content")}


SHAREGPT = Reader("sharegpt", lambda source: conversation_events(source, CONVERSATIONS))
MESSAGES = Reader("messages", lambda source: conversation_events(source, MESSAGE_LIST, _branch_shown))


# Written, each scene is a record. Without a character, `from` is whoever speaks, and everybody is a user. For a
# character its own turns are `gpt` (`assistant`), those of others `human` (`user`), each with the `name` beside the
# role. Descriptions are `system`. Read back these are the same scenes; who was present without a word is not kept.


def export_sharegpt(story: Story, stream: IO[str], character: str | None = None, ascii_only: bool = False) -> int:
    """Returns how many lines were written."""

    def turn(line: Line) -> dict[str, str]:
        if line.speaker is None:
            return {"from": "system", "value": line.text}
        if character is None and line.speaker.casefold() not in ROLES:
            return {"from": line.speaker, "value": line.text}
        role = "gpt" if line.speaker == character else "human"
        return {"from": role, "name": line.speaker, "value": line.text}

    return _write_scenes(story, stream, CONVERSATIONS, turn, ascii_only)


def export_messages(story: Story, stream: IO[str], character: str | None = None, ascii_only: bool = False) -> int:
    """Returns how many lines were written."""

    def message(line: Line) -> dict[str, str]:
        if line.speaker is None:
            return {"role": "system", "content": line.text}
        role = "assistant" if line.speaker == character else "user"
        return {"role": role, "name": line.speaker, "content": line.text}

    return _write_scenes(story, stream, MESSAGE_LIST, message, ascii_only)


def _write_scenes(
    story: Story, stream: IO[str], key: str, turn: Callable[[Line], dict[str, str]], ascii_only: bool
) -> int:
    """One object a scene, its turns under `key`."""
    records = (
        {"id": scene.moment.dotted, "setting": scene.setting, key: list(map(turn, scene.lines))}
        for scene in story.scenes()
    )
    write_rows(records, stream, ascii_only)
    return story.count()[1]
