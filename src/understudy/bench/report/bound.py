"""The effect of a bound on a metric, as SVG: shares of lines kept against the bound, and the bound that was chosen.

An SVG that stands by itself, or a page with the figures beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from understudy.bench.report.page import COLOURS, DARK, FONT, LIGHT, page, table

__all__ = ["BoundPlot", "Figure", "Share", "bound_page", "bound_svg"]

Figure = tuple[float, tuple[float, float] | None]
"""A share, and its interval where it has one."""

WIDTH, HEIGHT = 360, 340
LEFT, RIGHT, BOTTOM = 44, 16, 48
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
    return page(
        title,
        (
            f"<header><h1>{escape(title)}</h1><p>{escape(note)}</p></header>\n",
            f"<section class='single'>{bound_svg(plot)}</section>\n",
            f"<section><h2>What some bounds would do</h2>{_figures(plot, bounds)}</section>\n",
        ),
    )


def bound_svg(plot: BoundPlot) -> str:
    top = 48 + ROW * len(plot.shares)
    bounds = sorted({bound for share in plot.shares for bound, _ in share.points} | {plot.bound})
    x, ticks = _axis(bounds[0], bounds[-1])

    def y(share: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - top - BOTTOM) * share, 1)

    parts = [_grid(ticks, x, y)]
    parts += [_band(share, index, x, y) for index, share in enumerate(plot.shares)]
    parts += [_line(share, index, x, y) for index, share in enumerate(plot.shares)]
    parts.append(f'<path class="chosen" d="M{x(plot.bound)} {y(0)}V{y(1)}"><title>{escape(plot.rule)}</title></path>')
    parts += [
        f'<circle class="c{index % len(COLOURS)} dot" cx="{x(plot.bound)}" cy="{y(share.chosen)}" r="4.5">'
        f"<title>{escape(share.summary)}</title></circle>"
        for index, share in enumerate(plot.shares)
    ]
    parts += [_key(share, index) for index, share in enumerate(plot.shares)]
    summary = "; ".join(share.summary for share in plot.shares)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(f"{plot.rule}: {summary}")}"><style>{STYLE}</style>'
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="10"/>'
        f'<text class="title" x="14" y="22">{escape(plot.rule)}</text>{"".join(parts)}'
        f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(plot.metric)} at {'least' if plot.at_least else 'most'}</text></svg>\n"
    )


def _axis(low: float, high: float) -> tuple[Callable[[float], float], list[float]]:
    """Where a bound lies, and the round numbers to write below."""
    wide = WIDTH - LEFT - RIGHT
    if low > 0 and high > 10 and high / low > SPREAD:
        least, most = math.log10(low), math.log10(high)
        decades = range(math.ceil(least), math.floor(most) + 1)
        ticks = [10.0**decade for decade in decades]
        return lambda bound: round(LEFT + wide * (math.log10(bound) - least) / (most - least), 1), ticks
    if high == low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough)
    ticks = [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return lambda bound: round(LEFT + wide * (bound - low) / (high - low), 1), ticks


def _grid(ticks: Sequence[float], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    across = "".join(
        f'<path class="grid" d="M{LEFT} {y(share)}H{WIDTH - RIGHT}"/>'
        f'<text class="axis" x="{LEFT - 6}" y="{y(share) + 4}" text-anchor="end">{share:g}</text>'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    up = "".join(
        f'<path class="grid" d="M{x(tick)} {y(0)}v4"/>'
        f'<text class="axis" x="{x(tick)}" y="{y(0) + 16}" text-anchor="middle">{tick:,.6g}</text>'
        for tick in ticks
    )
    return across + up


def _band(share: Share, index: int, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    if not share.band:
        return ""
    ordered = sorted(share.band)
    there = [f"{x(bound)} {y(high)}" for bound, _, high in ordered]
    back = [f"{x(bound)} {y(low)}" for bound, low, _ in reversed(ordered)]
    return f'<path class="c{index % len(COLOURS)} band" d="M{"L".join((*there, *back))}Z"/>'


def _line(share: Share, index: int, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    points = "L".join(f"{x(bound)} {y(value)}" for bound, value in sorted(share.points))
    return f'<path class="s{index % len(COLOURS)} line" d="M{points}"><title>{escape(share.name)}</title></path>'


def _key(share: Share, index: int) -> str:
    height = 42 + ROW * index
    return (
        f'<rect class="c{index % len(COLOURS)}" x="14" y="{height - 10}" width="11" height="11" rx="3"/>'
        f'<text x="32" y="{height}">{escape(share.summary)}</text>'
    )


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
text {{ fill: #1d2024; font: 13px {FONT}; }} .title {{ font-weight: 600; font-size: 15px; }}
.axis {{ fill: #5d646e; font-size: 12px; }} .page {{ fill: #fff; }} .grid {{ stroke: #dfe1e4; fill: none; }}
.line {{ fill: none; stroke-width: 2; stroke-linejoin: round; }} .band {{ opacity: .16; }}
.chosen {{ stroke: #1d2024; stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }}
.dot {{ stroke: #fff; stroke-width: 1.5; }} {_colours(LIGHT)}
@media (prefers-color-scheme: dark) {{ text {{ fill: #e8e9eb; }} .axis {{ fill: #a0a7b1; }} .page {{ fill: #1d2024; }}
.grid {{ stroke: #363b42; }} .chosen {{ stroke: #e8e9eb; }} .dot {{ stroke: #1d2024; }} {_colours(DARK)} }}
"""
