"""ShareGPT's form of conversations, which many training sets have: who it is from, and the value.

    {"conversations": [{"from": "system", "value": "You are Odile."},
                       {"from": "human", "value": "..."},
                       {"from": "gpt", "value": "..."}]}

As a JSON list, one object a line, or a single object. `from` may be a character's own name. A `name` beside it says
who speaks in the role. See `conversations` for what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from understudy.formats.conversations import conversation_events
from understudy.sources.events import Event, Reader
from understudy.sources.source import SourceFile

__all__ = ["READER"]

KEY = "conversations"


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    return conversation_events(source, KEY)


READER = Reader("sharegpt", events)
