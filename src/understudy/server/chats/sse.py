"""The server-sent events of a request to a chat: the user's message, then the replies word by word.

The service puts events into a queue and does not wait for the client, which may be slow or gone: replies are stored
before they are streamed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import msgspec

from understudy.errors import UnderstudyError
from understudy.server.chats.schemas import MessageDocument
from understudy.server.problems import ProblemDocument, problem_response

__all__ = ["Event", "ReplyStream", "split_tokens"]

TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*|\s+")


class Event(msgspec.Struct):
    """`said` (the user's message, stored), `thinking` (who is about to reply), `reply` (whose first token follows),
    `token`, `done` (the whole message), `problem`, `end`."""

    name: str
    data: bytes

    def encode(self) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), self.data)


class ReplyStream:
    """The events of a request. Setting `stopped` ends the stream before its next event.

    `user_message` is the message that is being answered, and `streamed` are the replies that were queued for streaming.
    `saved` are the replies in the order they were stored; the database's thread fills it within the transaction, so
    that a stop that runs in a later transaction knows every one of them.
    """

    def __init__(self, chat_id: str, pace_s: float) -> None:
        self.chat_id = chat_id
        self.stopped = False
        self.user_message: int | None = None
        self.saved: list[int] = []
        self.streamed: set[int] = set()
        self._started: set[int] = set()
        self._pace_s = pace_s
        self._queue: asyncio.Queue[Event | MessageDocument | UnderstudyError | None] = asyncio.Queue()

    def send(self, name: str, document: object) -> None:
        self._queue.put_nowait(Event(name, msgspec.json.encode(document)))

    def send_reply(self, message: MessageDocument) -> None:
        """Stream a stored reply word by word."""
        self.streamed.add(message.id)
        self._queue.put_nowait(message)

    def unseen(self, after: int | None) -> list[int]:
        """The replies of which the client has seen nothing: those after a message; else those not started yet."""
        if after is not None and after in (self.user_message, *self.saved):
            return self.saved[self.saved.index(after) + 1 :] if after in self.saved else list(self.saved)
        return [reply for reply in self.saved if reply not in self._started]

    def fail(self, error: UnderstudyError) -> None:
        self._queue.put_nowait(error)

    def close(self) -> None:
        self._queue.put_nowait(None)

    async def events(self) -> AsyncIterator[bytes]:
        """The encoded events. An error before the first event is raised: the response has not begun yet."""
        first = await self._queue.get()
        if isinstance(first, UnderstudyError):
            raise first
        return self._events_from(first)

    async def _events_from(self, first: Event | MessageDocument | UnderstudyError | None) -> AsyncIterator[bytes]:
        item = first
        while item is not None:
            if isinstance(item, MessageDocument):
                async for event in self._reply_events(item):
                    yield event
            elif isinstance(item, UnderstudyError):
                document = msgspec.json.decode(problem_response(item).body, type=ProblemDocument)
                yield Event("problem", msgspec.json.encode(document)).encode()
            else:
                yield item.encode()
            if self.stopped:
                return
            item = await self._queue.get()
        yield Event("end", b"{}").encode()

    async def _reply_events(self, message: MessageDocument) -> AsyncIterator[bytes]:
        self._started.add(message.id)
        opening = {"id": message.id, "parent": message.parent, "author": message.author, "when": message.when}
        yield Event("reply", msgspec.json.encode(opening)).encode()
        for token in split_tokens(message.text):
            if self.stopped:
                return
            yield Event("token", msgspec.json.encode({"message": message.id, "text": token})).encode()
            if self._pace_s:
                await asyncio.sleep(self._pace_s)
        yield Event("done", msgspec.json.encode(message)).encode()


def split_tokens(text: str) -> list[str]:
    """Words with the space after them, or characters in scripts without spaces. Joined, they are the text."""
    return TOKEN.findall(text)
