"""How much learning helps, as SVG: a figure against the share of the lessons it was learned from, one line a show.

A point is {"show", "share", "value", "low", "high"}; shares are drawn on a scale on which doubling is one step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["learning_section"]

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 40, 14, 16, 40
COLOURS = 8
STEPS = 4  # of the grid
NOTE = "How often masked speakers are told, by how many of the earlier scenes were learned from; bars are 95%."


def learning_section(points: Sequence[Mapping[str, Any]]) -> str:
    """A line for each show; nothing where there are fewer than two points to join."""
    drawn = [point for point in points if point["value"] is not None]
    shares = sorted({float(point["share"]) for point in drawn})
    if len(shares) < 2:
        return ""
    shows = list(dict.fromkeys(str(point["show"]) for point in drawn))
    lowest = min(min(point["value"], point["value"] if point["low"] is None else point["low"]) for point in drawn)
    floor = math.floor(lowest * 10) / 10
    frame = _Frame(shares[0], floor if floor < 1 else 0.0)
    legend = "".join(
        f'<li><svg viewBox="0 0 12 12" aria-hidden="true"><rect class="c{place % COLOURS}" width="12" height="12" '
        f'rx="3"/></svg>{escape(show.replace("_", " "))}</li>'
        for place, show in enumerate(shows)
    )
    lines = "".join(
        frame.line([point for point in drawn if point["show"] == show], show, place) for place, show in enumerate(shows)
    )
    return (
        f"<section><h2>Learning curve</h2><p>{NOTE}</p><ul class='legend'>{legend}</ul>"
        f'<div class="single"><svg class="panel" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="accuracy by share of the lessons">{frame.grid(shares)}{lines}</svg></div></section>\n'
    )


class _Frame:
    def __init__(self, first: float, floor: float) -> None:
        self._first, self._floor = first, floor

    def x(self, share: float) -> float:
        whole = math.log(1 / self._first)
        return round(LEFT + 12 + (WIDTH - LEFT - RIGHT - 24) * math.log(share / self._first) / whole, 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self._floor) / (1 - self._floor), 1)

    def grid(self, shares: Sequence[float]) -> str:
        heights = [self._floor + (1 - self._floor) * step / STEPS for step in range(STEPS + 1)]
        across = "".join(
            f'<path class="grid" d="M{LEFT} {self.y(at)}H{WIDTH - RIGHT}"/>'
            f'<text class="axis" x="{LEFT - 5}" y="{self.y(at) + 4}" text-anchor="end">{at:.3g}</text>'
            for at in heights
        )
        foot = "".join(
            f'<text class="axis" x="{self.x(share)}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
            f"{'all' if share == 1 else f'1/{round(1 / share)}'}</text>"
            for share in shares
        )
        named = f'<text class="axis" x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">of the earlier scenes</text>'
        return across + foot + named

    def line(self, points: Sequence[Mapping[str, Any]], show: str, colour: int) -> str:
        """Shows stand a little apart, so that their bars do not hide each other."""
        aside = 3.0 * (colour - 2)
        stroke = f"fill:none;stroke:var(--c{colour % COLOURS})"
        places = [(self.x(point["share"]) + aside, point) for point in sorted(points, key=lambda one: one["share"])]
        path = "L".join(f"{x:.1f} {self.y(point['value'])}" for x, point in places)
        bars = "".join(
            f'<path style="{stroke};stroke-width:1" d="M{x:.1f} {self.y(point["low"])}V{self.y(point["high"])}"/>'
            for x, point in places
            if point["low"] is not None
        )
        dots = "".join(
            f'<circle class="c{colour % COLOURS}" cx="{x:.1f}" cy="{self.y(point["value"])}" r="3.5">'
            f"<title>{escape(show)}: {point['value']:.3f}</title></circle>"
            for x, point in places
        )
        return f'<path style="{stroke};stroke-width:1.8" d="M{path}"/>{bars}{dots}'
