"""Does a file tell what another has told already? Two files may give the same position to one episode that was written
down twice (an uncut version), or to two that only count from the same number: what people say in them decides.
"""

from __future__ import annotations

from collections.abc import Iterable

from understudy.readers.events import Event, Speech

__all__ = ["LOOK_AHEAD", "SpeechIndex"]

LOOK_AHEAD = 400  # events of a file that are compared
MOST = 300  # speeches of a chapter that are remembered
FEWEST_BYTES = 16  # of a speech's letters, for it to be no 'Yes.'
ALIKE = 0.2  # share of a second version's speeches that the first has; of other texts next to none


class SpeechIndex:
    """The first speeches at each position of a story, by a hash of their letters."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[int, ...], set[int]] = {}

    def add(self, position: tuple[int, ...], text: str) -> None:
        hashes = self._hashes.setdefault(position, set())
        if len(hashes) < MOST and (key := _key(text)) is not None:
            hashes.add(key)

    def has_told(self, position: tuple[int, ...], events: Iterable[Event]) -> bool:
        """Are the speeches among some events those that were said at a position?"""
        keys = [key for event in events if isinstance(event, Speech) and (key := _key(event.text)) is not None]
        told = self._hashes.get(position, set())
        return bool(keys) and sum(key in told for key in keys) >= ALIKE * len(keys)


def _key(text: str) -> int | None:
    letters = "".join(filter(str.isalnum, text)).casefold()
    return hash(letters) if len(letters.encode()) >= FEWEST_BYTES else None
