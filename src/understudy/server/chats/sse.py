"""The server-sent events of a request to a chat: the user's message, then the replies piece by piece.

The service puts events into a queue and does not wait for the client, which may be slow or gone. A reply that was
chosen whole is stored first and then sent word by word; one that is written is sent as it comes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import msgspec

from understudy.cancellation import Cancellation
from understudy.errors import UnderstudyError
from understudy.server.chats.schemas import MessageDocument
from understudy.server.chats.store import Message
from understudy.server.problems import ProblemDocument, problem_response

__all__ = ["Event", "LiveReply", "ReplyStream", "split_tokens"]

TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*|\s+")


class Event(msgspec.Struct):
    """`said` (the user's message, stored), `thinking` (who is about to reply), `reply` (whose first token follows),
    `token`, `done` (the whole message), `problem`, `end`."""

    name: str
    data: bytes

    def encode(self) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), self.data)


Item = Event | MessageDocument | UnderstudyError


@dataclass(slots=True)
class LiveReply:
    """A reply while it is written. Its id is reserved; the database has it from its first piece on, a moment later."""

    id: int
    parent: int | None
    message: Message
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class ReplyStream:
    """The events of a request. `stop` ends the stream before its next event, and whatever is being written.

    `user_message` is the message that is being answered, and `streamed` are the replies that were queued for streaming.
    `saved` are the replies in the order they were stored; the database's thread fills it within the transaction, so
    that a stop that runs in a later transaction knows every one of them. `live` is the reply that is being written.
    """

    def __init__(self, chat_id: str, pace_s: float) -> None:
        self.chat_id = chat_id
        self.stopped = False
        self.cancellation = Cancellation()
        self.live: LiveReply | None = None
        self.user_message: int | None = None
        self.saved: list[int] = []
        self.streamed: set[int] = set()
        self._started: set[int] = set()
        self._pace_s = pace_s
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue()

    def stop(self) -> None:
        self.stopped = True
        self.cancellation.cancel()

    def leave(self) -> None:
        """The client has gone: what is being written is broken off; a reply that is chosen whole will be stored."""
        self.cancellation.cancel()

    def send(self, name: str, document: object) -> None:
        self._queue.put_nowait(Event(name, msgspec.json.encode(document)))

    def begin_reply(self, live: LiveReply, opening: object) -> None:
        """Announce a reply that is being written."""
        self.live = live
        self.streamed.add(live.id)
        self._started.add(live.id)
        self.send("reply", opening)

    def send_piece(self, piece: str) -> None:
        assert self.live is not None
        self.live.pieces.append(piece)
        self.send("token", {"message": self.live.id, "text": piece})

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

    async def events(self) -> AsyncGenerator[bytes, None]:
        """The encoded events. An error before the first event is raised: the response has not begun yet."""
        first = await self._queue.get()
        if isinstance(first, UnderstudyError):
            raise first
        return self._events_from(first)

    async def _events_from(
        self, first: Event | MessageDocument | UnderstudyError | None
    ) -> AsyncGenerator[bytes, None]:
        item = first
        while item is not None and not self.stopped:
            if isinstance(item, MessageDocument):
                async for event in self._reply_events(item):
                    yield event
            elif isinstance(item, UnderstudyError):
                document = msgspec.json.decode(problem_response(item).body, type=ProblemDocument)
                yield Event("problem", msgspec.json.encode(document)).encode()
            else:
                yield item.encode()
            if not self.stopped:
                item = await self._queue.get()
        if not self.stopped:
            yield Event("end", b"{}").encode()

    async def _reply_events(self, message: MessageDocument) -> AsyncGenerator[bytes, None]:
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
