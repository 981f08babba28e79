"""Limits on requests: rate and concurrency by client, and sizes.

A client is whoever uses one of the keys; on a server without keys, an IP address.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["ConcurrencyLimiter", "RequestLimits", "TokenBuckets"]

MIB = 1024 * 1024
MAX_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class RequestLimits:
    per_second: float = 100.0
    """Requests of one client."""
    burst: int = 500
    concurrent: int = 256
    """Requests of one client that may be in progress at a time, including event streams."""
    body_bytes: int = MIB
    upload_bytes: int = 66 * MIB
    """For requests that upload a story."""
    headers: int = 100
    head_bytes: int = 32 * 1024
    """Path, query and headers together."""
    keyless_per_second: float = 1.0
    """Requests of one address without a key, on a server that needs one."""
    keyless_burst: int = 20


class TokenBuckets:
    """A token bucket for each client.

    tokens(t) = min(burst, tokens(t') + per_second (t - t')) - 1 for each request allowed
    """

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> int:
        """0 if the request is allowed, else after how many seconds to try again."""
        now = self._clock()
        tokens, last = self._buckets.get(client, (float(self._burst), now))
        tokens = min(self._burst, tokens + self._per_second * (now - last))
        allowed = tokens >= 1
        self._buckets[client] = (tokens - 1 if allowed else tokens, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return 0 if allowed else max(math.ceil((1 - tokens) / self._per_second), 1)


class ConcurrencyLimiter:
    """Counts the requests of each client that are in progress."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._active: Counter[str] = Counter()

    def acquire(self, client: str) -> bool:
        if self._active[client] >= self._limit:
            return False
        self._active[client] += 1
        return True

    def release(self, client: str) -> None:
        self._active[client] -= 1
        if not self._active[client]:
            del self._active[client]
