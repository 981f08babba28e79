"""The effect of a bound on a metric, as SVG: shares of lines kept against the bound, and the bound that was chosen.

An SVG that stands by itself, or a page with the figures beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from understudy.bench.report.page import DARK, FONT, LIGHT, colour, page, section, table
from understudy.svg import NAMESPACE, ChartArea, Markup, coordinates, element, label, line

Figure = tuple[float, tuple[float, float] | None]
"""A share, and its interval where it has one."""

ROW = 18  # height of a line of the legend
TICKS = 6  # on the axis of bounds, about
SPREAD = 20  # from which on the axis of large numbers is one of their logarithms


@dataclass(frozen=True, slots=True)
class Share:
    """A share for each bound, the 95% interval of some, and both at the bound that was chosen."""

    name: str
    points: Sequence[tuple[float, float]]
    chosen: float
    band: Sequence[tuple[float, float, float]] = ()
    interval: tuple[float, float] | None = None

    @property
    def summary(self) -> str:
        spread = "" if self.interval is None else f" ({self.interval[0]:.2f} – {self.interval[1]:.2f})"
        return f"{self.name} {self.chosen:.2f}{spread}"


@dataclass(frozen=True, slots=True)
class BoundPlot:
    """`rule` is the choice in words; `bound` is where it lies."""

    metric: str
    at_least: bool
    bound: float
    rule: str
    shares: Sequence[Share]


def bound_page(plot: BoundPlot, note: str, bounds: Sequence[tuple[float, Sequence[Figure]]]) -> str:
    """The picture, a sentence on where it is from, and the figures of some bounds, of which one is the chosen one."""
    title = f"A bound on {plot.metric}"
    head = f"<header><h1>{escape(title)}</h1><p>{escape(note)}</p></header>\n"
    drawing = f"<section class='single'>{bound_svg(plot)}</section>\n"
    return page(title, (head, drawing, section("What some bounds would do", _figures(plot, bounds))))


def bound_svg(plot: BoundPlot) -> str:
    bounds = sorted({bound for share in plot.shares for bound, _ in share.points} | {plot.bound})
    is_logarithmic = bounds[0] > 0 and bounds[-1] > 10 and bounds[-1] / bounds[0] > SPREAD
    ends = (math.log10(bounds[0]), math.log10(bounds[-1])) if is_logarithmic else (bounds[0], bounds[-1])
    if ends[0] == ends[1]:
        ends = ends[0] - 0.5, ends[1] + 0.5
    area = ChartArea(360, 340, left=44, right=16, top=48 + ROW * len(plot.shares), bottom=48, across=ends)

    def position(bound: float) -> float:
        return math.log10(bound) if is_logarithmic else bound

    def corners(shares: Iterable[tuple[float, float]]) -> str:
        return coordinates((area.x(position(bound)), area.y(share)) for bound, share in shares)

    parts = [
        element("style", Markup(STYLE)),
        element("rect", class_="page", width=area.width, height=area.height, rx=10),
    ]
    parts.append(label(plot.rule, (14, 22), class_="title"))
    for height in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [area.horizontal("grid", height), area.beside(height, f"{height:g}")]
    for tick in _ticks(*ends, is_logarithmic):
        x = area.x(position(tick))
        parts += [line("grid", (x, area.foot), (x, area.foot + 4)), area.below(position(tick), f"{tick:,.6g}")]
    for index, share in enumerate(plot.shares):
        band = sorted(share.band)
        if band:
            outline = [(bound, high) for bound, _, high in band] + [(bound, low) for bound, low, _ in reversed(band)]
            parts.append(element("polygon", class_=f"{colour(index)} band", points=corners(outline)))
    for index, share in enumerate(plot.shares):
        class_ = f"{colour(index, 's')} line"
        parts.append(element("polyline", tooltip=share.name, class_=class_, points=corners(sorted(share.points))))
    chosen = area.x(position(plot.bound))
    parts.append(line("chosen", (chosen, area.foot), (chosen, area.top), tooltip=plot.rule))
    for index, share in enumerate(plot.shares):
        at = {"cx": chosen, "cy": area.y(share.chosen), "r": 4.5}
        parts.append(element("circle", tooltip=share.summary, class_=f"{colour(index)} dot", **at))
        parts.append(element("rect", class_=colour(index), x=14, y=32 + ROW * index, width=11, height=11, rx=3))
        parts.append(label(share.summary, (32, 42 + ROW * index), class_="name"))
    axis = f"{plot.metric} at {'least' if plot.at_least else 'most'}"
    parts.append(label(axis, ((area.left + area.width - area.right) / 2, area.height - 8), "middle"))
    summary = "; ".join(share.summary for share in plot.shares)
    return element(
        "svg", *parts, xmlns=NAMESPACE, class_="drawing", viewBox=f"0 0 {area.width} {area.height}", role="img",
        aria_label=f"{plot.rule}: {summary}",
    ) + "\n"  # fmt: skip


def _ticks(first: float, last: float, is_logarithmic: bool) -> list[float]:
    """The round numbers to write below the axis."""
    if is_logarithmic:
        return [10.0**decade for decade in range(math.ceil(first), math.floor(last) + 1)]
    rough = (last - first) / TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough)
    return [number * step for number in range(math.ceil(first / step), math.floor(last / step) + 1)]


def _figures(plot: BoundPlot, bounds: Sequence[tuple[float, Sequence[Figure]]]) -> str:
    heads = ("bound", *(share.name for share in plot.shares))
    lines = [(f"{bound:.4g}", *map(_cell, shares)) for bound, shares in bounds]
    marked = next((index for index, (bound, _) in enumerate(bounds) if bound == plot.bound), None)
    return table(heads, lines, numbers=range(len(heads)), marked=marked)


def _cell(figure: Figure) -> str:
    value, spread = figure
    return f"{value:.2f}" + ("" if spread is None else f"<br><small>{spread[0]:.2f} – {spread[1]:.2f}</small>")


def _colours(palette: Sequence[str]) -> str:
    return " ".join(
        f".c{index} {{ fill: {colour}; }} .s{index} {{ stroke: {colour}; }}" for index, colour in enumerate(palette)
    )


STYLE = f"""
text {{ fill: #5d646e; font: 12px {FONT}; }} .name, .title {{ fill: #1d2024; font-size: 13px; }}
.title {{ font-weight: 600; font-size: 15px; }} .page {{ fill: #fff; }} .grid {{ stroke: #dfe1e4; fill: none; }}
.line {{ fill: none; stroke-width: 2; stroke-linejoin: round; }} .band {{ opacity: .16; }}
.chosen {{ stroke: #1d2024; stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }}
.dot {{ stroke: #fff; stroke-width: 1.5; }} {_colours(LIGHT)}
@media (prefers-color-scheme: dark) {{ text {{ fill: #a0a7b1; }} .name, .title {{ fill: #e8e9eb; }}
.page {{ fill: #1d2024; }} .grid {{ stroke: #363b42; }} .chosen {{ stroke: #e8e9eb; }} .dot {{ stroke: #1d2024; }}
{_colours(DARK)} }}
"""
