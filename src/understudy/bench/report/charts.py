"""Charts of reports as SVG, drawn for a phone's width: bars with intervals, agreement with people, curves, guesses.

Bars have one panel for each thing judged on. Agreement is a forest plot: a line a measure, its correlation as a dot and
its 95% interval, largest first. Curves are precision against recall for each scorer, and accuracy against the share
learned from. A point of a learning curve is {"show", "share", "value", "low", "high"}; its axis is logarithmic:
doubling is one step. Of guesses there are confusion matrices, and flows from kinds of evidence to what they require.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from understudy.bench.report.page import COLOURS, colour, foldable, legend, picture, section
from understudy.svg import ChartArea, Markup, coordinates, element, label, line

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


LEFT, RIGHT, TOP, FOOT = 84, 38, 84, 6
LARGEST = 40  # side of a square, where there are few
MOST = 10  # people in a table; those who are masked most come first
LONGEST_PERSON = 11
STRONGEST = 0.6  # opacity behind a number, so that the number can be read
CONFUSIONS_NOTE = (
    "A line for each person, a column for each one they were taken for, with how often. Green is right; red is wrong, "
    "the stronger the larger its share of the line. People can only be confused with those they share scenes with."
)

MARGIN, FLOW_TOP = 2, 46
BLOCK = 8
UNIT = 260  # height of everything that flows
LABEL, GAP = 16, 5  # a kind that is rare still needs room for its name
TAKES = {"history": "need of history", "reasoning": "reasoning"}
FLOWS_NOTE = (
    "What people used to tell the masked speakers: kinds of evidence on the left, what these took on the right, with "
    "how often. Somebody who was told by several kinds counts for each."
)


def confusions_section(confusions: Sequence[Row]) -> str:
    """A part for each model, the one that is right most often first and open; nothing where there are none."""
    models: dict[str, list[Row]] = {}
    for confusion in confusions:
        models.setdefault(str(confusion["model"]), []).append(confusion)
    ordered = sorted(models, key=lambda name: -_right(models[name]))
    parts = ((model, "".join(map(_confusion_panel, models[model]))) for model in ordered)
    return section("Who is taken for whom", foldable(parts, "panels"), note=CONFUSIONS_NOTE)


def _right(confusions: Sequence[Row]) -> float:
    hits = sum(line[index] for confusion in confusions for index, line in enumerate(confusion["counts"]))
    return float(hits / max(1, sum(sum(line) for confusion in confusions for line in confusion["counts"])))


def _confusion_panel(confusion: Row) -> str:
    names: Sequence[str] = confusion["names"][:MOST]
    totals = [sum(line) for line in confusion["counts"]]  # of the whole line, those left out included
    counts = [line[:MOST] for line in confusion["counts"][:MOST]]
    size = min(LARGEST, (WIDTH - LEFT - RIGHT) / max(1, len(names)))
    shares = [[count / total if total else 0.0 for count in line] for line, total in zip(counts, totals)]
    wrong = max((share for a, line in enumerate(shares) for b, share in enumerate(line) if a != b), default=0.0)
    parts = []
    for a, name in enumerate(names):
        shown = name if len(name) <= LONGEST_PERSON else f"{name[: LONGEST_PERSON - 1]}…"
        along = size * (a + 0.5) + 4
        parts.append(element("text", shown, transform=f"translate({LEFT + along:.1f} {TOP - 6}) rotate(-45)"))
        parts.append(label(shown, (LEFT - 6, TOP + along), "end"))
    for a, name in enumerate(names):
        for b, other in enumerate(names):
            x, y = LEFT + size * b, TOP + size * a
            tooltip = f"{name} told" if a == b else f"{name} taken for {other}"
            strength = shares[a][b] / ((wrong or 1.0) if a != b else 1.0)
            fill = f"fill:var(--{'right' if a == b else 'wrong'});fill-opacity:{STRONGEST * strength:.3f}"
            tooltip += f": {counts[a][b]} of {totals[a]}"
            parts.append(element("rect", tooltip=tooltip, class_="grid", x=x, y=y, width=size, height=size, style=fill))
            if counts[a][b]:
                parts.append(label(str(counts[a][b]), (x + size / 2, y + size / 2 + 4), "middle", class_="count"))
    title = str(confusion["show"]).replace("_", " ")
    summary = "; ".join(f"{name} {counts[index][index]} of {totals[index]} right" for index, name in enumerate(names))
    return picture(title, WIDTH, round(TOP + size * len(names) + FOOT), *parts, summary=summary)


class _Node(NamedTuple):
    """A block of one side."""

    top: float
    height: float


def flows_section(flows: Sequence[Row]) -> str:
    """A panel for each flow; nothing where there are none."""
    panels = "".join(_flow_panel(flow) for flow in flows if flow["links"])
    return section("What telling takes", panels and f"<div class='panels'>{panels}</div>", note=FLOWS_NOTE)


def _flow_panel(flow: Row) -> str:
    end = str(flow["to"])
    links = [(str(link["evidence"]), str(link[end]), int(link["count"])) for link in flow["links"]]
    begins = _sums(flow["evidence"], ((a, count) for a, _, count in links))
    ends = _sums(flow["ends"], ((b, count) for _, b, count in links))
    scale = UNIT / sum(begins.values())
    height = max(_room(begins, scale), _room(ends, scale))
    left, right = _stacked(begins, scale, height), _stacked(ends, scale, height)
    colours = {name: colour(index) if index < len(COLOURS) else "plain" for index, name in enumerate(begins)}
    used_left, used_right = dict.fromkeys(begins, 0.0), dict.fromkeys(ends, 0.0)
    parts = [label("evidence", (MARGIN, 34)), label(TAKES.get(end, end), (WIDTH - MARGIN, 34), "end")]
    for a, b, count in links:
        starts, stops = left[a].top + used_left[a], right[b].top + used_right[b]
        parts.append(_band(starts, stops, count * scale, colours[a], f"{a}, {b}: {count}"))
        used_left[a] += count * scale
        used_right[b] += count * scale
    for name, node in left.items():
        parts += _block(name, begins[name], node, MARGIN, "start", colours[name])
    for name, node in right.items():
        parts += _block(name, ends[name], node, WIDTH - MARGIN - BLOCK, "end", "plain")
    summary = "; ".join(f"{a}, {b}: {count}" for a, b, count in links)
    title = str(flow["show"]).replace("_", " ")
    return picture(title, WIDTH, round(FLOW_TOP + height + FOOT), *parts, summary=summary)


def _sums(names: Sequence[str], counted: Iterable[tuple[str, int]]) -> dict[str, int]:
    totals = dict.fromkeys(names, 0)
    for name, count in counted:
        totals[name] += count
    return totals


def _room(sums: Mapping[str, int], scale: float) -> float:
    return sum(max(count * scale, LABEL) for count in sums.values()) + GAP * (len(sums) - 1)


def _stacked(sums: Mapping[str, int], scale: float, height: float) -> dict[str, _Node]:
    """Blocks from top to bottom over the whole height, each in the middle of its slot."""
    gap = GAP + (height - _room(sums, scale)) / max(1, len(sums) - 1)
    at, nodes = float(FLOW_TOP), {}
    for name, count in sums.items():
        tall, slot = count * scale, max(count * scale, LABEL)
        nodes[name] = _Node(at + (slot - tall) / 2, tall)
        at += slot + gap
    return nodes


def _band(y0: float, y1: float, thick: float, class_: str, tooltip: str) -> Markup:
    x0, x1 = MARGIN + BLOCK, WIDTH - MARGIN - BLOCK
    middle = (x0 + x1) / 2
    there = f"M{x0} {y0:.1f}C{middle} {y0:.1f} {middle} {y1:.1f} {x1} {y1:.1f}"
    back = f"V{y1 + thick:.1f}C{middle} {y1 + thick:.1f} {middle} {y0 + thick:.1f} {x0} {y0 + thick:.1f}Z"
    return element("path", tooltip=tooltip, class_=f"{class_} band", d=there + back)


def _block(name: str, count: int, node: _Node, x: float, anchor: str, class_: str) -> list[Markup]:
    beside, y = x + BLOCK + 5 if anchor == "start" else x - 5, node.top + node.height / 2 + 4
    number = element("tspan", str(count), class_="count")
    return [
        element("rect", class_=class_, x=x, y=node.top, width=BLOCK, height=max(node.height, 1.0)),
        element("text", name, " ", number, class_="told", x=beside, y=y, text_anchor=anchor),
    ]
