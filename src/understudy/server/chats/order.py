"""One at a time of each kind, in the order they came."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Order"]


class Order:
    """Keeps only the queues that somebody stands in."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._standing: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(name, asyncio.Lock())
        self._standing[name] += 1
        try:
            async with lock:  # a lock lets them in as they came
                yield
        finally:
            self._standing[name] -= 1
            if not self._standing[name]:
                del self._standing[name], self._locks[name]
