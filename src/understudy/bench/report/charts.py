"""Charts as SVG, drawn for a phone's width: bars with intervals, agreement with people, curves.

Bars have one panel for each thing judged on. Agreement is a forest plot: a line a measure, its correlation as a dot and
its 95% interval, largest first. Curves are precision against recall for each scorer, and accuracy against the share
learned from. A point of a learning curve is {"show", "share", "value", "low", "high"}; its axis is logarithmic:
doubling is one step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from understudy.bench.report.page import colour, legend, picture, section
from understudy.svg import ChartArea, Markup, coordinates, element, label, line

__all__ = ["Bar", "curves_section", "forest_section", "learning_section", "panel"]

Row = Mapping[str, Any]

WIDTH = 340
STEP, THICK = 38, 14
LONGEST_NAME = 48

FOREST_STEP = 18
SIGNIFICANT = 0.05
FOREST_NOTE = (
    "Correlation of ranks of each measure with the score that people gave. A dot is filled where p, adjusted after "
    "Holm, is below .05; the line is the 95% interval."
)
CURVES = ChartArea(WIDTH, 260, left=34, right=10, top=28, bottom=34)
PRECISION_NOTE = (
    "What is found when everything that scores below a threshold is taken for unfit: how much of it is unfit "
    "(precision) against how much of the unfit is found (recall). The dotted line is chance."
)
LEARNING = ChartArea(520, 300, left=40, right=14, top=16, bottom=40)
INSET = 0.03  # of the axis, between the edges and the first and the last point
STEPS = 4  # of the grid
LEARNING_NOTE = "How often masked speakers are told, by how many of the earlier scenes were learned from; bars are 95%."


@dataclass(frozen=True, slots=True)
class Bar:
    """An agent's figure, its interval and the paper's figure; `colour` is the agent's number."""

    name: str
    value: float
    low: float | None
    high: float | None
    paper: float | None
    colour: int


def panel(title: str, bars: Sequence[Bar], top: float, bottom: float = 0.0) -> Markup:
    """Horizontal bars from 0, on an axis from `bottom` to `top` that all panels of a metric share, to be compared."""
    reach, base = _reach(top), -_reach(-bottom) if bottom < 0 else 0.0
    area = ChartArea(WIDTH, 48 + STEP * len(bars), left=2, right=50, top=28, bottom=20, across=(base, reach))
    parts = []
    for at in (base, 0.0, reach) if base < 0 else (0.0, reach / 2, reach):
        parts += [area.vertical("grid", at), area.below(at, f"{at:.4g}", "start" if at == base else "middle")]
    for index, bar in enumerate(bars):
        parts += _bar(bar, area.top + STEP * index, area)
    summary = "; ".join(f"{bar.name} {bar.value:.3f}" for bar in bars)
    return picture(_short(title), WIDTH, area.height, *parts, summary=summary)


def _bar(bar: Bar, y: float, area: ChartArea) -> list[Markup]:
    top, middle, ends = y + 18, y + 18 + THICK / 2, [0.0, bar.value]
    begin, end = sorted((area.x(0.0), area.x(bar.value)))
    parts = [
        label(_short(bar.name), (2, y + 13), class_="name"),
        element(
            "rect", tooltip=f"{bar.name}: {bar.value:.4f}", class_=colour(bar.colour), x=begin, y=top,
            width=max(end - begin, 1.0), height=THICK, rx=3,
        ),
    ]  # fmt: skip
    if bar.low is not None and bar.high is not None:
        low, high = area.x(bar.low), area.x(bar.high)
        whisker = f"M{low} {middle}H{high}M{low} {middle - 4}v8M{high} {middle - 4}v8"
        parts.append(element("path", tooltip=f"{bar.low:.4f} to {bar.high:.4f}", class_="interval", d=whisker))
        ends.append(bar.high)
    if bar.paper is not None:
        x, tooltip = area.x(bar.paper), f"the paper: {bar.paper:.3f}"
        parts.append(line("paper", (x, top - 4), (x, top + THICK + 4), tooltip=tooltip))
        ends.append(bar.paper)
    return [*parts, label(f"{bar.value:.3f}", (area.x(max(ends)) + 6, middle + 4), class_="value")]


def _reach(top: float) -> float:
    """The end of the axis: the next round step above everything shown."""
    if top <= 0:
        return 1.0
    step = math.pow(10, math.floor(math.log10(top))) / (1 if top < 1 else 2)
    return round(math.ceil(top / step - 1e-9) * step, 10)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"…{text[-LONGEST_NAME + 1 :]}"


def forest_section(rows: Sequence[Row]) -> str:
    """A plot for each set of chats; nothing where no row is of a measure."""
    drawn = [row for row in rows if "measure" in row and row["value"] is not None and row["low"] is not None]
    if not drawn:
        return ""
    sides = list(dict.fromkeys(str(row["of"]) for row in drawn))
    bottom = math.floor(min(row["low"] for row in drawn) * 5) / 5
    top = math.ceil(max(row["high"] for row in drawn) * 5) / 5
    plots = "".join(
        _forest(which, [row for row in drawn if row["chats"] == which], sides, bottom, top)
        for which in dict.fromkeys(row["chats"] for row in drawn)
    )
    return section("Agreement with people", legend(sides), f"<div class='cards'>{plots}</div>", note=FOREST_NOTE)


