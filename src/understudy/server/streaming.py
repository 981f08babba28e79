"""Replies sent while they are written: which part of their pieces can be sent already, and server-sent events.

`ShownPieces`, `StopSequences` and `TokenLimit` take pieces with `feed` and give back what is safe to send; `finish`
gives the rest. A piece may end in the middle of a name or of a stop sequence, so some text is held back until it is
known what follows. Tokens are those of the shipped sentence encoder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import cache
from typing import Any, Literal

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from understudy.language.encoding.encoder import shipped_model
from understudy.story.dialogue import Sampling
from understudy.story.names import ShownNames
from understudy.text import NameReplacer

SHORT = 8_000  # characters whose tokens are counted fast enough for the event loop
TOKENIZER = "tokenizer.json"


class ShownPieces:
    """Pieces with false names in the place of true ones. What may be the beginning of a name is held back."""

    def __init__(self, names: ShownNames) -> None:
        self._names = names
        self._text = ""
        self._sent = 0  # characters of the text with false names

    def feed(self, piece: str) -> str:
        in_text = self._names.in_text
        if not isinstance(in_text, NameReplacer):
            return piece  # nobody goes by a false name
        self._text += piece
        return self._shown(len(self._text) - in_text.undecided(self._text))

    def finish(self) -> str:
        return self._shown(len(self._text))

    def _shown(self, end: int) -> str:
        shown = self._names.in_text(self._text[:end])
        start, self._sent = self._sent, max(self._sent, len(shown))
        return shown[start:]


class StopSequences:
    """Ends a text before the first of some sequences; `is_stopped` says whether one came."""

    def __init__(self, sequences: Sequence[str]) -> None:
        self._sequences, self._pending = tuple(sequences), ""
        self.is_stopped = False

    def feed(self, piece: str) -> str:
        if self.is_stopped:
            return ""
        self._pending += piece
        matches = [index for index in map(self._pending.find, self._sequences) if index >= 0]
        if matches:
            self.is_stopped = True
            end = min(matches)
        else:
            end = len(self._pending) - max(map(self._possible_start, self._sequences), default=0)
        sent, self._pending = self._pending[:end], "" if matches else self._pending[end:]
        return sent

    def finish(self) -> str:
        pending, self._pending = self._pending, ""
        return pending

    def _possible_start(self, sequence: str) -> int:
        """How many characters at the end of the text may be the beginning of a sequence."""
        longest = min(len(sequence) - 1, len(self._pending))
        return next((size for size in range(longest, 0, -1) if self._pending.endswith(sequence[:size])), 0)


class TokenLimit:
    """Ends a text that is being written after so many tokens, whatever its writer makes of the limit."""

    def __init__(self, max_tokens: int | None) -> None:
        self._max_tokens, self._text = max_tokens, ""
        self.is_reached = False

    def feed(self, piece: str) -> str:
        """What may be sent of a piece."""
        if self.is_reached:
            return ""
        sent, self._text = len(self._text), self._text + piece
        if self._max_tokens is not None:
            self._text, self.is_reached = truncate(self._text, self._max_tokens)
        return self._text[sent:]


def cut(text: str, sampling: Sampling) -> tuple[str, Literal["stop", "length"]]:
    """A text that was not written for this request, as far as the request lets it go."""
    stops, limit = StopSequences(sampling.stop), TokenLimit(sampling.max_tokens)
    text = limit.feed(stops.feed(text) + stops.finish())
    return text, "length" if limit.is_reached else "stop"


def truncate(text: str, max_tokens: int) -> tuple[str, bool]:
    """The first tokens of a text, as they are written in it; and whether any were cut off."""
    if len(text) <= max_tokens:  # a token is at least a character
        return text, False
    offsets = _tokenizer().encode(text, add_special_tokens=False).offsets
    if len(offsets) <= max_tokens:
        return text, False
    return text[: offsets[max_tokens][0]].rstrip(), True


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(shipped_model() / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def count_tokens(texts: Sequence[str]) -> list[int]:
    """The number of tokens of each text. Not as a batch, which would start a thread pool for a few words."""
    encode = _tokenizer().encode
    return [len(encode(text, add_special_tokens=False)) for text in texts]


async def total_tokens(texts: Sequence[str]) -> int:
    """The tokens of texts together; many are counted off the event loop."""
    is_short = sum(map(len, texts)) < SHORT
    return sum(count_tokens(texts) if is_short else await asyncio.to_thread(count_tokens, texts))


def server_event(name: str, document: object) -> bytes:
    """A server-sent event, as its bytes."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(document))


class EventStream(StreamingResponse):
    """Server-sent events as a response. A slow client delays only its own stream.

    `left` is called where the client leaves before the last event.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], left: Callable[[], object] | None = None) -> None:
        self._events, self._left = events, left
        super().__init__(events, headers={"cache-control": "no-store", "x-accel-buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        listening = asyncio.ensure_future(self._listen(receive))
        is_whole = False
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for event in self._events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
            is_whole = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            listening.cancel()
            if not is_whole and self._left is not None:
                self._left()
            await self._events.aclose()

    async def _listen(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        if self._left is not None:
            self._left()
