"""Line charts as SVG: precision against recall for each scorer, and accuracy against the share learned from.

A point of a learning curve is {"show", "share", "value", "low", "high"}; its axis is logarithmic: doubling is one step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from understudy.report.page import legend

__all__ = ["curves_section", "learning_section"]

WIDTH, HEIGHT = 340, 260
LEFT, RIGHT, TOP, BOTTOM = 34, 10, 28, 34
COLOURS = 8
PRECISION_NOTE = (
    "What is found when everything that scores below a threshold is taken for unfit: how much of it is unfit "
    "(precision) against how much of the unfit is found (recall). The dotted line is chance."
)

CHART_WIDTH, CHART_HEIGHT = 520, 300
CHART_LEFT, CHART_RIGHT, CHART_TOP, CHART_BOTTOM = 40, 14, 16, 40
STEPS = 4  # of the grid
LEARNING_NOTE = "How often masked speakers are told, by how many of the earlier scenes were learned from; bars are 95%."


def curves_section(curves: Sequence[Mapping[str, Any]]) -> str:
    """A panel for each character; nothing where there are no curves."""
    drawn = [curve for curve in curves if curve["recall"]]
    if not drawn:
        return ""
    scorers = list(dict.fromkeys(str(curve["scorer"]) for curve in drawn))
    panels = "".join(
        _panel(character, list(group), scorers)
        for character, group in groupby(drawn, key=lambda curve: curve["character"])
    )
    return (
        f"<section><h2>Precision and recall</h2><p>{PRECISION_NOTE}</p>{legend(scorers)}"
        f"<div class='panels'>{panels}</div></section>\n"
    )


def _panel(title: str, curves: Sequence[Mapping[str, Any]], scorers: Sequence[str]) -> str:
    grid = "".join(
        f'<path class="grid" d="M{_x(at)} {_y(0)}V{_y(1)}M{_x(0)} {_y(at)}H{_x(1)}"/>'
        f'<text class="axis" x="{_x(at)}" y="{_y(0) + 14}" text-anchor="middle">{at:g}</text>'
        f'<text class="axis" x="{LEFT - 5}" y="{_y(at) + 4}" text-anchor="end">{at:g}</text>'
        for at in (0.0, 0.5, 1.0)
    )
    chance = curves[0]["chance"]
    floor = f'<path class="chance" d="M{_x(0)} {_y(chance)}H{_x(1)}"/>'
    lines = "".join(_line(curve, scorers.index(str(curve["scorer"]))) for curve in curves)
    return (
        f'<svg class="panel" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}: precision against recall">'
        f'<text class="title" x="2" y="16">{escape(title)}</text>{grid}{floor}{lines}'
        f'<text class="axis" x="{_x(0.5)}" y="{HEIGHT - 4}" text-anchor="middle">recall</text></svg>'
    )


def _line(curve: Mapping[str, Any], colour: int) -> str:
    points = "L".join(f"{_x(recall)} {_y(precision)}" for recall, precision in zip(curve["recall"], curve["precision"]))
    return (
        f'<path style="fill:none;stroke:var(--c{colour % COLOURS});stroke-width:1.5" d="M{points}">'
        f"<title>{escape(str(curve['scorer']))}</title></path>"
    )


def _x(recall: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * recall, 1)


def _y(precision: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * precision, 1)


def learning_section(points: Sequence[Mapping[str, Any]]) -> str:
    """A line for each show; nothing where there are fewer than two points to join."""
    drawn = [point for point in points if point["value"] is not None]
    shares = sorted({float(point["share"]) for point in drawn})
    if len(shares) < 2:
        return ""
    shows = list(dict.fromkeys(str(point["show"]) for point in drawn))
    lowest = min(min(point["value"], point["value"] if point["low"] is None else point["low"]) for point in drawn)
    floor = math.floor(lowest * 10) / 10
    frame = _Chart(shares[0], floor if floor < 1 else 0.0)
    key = legend([show.replace("_", " ") for show in shows])
    lines = "".join(
        frame.line([point for point in drawn if point["show"] == show], show, index) for index, show in enumerate(shows)
    )
    return (
        f"<section><h2>Learning curve</h2><p>{LEARNING_NOTE}</p>{key}"
        f'<div class="single"><svg class="panel" viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" '
        f'aria-label="accuracy by share of the lessons">{frame.grid(shares)}{lines}</svg></div></section>\n'
    )


class _Chart:
    def __init__(self, first: float, floor: float) -> None:
        self._first, self._floor = first, floor

    def x(self, share: float) -> float:
        whole = math.log(1 / self._first)
        return round(
            CHART_LEFT + 12 + (CHART_WIDTH - CHART_LEFT - CHART_RIGHT - 24) * math.log(share / self._first) / whole, 1
        )

    def y(self, value: float) -> float:
        return round(
            CHART_HEIGHT
            - CHART_BOTTOM
            - (CHART_HEIGHT - CHART_TOP - CHART_BOTTOM) * (value - self._floor) / (1 - self._floor),
            1,
        )

    def grid(self, shares: Sequence[float]) -> str:
        heights = [self._floor + (1 - self._floor) * step / STEPS for step in range(STEPS + 1)]
        across = "".join(
            f'<path class="grid" d="M{CHART_LEFT} {self.y(at)}H{CHART_WIDTH - CHART_RIGHT}"/>'
            f'<text class="axis" x="{CHART_LEFT - 5}" y="{self.y(at) + 4}" text-anchor="end">{at:.3g}</text>'
            for at in heights
        )
        foot = "".join(
            f'<text class="axis" x="{self.x(share)}" y="{CHART_HEIGHT - CHART_BOTTOM + 16}" text-anchor="middle">'
            f"{'all' if share == 1 else f'1/{round(1 / share)}'}</text>"
            for share in shares
        )
        title = (
            f'<text class="axis" x="{CHART_WIDTH / 2}" y="{CHART_HEIGHT - 6}" '
            f'text-anchor="middle">of the earlier scenes</text>'
        )
        return across + foot + title

    def line(self, points: Sequence[Mapping[str, Any]], show: str, colour: int) -> str:
        """Shows stand a little apart, so that their bars do not hide each other."""
        aside = 3.0 * (colour - 2)
        stroke = f"fill:none;stroke:var(--c{colour % COLOURS})"
        points_at = [
            (self.x(point["share"]) + aside, point) for point in sorted(points, key=lambda point: point["share"])
        ]
        path = "L".join(f"{x:.1f} {self.y(point['value'])}" for x, point in points_at)
        bars = "".join(
            f'<path style="{stroke};stroke-width:1" d="M{x:.1f} {self.y(point["low"])}V{self.y(point["high"])}"/>'
            for x, point in points_at
            if point["low"] is not None
        )
        dots = "".join(
            f'<circle class="c{colour % COLOURS}" cx="{x:.1f}" cy="{self.y(point["value"])}" r="3.5">'
            f"<title>{escape(show)}: {point['value']:.3f}</title></circle>"
            for x, point in points_at
        )
        return f'<path style="{stroke};stroke-width:1.8" d="M{path}"/>{bars}{dots}'
