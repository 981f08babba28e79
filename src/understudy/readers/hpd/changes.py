"""Turns states that are repeated at every moment into spans: since when a value holds, and until when.

Annotators write down all they know of a character chapter by chapter, the same values hundreds of times and without an
end. A `ChangeLog` remembers the current values and returns a span whenever one has ended.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from understudy.story import Moment, Source

__all__ = ["ChangeLog", "DatedSpan"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class DatedSpan(Generic[Key, Value]):
    """`value` holds from `since` on, until `until` if it is known to end."""

    key: Key
    value: Value
    since: Moment
    until: Moment | None
    source: Source


@dataclass(slots=True)
class ChangeLog(Generic[Key, Value]):
    """The values that hold at the last recorded moment. Moments must be recorded in order."""

    _holding: dict[Key, DatedSpan[Key, Value]] = field(default_factory=dict)
    _last_chapters: dict[Key, Moment] = field(default_factory=dict)

    def record(
        self, key: Key, value: Value | None, chapter: Moment, scene: Moment, source: Source
    ) -> DatedSpan[Key, Value] | None:
        """Record the value (None: it does not hold), and return the span this ends, if it ends one.

        A change is dated by its chapter; a second one within the chapter by its scene.
        """
        since = scene if self._last_chapters.get(key) == chapter else chapter
        self._last_chapters[key] = chapter
        current = self._holding.get(key)
        if current is not None and current.value == value:
            return None
        if value is None:
            self._holding.pop(key, None)
        else:
            self._holding[key] = DatedSpan(key, value, since, None, source)
        return None if current is None else DatedSpan(key, current.value, current.since, since, current.source)

    def open_spans(self) -> Iterator[DatedSpan[Key, Value]]:
        """The spans that have not ended."""
        yield from self._holding.values()
