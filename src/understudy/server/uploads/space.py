"""How much room all uploads take together, those still on their way in included.

One server has a data folder for itself, so what it counts is all there is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from understudy.server.problems import Refused
from understudy.server.uploads.limits import MIB

__all__ = ["Space"]


class Space:
    """Bytes by upload. An upload counts from its first byte, so that several at once cannot pass the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sizes: dict[str, int] = {}
        self._total = 0

    def set(self, upload: str, size: int) -> None:
        """What is known of one; refused where it and all others do not fit."""
        change = size - self._sizes.get(upload, 0)
        if change > 0 and self._total + change > self._limit:
            raise Refused(f"all uploads together may have {self._limit // MIB or 1:,} MB: delete one first", 409)
        self.keep(upload, size)

    def keep(self, upload: str, size: int) -> None:
        """One that is here already, whether it fits or not."""
        self._total += size - self._sizes.get(upload, 0)
        self._sizes[upload] = size

    def release(self, *uploads: str) -> None:
        for upload in uploads:
            self._total -= self._sizes.pop(upload, 0)

    async def counted(self, upload: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The same bytes, counted as they are taken: what is too long by itself is refused by whoever takes it."""
        async for chunk in chunks:
            yield chunk
            self.set(upload, self._sizes.get(upload, 0) + len(chunk))
