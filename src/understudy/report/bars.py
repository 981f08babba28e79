"""Bar charts with intervals, as SVG: one panel for each thing judged on, drawn for a phone's width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Bar", "panel"]

WIDTH = 340
LEFT, RIGHT, TOP, BOTTOM = 2, 50, 28, 20
STEP, THICK = 38, 14
LONGEST_NAME = 48
ROOMY = 40  # letters of a title that fit in any font; longer ones are set closer
COLOURS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """An agent's figure, its interval and the paper's figure; `colour` is the agent's number."""

    name: str
    value: float
    low: float | None
    high: float | None
    paper: float | None
    colour: int


def panel(title: str, bars: Sequence[Bar], top: float, bottom: float = 0.0) -> str:
    """Horizontal bars from 0, on an axis from `bottom` to `top` that all panels of a metric share, to be compared."""
    reach, base = _reach(top), -_reach(-bottom) if bottom < 0 else 0.0
    height = TOP + STEP * len(bars) + BOTTOM
    foot = height - BOTTOM

    def x(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min((value - base) / (reach - base), 1.0), 1)

    grid = "".join(
        f'<path class="grid" d="M{x(at)} {TOP}V{foot}"/><text class="axis" x="{x(at)}" y="{foot + 14}" '
        f'text-anchor="{"start" if at == base else "middle"}">{at:.4g}</text>'
        for at in ((base, 0.0, reach) if base < 0 else (0.0, reach / 2, reach))
    )
    drawn = "".join(_bar(bar, TOP + STEP * index, x) for index, bar in enumerate(bars))
    summary = "; ".join(f"{bar.name} {bar.value:.3f}" for bar in bars)
    return (
        f'<svg class="panel" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(f"{title}: {summary}")}">'
        f'<text class="title" x="{LEFT}" y="16"{_closer(title)}>{escape(_short(title))}</text>{grid}{drawn}</svg>'
    )


def _bar(bar: Bar, y: float, x: Callable[[float], float]) -> str:
    top = y + 18
    middle = top + THICK / 2
    begin, length = min(x(0.0), x(bar.value)), abs(x(bar.value) - x(0.0))
    parts = [
        f'<text class="name" x="{LEFT}" y="{y + 13}">{escape(_short(bar.name))}</text>',
        f'<rect class="c{bar.colour % COLOURS}" x="{begin}" y="{top}" width="{max(length, 1):.1f}" '
        f'height="{THICK}" rx="3"><title>{escape(bar.name)}: {bar.value:.4f}</title></rect>',
    ]
    end = max(bar.value, 0.0)
    if bar.low is not None and bar.high is not None:
        low, high = x(bar.low), x(bar.high)
        parts.append(
            f'<path class="interval" d="M{low} {middle}H{high}M{low} {middle - 4}V{middle + 4}'
            f'M{high} {middle - 4}V{middle + 4}"><title>{bar.low:.4f} to {bar.high:.4f}</title></path>'
        )
        end = max(end, bar.high)
    if bar.paper is not None:
        parts.append(
            f'<path class="paper" d="M{x(bar.paper)} {top - 4}V{top + THICK + 4}">'
            f"<title>the paper: {bar.paper:.3f}</title></path>"
        )
        end = max(end, bar.paper)
    parts.append(f'<text class="value" x="{x(end) + 6}" y="{middle + 4}">{bar.value:.3f}</text>')
    return "".join(parts)


def _reach(top: float) -> float:
    """The end of the axis: the next round step above everything shown."""
    if top <= 0:
        return 1.0
    step = math.pow(10, math.floor(math.log10(top))) / (1 if top < 1 else 2)
    return round(math.ceil(top / step - 1e-9) * step, 10)


def _closer(title: str) -> str:
    return f' textLength="{WIDTH - 2 * LEFT}" lengthAdjust="spacingAndGlyphs"' if len(title) > ROOMY else ""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"…{text[-LONGEST_NAME + 1 :]}"
