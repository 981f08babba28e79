"""Figures of guessing benches, as SVG: confusion matrices, and flows from kinds of evidence to what they require."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from understudy.bench.report.page import COLOURS, colour, foldable, picture, section
from understudy.svg import Markup, element, label

__all__ = ["confusions_section", "flows_section"]

WIDTH = 340
LEFT, RIGHT, TOP, FOOT = 84, 38, 84, 6
LARGEST = 40  # side of a square, where there are few
MOST = 10  # people in a table; those who are masked most come first
LONGEST_NAME = 11
STRONGEST = 0.6  # opacity behind a number, so that the number can be read
CONFUSIONS_NOTE = (
    "A line for each person, a column for each one they were taken for, with how often. Green is right; red is wrong, "
    "the stronger the larger its share of the line. People can only be confused with those they share scenes with."
)

MARGIN, FLOW_TOP = 2, 46
THICK = 8
UNIT = 260  # height of everything that flows
LABEL, GAP = 16, 5  # a kind that is rare still needs room for its name
TAKES = {"history": "need of history", "reasoning": "reasoning"}
FLOWS_NOTE = (
    "What people used to tell the masked speakers: kinds of evidence on the left, what these took on the right, with "
    "how often. Somebody who was told by several kinds counts for each."
)

Row = Mapping[str, Any]


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
        shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
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
        parts += _block(name, ends[name], node, WIDTH - MARGIN - THICK, "end", "plain")
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
    x0, x1 = MARGIN + THICK, WIDTH - MARGIN - THICK
    middle = (x0 + x1) / 2
    there = f"M{x0} {y0:.1f}C{middle} {y0:.1f} {middle} {y1:.1f} {x1} {y1:.1f}"
    back = f"V{y1 + thick:.1f}C{middle} {y1 + thick:.1f} {middle} {y0 + thick:.1f} {x0} {y0 + thick:.1f}Z"
    return element("path", tooltip=tooltip, class_=f"{class_} band", d=there + back)


def _block(name: str, count: int, node: _Node, x: float, anchor: str, class_: str) -> list[Markup]:
    beside, y = x + THICK + 5 if anchor == "start" else x - 5, node.top + node.height / 2 + 4
    number = element("tspan", str(count), class_="count")
    return [
        element("rect", class_=class_, x=x, y=node.top, width=THICK, height=max(node.height, 1.0)),
        element("text", name, " ", number, class_="told", x=beside, y=y, text_anchor=anchor),
    ]
