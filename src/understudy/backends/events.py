"""Server-sent events as OpenAI-compatible servers send them: one JSON document each, and '[DONE]' at the end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

__all__ = ["DONE", "NotEvents", "event_documents", "looks_like_events"]

DONE: Final = object()
FIELD = re.compile(rb"\s*(?:data|event|id|retry)?:")
LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
LONGEST_EVENT = 4 * 1024 * 1024


class NotEvents(ValueError):
    """Something else than events; its text is what came."""


def looks_like_events(start: bytes) -> bool:
    """Whether a body that starts so is a stream of events, whatever its content type says."""
    return FIELD.match(start) is not None


def event_documents(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The documents of a stream, as soon as each is whole; `DONE` where the server says that it is through.

    A document that is whole does not wait for the empty line after it: some servers send none. Comments and other
    fields are passed over.
    """
    pending = b""
    for line in _lines(pieces):
        name, _, value = line.partition(b":")
        if not line.strip():
            if pending.strip():
                raise NotEvents(pending.decode("utf-8", "replace"))
            pending = b""
        elif name == b"data":
            pending = pending + b"\n" + value if pending else value
            if pending.strip() == b"[DONE]":
                yield DONE
                pending = b""
            elif (document := _parsed(pending)) is not None:
                yield document
                pending = b""
            elif len(pending) > LONGEST_EVENT:
                raise NotEvents(pending[:1000].decode("utf-8", "replace"))
        elif name not in (b"", b"event", b"id", b"retry"):
            raise NotEvents(line.decode("utf-8", "replace"))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    buffer = b""
    for piece in pieces:
        buffer += piece
        *lines, buffer = LINE_END.split(buffer)
        yield from lines
        if len(buffer) > LONGEST_EVENT:
            raise NotEvents(buffer[:1000].decode("utf-8", "replace"))
    if buffer.startswith(b"data:"):  # cut off, or a server that ends without a line end
        yield buffer.removesuffix(b"\r")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
