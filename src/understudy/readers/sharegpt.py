"""ShareGPT's form of conversations, which many training sets have: who it is from, and the value.

    {"conversations": [{"from": "system", "value": "You are Odile."},
                       {"from": "human", "value": "..."},
                       {"from": "gpt", "value": "..."}]}

As a JSON list, one object a line, or a single object. `from` may be a character's own name. A `name` beside it says
who speaks in the role. See `conversations` for what becomes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from understudy.readers.conversations import conversation_events
from understudy.readers.events import Event, Reader
from understudy.readers.source import SourceFile

__all__ = ["READER"]

OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[?\s*\{")
TELLING = re.compile(rb'"conversations"\s*:\s*\[\s*(?:\]|\{\s*"(?:from|value|role|content|name|weight)"\s*:)')


def recognises(head: bytes, _path: Path) -> bool:
    return OBJECT.match(head) is not None and TELLING.search(head) is not None


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    return conversation_events(source, "conversations")


READER = Reader("sharegpt", recognises, events)
