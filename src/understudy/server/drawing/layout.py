"""Where people stand around somebody: each in a direction of their own, the better known the nearer, nobody in the way.

The directions follow the golden angle: however many come, they spread evenly, and those who came before keep theirs.
Whoever would stand on somebody's feet moves aside or a little out; the one who was known first has the right of way.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt
from typing import NamedTuple

__all__ = ["Place", "Size", "placed", "turned"]

GOLDEN = pi * (3 - sqrt(5))
FIRST = -pi / 2  # straight up
ASIDE = pi / 36
OUT = 14.0
WIDEN = 26.0  # how much further out the outer ring lies for every person after the eighth, by the root of them


class Size(NamedTuple):
    """What somebody takes up: to each side of the middle, above it and below it."""

    side: float
    above: float
    below: float


class Place(NamedTuple):
    x: float
    y: float

    @property
    def up(self) -> bool:
        """Whether this lies above the middle, where a name stands over its face, out of the way of the line to it."""
        return self.y < -abs(self.x) / 2


def placed(middle: Size, people: Sequence[tuple[int, Size, float]], inner: float, outer: float) -> list[Place]:
    """A place for each of the people, given with the number of their direction, their size, and how near (0 to 1) they
    are; the middle is at 0, 0.

    Sizes are those of people with their name below; above the middle they stand on their heads.
    """
    outer += WIDEN * sqrt(max(len(people) - 8, 0))
    taken: list[tuple[Place, Size]] = [(Place(0, 0), middle)]
    for number, size, near in people:
        radius = outer - (outer - inner) * min(max(near, 0.0), 1.0)
        place = _free(taken, size, FIRST + number * GOLDEN, radius)
        taken.append((place, turned(size, place)))
    return [place for place, _ in taken[1:]]


def turned(size: Size, place: Place) -> Size:
    return Size(size.side, size.below, size.above) if place.up else size


def _free(taken: Sequence[tuple[Place, Size]], size: Size, angle: float, radius: float) -> Place:
    for aside, out in STEPS:
        place = _at(angle + aside * ASIDE, radius + out * OUT)
        if not any(_touch(place, turned(size, place), other, theirs) for other, theirs in taken):
            return place
    far = max(abs(other.x) + abs(other.y) + theirs.side + theirs.below for other, theirs in taken)
    return _at(angle, far + size.side + size.above + size.below)


def _at(angle: float, radius: float) -> Place:
    return Place(radius * cos(angle), radius * sin(angle))


def _touch(place: Place, size: Size, other: Place, theirs: Size) -> bool:
    return (
        abs(place.x - other.x) < size.side + theirs.side
        and place.y - size.above < other.y + theirs.below
        and other.y - theirs.above < place.y + size.below
    )


def _steps() -> list[tuple[int, int]]:
    """Ways to give way, the smallest first: so many steps aside, so many out."""
    aside = [0, *(sign * step for step in range(1, 19) for sign in (1, -1))]
    return sorted(((a, o) for a in aside for o in range(30)), key=lambda step: (abs(step[0]) + 1.6 * step[1], step))


STEPS = _steps()
