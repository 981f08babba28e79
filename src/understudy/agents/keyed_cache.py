"""An LRU cache for values that are costly to create and shared between threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["KeyedCache"]

Value = TypeVar("Value")


class _Entry(Generic[Value]):
    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.lock = Lock()
        self.values: list[Value] = []  # empty until created, so that None can be a value


class KeyedCache(Generic[Value]):
    """Thread-safe LRU cache: concurrent callers of one key wait for a single `create()`, others do not wait."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._lock = Lock()

    def get_or_create(self, key: Hashable, owner: object, create: Callable[[], Value]) -> Value:
        """The value of a key. The entry keeps `owner` alive, so that an `id()` in the key cannot be reused."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(owner)
                if len(self._entries) > self._capacity:
                    self._entries.popitem(last=False)
            self._entries.move_to_end(key)
        with entry.lock:
            if not entry.values:
                entry.values.append(create())
            return entry.values[0]
