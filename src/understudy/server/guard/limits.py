"""How much one client may ask for: so many requests a second, so many under way at once, bodies of such a size.

    allowance(t) = min(burst, allowance(t') + per_second (t - t')) - 1 for each request taken

A client is whoever holds the key; where there is none, an address.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Allowances", "Limits", "Places"]

MIB = 1024 * 1024
MOST_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    per_second: float = 100.0
    """Requests of one client."""
    burst: int = 500
    open: int = 256
    """Requests of one client that may be under way at once, streams among them."""
    body: int = MIB
    upload: int = 66 * MIB
    """A body that brings a story."""
    headers: int = 100
    head: int = 32 * 1024
    """Bytes of a request's address and headers together."""
    strangers_per_second: float = 1.0
    """Requests of one address without the key, where there is one."""
    strangers_burst: int = 20


class Allowances:
    """How many requests each client may still make."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> int:
        """0 where the request may pass, else after how many seconds to come back."""
        now = self._clock()
        left, since = self._left.get(client, (float(self._burst), now))
        left = min(self._burst, left + self._per_second * (now - since))
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        self._left.move_to_end(client)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return 0 if allowed else max(math.ceil((1 - left) / self._per_second), 1)


class Places:
    """How many requests of each client are under way."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: Counter[str] = Counter()

    def take(self, client: str) -> bool:
        if self._taken[client] >= self._most:
            return False
        self._taken[client] += 1
        return True

    def leave(self, client: str) -> None:
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]
