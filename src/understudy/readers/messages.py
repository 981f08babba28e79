"""Chat messages by role, as servers take them and fine-tuning files keep them.

    {"messages": [{"role": "system", "content": "You are Odile."},
                  {"role": "user", "name": "Bastien", "content": "..."},
                  {"role": "assistant", "content": "..."}]}

One object a line, a JSON list of them, or a single one; also a plain list of messages, which is one conversation.
See `conversations` for what becomes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from understudy.readers.conversations import conversation_events, has_messages
from understudy.readers.events import Event, Reader
from understudy.readers.source import SourceFile

__all__ = ["READER"]

KEY = "messages"
BARE = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*(?:"(?:name|content)"\s*:\s*"(?:[^"\\]|\\.)*+"\s*,\s*)*+'
    rb'"role"\s*:\s*"(?:system|developer|user|assistant|tool)"'
)


def recognises(head: bytes, _path: Path) -> bool:
    return BARE.match(head) is not None or has_messages(head, KEY)


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    return conversation_events(source, KEY)


READER = Reader("messages", recognises, events)
