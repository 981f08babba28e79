"""Story time from left to right: every scene that was reached is as wide as the next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.spoiler_free import Stop
from understudy.story import Moment

__all__ = ["Axis", "axis_to"]


@dataclass(frozen=True, slots=True)
class Axis:
    """The scenes that began before a moment, with how many of their lines were heard, and the chapters they are in."""

    scenes: Sequence[Stop]
    chapters: Sequence[Stop]
    now: Moment

    def position(self, moment: Moment) -> float:
        """From 0, the story's first scene, to 1, now. A moment inside a scene lies inside its stretch."""
        if moment >= self.now or not self.scenes:
            return 1.0 if self.scenes or moment >= self.now else 0.0
        number = bisect_left(self.scenes, moment, key=_start)
        place = float(number)
        if number and moment.within(self.scenes[number - 1].moment):
            scene = self.scenes[number - 1]
            heard = max(scene.lines or 0, 1)
            place += min((moment.numbers[len(scene.moment.numbers)] - 1) / heard, 1.0) - 1
        return min(place / len(self.scenes), 1.0)

    def scene_at(self, moment: Moment) -> Stop | None:
        """The scene a moment falls in, or the first one after it, as far as it was reached."""
        after = bisect_right(self.scenes, moment, key=_start)
        if after and moment.within(self.scenes[after - 1].moment):
            return self.scenes[after - 1]
        return self.scenes[after] if after < len(self.scenes) else None


def _start(stop: Stop) -> Moment:
    return stop.moment


def axis_to(stops: Sequence[Stop], now: Moment) -> Axis:
    """The axis up to now, from a story's timeline."""
    reached = [stop for stop in stops if stop.reached]
    depth = max((len(stop.moment.numbers) for stop in stops), default=0)
    return Axis(
        [stop for stop in reached if len(stop.moment.numbers) == depth and stop.lines is not None],
        [stop for stop in reached if stop.lines is None and len(stop.moment.numbers) == max(depth - 1, 1)],
        now,
    )
