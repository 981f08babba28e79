"""A forest plot: one line a measure, its agreement with people as a dot and its 95% interval, largest first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from understudy.bench.report.page import legend

__all__ = ["forest_section"]

Row = Mapping[str, Any]

WIDTH = 420
LEFT, RIGHT, TOP, BOTTOM = 172, 42, 30, 24
STEP = 18
SIGNIFICANT = 0.05
NOTE = (
    "Correlation of ranks of each measure with the score that people gave. A dot is filled where p, adjusted after "
    "Holm, is below .05; the line is the 95% interval."
)


def forest_section(rows: Sequence[Row]) -> str:
    """A plot for each set of chats; nothing where no row is of a measure."""
    drawn = [row for row in rows if "measure" in row and row["value"] is not None and row["low"] is not None]
    if not drawn:
        return ""
    sides = list(dict.fromkeys(str(row["of"]) for row in drawn))
    bottom = math.floor(min(row["low"] for row in drawn) * 5) / 5
    top = math.ceil(max(row["high"] for row in drawn) * 5) / 5
    plots = "".join(
        _plot(which, [row for row in drawn if row["chats"] == which], sides, bottom, top)
        for which in dict.fromkeys(row["chats"] for row in drawn)
    )
    return (
        f"<section><h2>Agreement with people</h2><p>{NOTE}</p>{legend(sides)}"
        f"<div class='cards'>{plots}</div></section>\n"
    )


def _plot(which: str, rows: Sequence[Row], sides: Sequence[str], bottom: float, top: float) -> str:
    ordered = sorted(rows, key=lambda row: -row["value"])
    foot = TOP + STEP * len(ordered)

    def x(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - bottom) / (top - bottom or 1.0), 1)

    ticks = [round(bottom + 0.2 * step, 1) for step in range(round((top - bottom) / 0.2) + 1)]
    grid = "".join(
        f'<path class="{"chance" if at == 0 else "grid"}" d="M{x(at)} {TOP}V{foot}"/>'
        f'<text class="axis" x="{x(at)}" y="{foot + 15}" text-anchor="middle">{at:.1f}</text>'
        for at in ticks
    )
    title = f"{which}, {max(row['n'] for row in ordered):,} chats"
    lines = "".join(_line(row, TOP + STEP * index + STEP / 2, sides, x) for index, row in enumerate(ordered))
    return (
        f'<svg class="panel" viewBox="0 0 {WIDTH} {foot + BOTTOM}" role="img" '
        f'aria-label="{escape(f"Agreement with people: {title}")}">'
        f'<text class="title" x="2" y="18">{escape(title)}</text>{grid}{lines}</svg>'
    )


def _line(row: Row, y: float, sides: Sequence[str], x: Any) -> str:
    colour = f"var(--c{sides.index(str(row['of'])) % 8})"
    fill = colour if row.get("p_adjusted", 1.0) < SIGNIFICANT else "var(--card)"
    name = f"{row['measure']}, {row['of']}"
    return (
        f'<text class="name" x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
        f'<path style="stroke:{colour};stroke-width:1.6;fill:none" d="M{x(row["low"])} {y}H{x(row["high"])}"/>'
        f'<circle cx="{x(row["value"])}" cy="{y}" r="4" style="fill:{fill};stroke:{colour};stroke-width:1.6">'
        f"<title>{escape(name)}: {row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})</title></circle>"
        f'<text class="value" x="{WIDTH - 4}" y="{y + 4}" text-anchor="end">{round(row["value"], 2) + 0.0:.2f}</text>'
    )
