"""One request to a chat while it is told: its events, in order, from the one who talks to the one who listens.

The listener may be slow, or gone; the talk does not wait for it, and what was said is kept either way.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import msgspec

from understudy.errors import UnderstudyError
from understudy.server.chats.documents import MessageDocument
from understudy.server.problems import ProblemDocument, problem_response

__all__ = ["Event", "Telling", "pieces"]

PIECE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*|\s+")


class Event(msgspec.Struct):
    """`said` (the user's message is kept), `thinking` (who is about to answer), `reply` (whose first word follows),
    `token`, `done` (a message, whole), `problem`, `end`."""

    name: str
    data: bytes

    def encoded(self) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), self.data)


class Telling:
    """`told` are the replies it tells, and `stopped` is set by whoever wants to hear no more of them.

    `asked` is the message of the user that is answered. `kept` are the replies in the order they were put into the
    database; its thread fills it, within the transaction, so that a stop that comes after finds every one of them.
    """

    def __init__(self, chat: str, pace: float) -> None:
        self.chat, self.stopped, self.told = chat, False, set[int]()
        self.asked: int | None = None
        self.kept: list[int] = []
        self._begun: set[int] = set()
        self._pace = pace
        self._waiting: asyncio.Queue[Event | MessageDocument | UnderstudyError | None] = asyncio.Queue()

    def tell(self, name: str, document: object) -> None:
        self._waiting.put_nowait(Event(name, msgspec.json.encode(document)))

    def speak(self, message: MessageDocument) -> None:
        """Tell a reply, word for word. It is kept already."""
        self.told.add(message.id)
        self._waiting.put_nowait(message)

    def unseen(self, after: int | None) -> list[int]:
        """The replies of which the listener has seen nothing: those after a message; else those not begun yet."""
        if after is not None and after in (self.asked, *self.kept):
            return self.kept[self.kept.index(after) + 1 :] if after in self.kept else list(self.kept)
        return [one for one in self.kept if one not in self._begun]

    def fail(self, error: UnderstudyError) -> None:
        self._waiting.put_nowait(error)

    def end(self) -> None:
        self._waiting.put_nowait(None)

    async def events(self) -> AsyncIterator[bytes]:
        """What is told, as server-sent events. An error before the first event is raised, as there is no answer yet."""
        first = await self._waiting.get()
        if isinstance(first, UnderstudyError):
            raise first
        return self._from(first)

    async def _from(self, first: Event | MessageDocument | UnderstudyError | None) -> AsyncIterator[bytes]:
        one = first
        while one is not None:
            if isinstance(one, MessageDocument):
                async for event in self._word_for_word(one):
                    yield event
            elif isinstance(one, UnderstudyError):
                document = msgspec.json.decode(problem_response(one).body, type=ProblemDocument)
                yield Event("problem", msgspec.json.encode(document)).encoded()
            else:
                yield one.encoded()
            if self.stopped:
                return
            one = await self._waiting.get()
        yield Event("end", b"{}").encoded()

    async def _word_for_word(self, message: MessageDocument) -> AsyncIterator[bytes]:
        self._begun.add(message.id)
        begun = {"id": message.id, "parent": message.parent, "author": message.author, "when": message.when}
        yield Event("reply", msgspec.json.encode(begun)).encoded()
        for piece in pieces(message.text):
            if self.stopped:
                return
            yield Event("token", msgspec.json.encode({"message": message.id, "text": piece})).encoded()
            if self._pace:
                await asyncio.sleep(self._pace)
        yield Event("done", msgspec.json.encode(message)).encoded()


def pieces(text: str) -> list[str]:
    """A text in the pieces it is told in: words, or characters where a script has no spaces. Joined, they are it."""
    return PIECE.findall(text)
