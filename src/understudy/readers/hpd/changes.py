"""From a state that is stated anew at every moment to what changed: since when, and until when.

Annotators write down all they know of a character chapter by chapter. Told as it stands, that is the same thing
hundreds of times, and nothing ever ends; a `Ledger` keeps what holds, and hands out a span when it is over.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from understudy.story import Moment, Source

__all__ = ["Ledger", "Span"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Span(Generic[Key, Value]):
    """`value` holds from `since` on, until `until` if it is known to end."""

    key: Key
    value: Value
    since: Moment
    until: Moment | None
    source: Source


@dataclass(slots=True)
class Ledger(Generic[Key, Value]):
    """What holds at the moment that was told last. Moments must be told in their order."""

    _holding: dict[Key, Span[Key, Value]] = field(default_factory=dict)
    _told: dict[Key, Moment] = field(default_factory=dict)

    def tell(
        self, key: Key, value: Value | None, chapter: Moment, scene: Moment, source: Source
    ) -> Span[Key, Value] | None:
        """Note the value (None: it does not hold), and return the span this ends, if it ends one.

        A change is dated by its chapter; a second one within the chapter by its scene.
        """
        since = scene if self._told.get(key) == chapter else chapter
        self._told[key] = chapter
        held = self._holding.get(key)
        if held is not None and held.value == value:
            return None
        if value is None:
            self._holding.pop(key, None)
        else:
            self._holding[key] = Span(key, value, since, None, source)
        return None if held is None else Span(key, held.value, held.since, since, held.source)

    def rest(self) -> Iterator[Span[Key, Value]]:
        """What holds to the end."""
        yield from self._holding.values()
