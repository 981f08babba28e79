"""Chat messages by role, as servers take them and fine-tuning files keep them.

    {"messages": [{"role": "system", "content": "You are Odile."},
                  {"role": "user", "name": "Bastien", "content": "..."},
                  {"role": "assistant", "content": "..."}]}

One object a line, a JSON list of them, or a single one; also a plain list of messages, which is one conversation.
See `conversations` for what becomes of them.

Open WebUI exports a chat as a tree of messages, of which the branch on its page was said; where several models were
asked, the answers of all were. Models are called by the character that they name: `demo/Zita Karst@2.3` is Zita Karst.

    [{"title": ..., "chat": {"history": {"currentId": "b", "messages": {
        "a": {"id": "a", "parentId": null, "role": "user", "content": "..."},
        "b": {"id": "b", "parentId": "a", "role": "assistant", "model": "demo/Zita Karst@2.3", "content": "..."}}}}}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from understudy.formats.conversations import conversation_events
from understudy.sources.events import Event, Reader
from understudy.sources.source import SourceFile

__all__ = ["READER"]

KEY = "messages"


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    return conversation_events(source, KEY, _branch_shown)


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
        KEY: [_message_of(messages[name]) for name in reversed(branch)],
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


READER = Reader("messages", events)
