"""What is costly to make and asked for again: made once for each key, and the least used given up.

Who asks for something that another thread is making waits for it; who asks for something else does not wait.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Kept"]

Made = TypeVar("Made")


class _Place(Generic[Made]):
    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.turn = Lock()
        self.made: list[Made] = []


class Kept(Generic[Made]):
    def __init__(self, most: int) -> None:
        self._most = most
        self._places: OrderedDict[Hashable, _Place[Made]] = OrderedDict()
        self._turn = Lock()

    def of(self, key: Hashable, owner: object, make: Callable[[], Made]) -> Made:
        """The thing of a key. The owner lives as long as it does: an id in a key then stands for nothing else."""
        with self._turn:
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = _Place(owner)
                if len(self._places) > self._most:
                    self._places.popitem(last=False)
            self._places.move_to_end(key)
        with place.turn:
            if not place.made:
                place.made.append(make())
            return place.made[0]
