"""Charts as SVG, drawn for a phone's width: bars with intervals, and curves.

Bars have one panel for each thing judged on. Curves are precision against recall for each scorer, and accuracy against
the share learned from. A point of a learning curve is {"show", "share", "value", "low", "high"}; its axis is
logarithmic: doubling is one step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from understudy.bench.report.page import legend

__all__ = [
    "FAMILIES",
    "Bar",
    "curves_section",
    "learning_section",
    "panel",
    "prompts_section",
    "question",
    "samples_section",
]

BARS_WIDTH = 340
BARS_LEFT, BARS_RIGHT, BARS_TOP, BARS_BOTTOM = 2, 50, 28, 20
STEP, THICK = 38, 14
LONGEST_NAME = 48
ROOMY = 40  # letters of a title that fit in any font; longer ones are set closer

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
    height = BARS_TOP + STEP * len(bars) + BARS_BOTTOM
    foot = height - BARS_BOTTOM

    def x(value: float) -> float:
        return round(BARS_LEFT + (BARS_WIDTH - BARS_LEFT - BARS_RIGHT) * min((value - base) / (reach - base), 1.0), 1)

    grid = "".join(
        f'<path class="grid" d="M{x(at)} {BARS_TOP}V{foot}"/><text class="axis" x="{x(at)}" y="{foot + 14}" '
        f'text-anchor="{"start" if at == base else "middle"}">{at:.4g}</text>'
        for at in ((base, 0.0, reach) if base < 0 else (0.0, reach / 2, reach))
    )
    drawn = "".join(_bar(bar, BARS_TOP + STEP * index, x) for index, bar in enumerate(bars))
    summary = "; ".join(f"{bar.name} {bar.value:.3f}" for bar in bars)
    return (
        f'<svg class="panel" viewBox="0 0 {BARS_WIDTH} {height}" role="img" '
        f'aria-label="{escape(f"{title}: {summary}")}">'
        f'<text class="title" x="{BARS_LEFT}" y="16"{_closer(title)}>{escape(_short(title))}</text>{grid}{drawn}</svg>'
    )


def _bar(bar: Bar, y: float, x: Callable[[float], float]) -> str:
    top = y + 18
    middle = top + THICK / 2
    begin, length = min(x(0.0), x(bar.value)), abs(x(bar.value) - x(0.0))
    parts = [
        f'<text class="name" x="{BARS_LEFT}" y="{y + 13}">{escape(_short(bar.name))}</text>',
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
    return f' textLength="{BARS_WIDTH - 2 * BARS_LEFT}" lengthAdjust="spacingAndGlyphs"' if len(title) > ROOMY else ""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"…{text[-LONGEST_NAME + 1 :]}"


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


# What generative agents said, beside what was right, and the prompts of those that write with a language model.

Row = Mapping[str, Any]

FAMILIES = {
    **dict.fromkeys(
        ("perplexity", "perplexity_per_token", "hits@1_per_token", "delta-p", "delta-p_of_sets"),
        "How probable the right reply is",
    ),
    **dict.fromkeys(
        ("f1", "bleu", "dist-1", "dist-2", "rep", "mauve", "delta-m", "errors"), "What the replies are like"
    ),
    **dict.fromkeys(("rep_turn", "p_f1", "p_cover", "contradicts"), "How the replies fit the talk and the persona"),
}
"""Metrics that stand in a table of their own, which has this title: together they would be too wide."""


def question(row: Row) -> str:
    """Who is asked, what they were told of themselves and the other, and what was said so far."""
    profiles = "".join(
        f"<p class='who'>{escape(who)}</p><ul>{''.join(f'<li>{escape(text)}</li>' for text in row[key])}</ul>"
        for who, key in ((f"{row['speaker']} is told to be", "persona"), ("and faces somebody who is", "partner"))
        if row.get(key)
    )
    turns = "".join(
        f"<p class='{'own' if speaker == row['speaker'] else 'turn'}'><b>{escape(speaker)}</b> {escape(text)}</p>"
        for speaker, text in row["history"]
    )
    return f"{profiles}<div class='talk'>{turns or '<p class=turn><i>nothing has been said yet</i></p>'}</div>"


def samples_section(samples: Sequence[Row]) -> str:
    """The first replies of each agent; nothing where none replied."""
    if not samples:
        return ""
    agents = []
    for index, agent in enumerate(dict.fromkeys(str(row["agent"]) for row in samples)):
        cards = "".join(_sample(row) for row in samples if row["agent"] == agent)
        opened = "" if index else " open"
        agents.append(f"<details{opened}><summary>{escape(agent)}</summary><div class='cards'>{cards}</div></details>")
    return f"<section><h2>Replies in their own words</h2>{''.join(agents)}</section>\n"


def _sample(row: Row) -> str:
    return (
        f"<article><h3>{escape(row['item'])} <small>{escape(row['condition'])}, F1 {row['f1']:.3f}</small></h3>"
        f"{question(row)}<p class='right'><b>right</b> {escape(row['gold'])}</p>"
        f"<p class='said'><b>said</b> {escape(row['reply'])}</p></article>"
    )


def prompts_section(agents: Mapping[str, Row | None]) -> str:
    """What agents that write were told for the first question; nothing where none writes."""
    prompts = {name: card["prompt"] for name, card in agents.items() if card and card.get("prompt")}
    if not prompts:
        return ""
    details = "".join(
        f"<details><summary>{escape(name)}</summary>{''.join(_message(message) for message in messages)}</details>"
        for name, messages in prompts.items()
    )
    note = "What was sent to the language model for the first question."
    return f"<section><h2>Prompts</h2><p>{note}</p>{details}</section>\n"


def _message(message: Mapping[str, str]) -> str:
    return f"<p class='who'>{escape(message['role'])}</p><pre>{escape(message['content'])}</pre>"
