"""Server-sent events as a response: each event is sent on its own, and a client that leaves is noticed at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

__all__ = ["EventStream"]


class EventStream(Response):
    """A slow client delays only its own stream. `left` is called where the client leaves before the last event."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], left: Callable[[], object] | None = None) -> None:
        self._events, self._left = events, left
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})

    def init_headers(self, headers: object = None) -> None:
        super().init_headers(headers)  # type: ignore[arg-type]
        self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]

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
