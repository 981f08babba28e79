"""Precision against recall, as SVG: one panel for each thing judged on, one line for each scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

__all__ = ["curves_section"]

WIDTH, HEIGHT = 340, 260
LEFT, RIGHT, TOP, BOTTOM = 34, 10, 28, 34
COLOURS = 8
NOTE = (
    "What is found when everything that scores below a threshold is taken for unfit: how much of it is unfit "
    "(precision) against how much of the unfit is found (recall). The dotted line is chance."
)


def curves_section(curves: Sequence[Mapping[str, Any]]) -> str:
    """A panel for each character; nothing where there are no curves."""
    drawn = [curve for curve in curves if curve["recall"]]
    if not drawn:
        return ""
    scorers = list(dict.fromkeys(str(curve["scorer"]) for curve in drawn))
    legend = "".join(
        f'<li><svg viewBox="0 0 12 12" aria-hidden="true"><rect class="c{place % COLOURS}" width="12" height="12" '
        f'rx="3"/></svg>{escape(scorer)}</li>'
        for place, scorer in enumerate(scorers)
    )
    panels = "".join(
        _panel(character, list(group), scorers) for character, group in groupby(drawn, key=lambda one: one["character"])
    )
    return (
        f"<section><h2>Precision and recall</h2><p>{NOTE}</p><ul class='legend'>{legend}</ul>"
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