def _forest(which: str, rows: Sequence[Row], sides: Sequence[str], bottom: float, top: float) -> str:
    ordered = sorted(rows, key=lambda row: -row["value"])
    height = 54 + FOREST_STEP * len(ordered)
    area = ChartArea(420, height, left=172, right=42, top=30, bottom=24, across=(bottom, top))
    parts = []
    for step in range(round((top - bottom) / 0.2) + 1):
        at = round(bottom + 0.2 * step, 1)
        parts += [area.vertical("chance" if at == 0 else "grid", at), area.below(at, f"{at:.1f}")]
    for index, row in enumerate(ordered):
        y = area.top + FOREST_STEP * (index + 0.5)
        stroke, name = f"var(--{colour(sides.index(str(row['of'])))})", f"{row['measure']}, {row['of']}"
        fill = stroke if row.get("p_adjusted", 1.0) < SIGNIFICANT else "var(--card)"
        tooltip = f"{name}: {row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
        parts += [
            label(name, (area.left - 8, y + 4), "end", class_="name"),
            line("line", (area.x(row["low"]), y), (area.x(row["high"]), y), style=f"stroke:{stroke}"),
            element(
                "circle", tooltip=tooltip, cx=area.x(row["value"]), cy=y, r=4,
                style=f"fill:{fill};stroke:{stroke};stroke-width:1.6",
            ),
            label(f"{round(row['value'], 2) + 0.0:.2f}", (area.width - 4, y + 4), "end", class_="value"),
        ]  # fmt: skip
    title = f"{which}, {max(row['n'] for row in ordered):,} chats"
    return picture(title, area.width, area.height, *parts, summary="agreement with people")


def curves_section(curves: Sequence[Row]) -> str:
    """A panel for each character; nothing where there are no curves."""
    drawn = [curve for curve in curves if curve["recall"]]
    scorers = list(dict.fromkeys(str(curve["scorer"]) for curve in drawn))
    panels = "".join(
        _precision_panel(character, list(group), scorers)
        for character, group in groupby(drawn, key=lambda curve: curve["character"])
    )
    parts = (legend(scorers), f"<div class='panels'>{panels}</div>") if drawn else ()
    return section("Precision and recall", *parts, note=PRECISION_NOTE)


def _precision_panel(title: str, curves: Sequence[Row], scorers: Sequence[str]) -> str:
    parts = []
    for at in (0.0, 0.5, 1.0):
        parts += [CURVES.horizontal("grid", at), CURVES.beside(at, f"{at:g}")]
        parts += [CURVES.vertical("grid", at), CURVES.below(at, f"{at:g}")]
    parts.append(CURVES.horizontal("chance", curves[0]["chance"]))
    for curve in curves:
        scorer, corners = str(curve["scorer"]), zip(map(CURVES.x, curve["recall"]), map(CURVES.y, curve["precision"]))
        stroke = f"stroke:var(--{colour(scorers.index(scorer))})"
        parts.append(element("polyline", tooltip=scorer, class_="line", points=coordinates(corners), style=stroke))
    parts.append(label("recall", (CURVES.x(0.5), CURVES.height - 4), "middle"))
    return picture(title, CURVES.width, CURVES.height, *parts, summary="precision against recall")


def learning_section(points: Sequence[Row]) -> str:
    """A line for each show; nothing where there are fewer than two points to join."""
    drawn = [point for point in points if point["value"] is not None]
    shares = sorted({float(point["share"]) for point in drawn})
    if len(shares) < 2:
        return ""
    shows = list(dict.fromkeys(str(point["show"]) for point in drawn))
    lowest = min(min(point["value"], point["value"] if point["low"] is None else point["low"]) for point in drawn)
    floor = math.floor(lowest * 10) / 10 if lowest < 1 else 0.0
    doublings = -math.log2(shares[0])
    area = replace(LEARNING, across=(-(1 + INSET) * doublings, INSET * doublings), up=(floor, 1.0))
    parts = []
    for step in range(STEPS + 1):
        value = floor + (1 - floor) * step / STEPS
        parts += [area.horizontal("grid", value), area.beside(value, f"{value:.3g}")]
    parts += [area.below(math.log2(share), "all" if share == 1 else f"1/{round(1 / share)}") for share in shares]
    parts.append(label("of the earlier scenes", (area.width / 2, area.height - 6), "middle"))
    for index, show in enumerate(shows):
        of_show = sorted((point for point in drawn if point["show"] == show), key=lambda point: point["share"])
        stroke, aside = f"stroke:var(--{colour(index)})", 3.0 * (index - 2)  # bars of shows do not hide each other
        at = [(area.x(math.log2(point["share"])) + aside, area.y(point["value"])) for point in of_show]
        parts.append(element("polyline", class_="line", points=coordinates(at), style=stroke))
        for (x, y), point in zip(at, of_show):
            if point["low"] is not None:
                low, high = (x, area.y(point["low"])), (x, area.y(point["high"]))
                parts.append(line("line", low, high, style=f"{stroke};stroke-width:1"))
            tooltip = f"{show}: {point['value']:.3f}"
            parts.append(element("circle", tooltip=tooltip, class_=colour(index), cx=x, cy=y, r=3.5))
    chart = picture("", LEARNING.width, LEARNING.height, *parts, summary="accuracy by share of the lessons")
    key = legend([show.replace("_", " ") for show in shows])
    return section("Learning curve", key, f'<div class="single">{chart}</div>', note=LEARNING_NOTE)
