"""Figures of guessing benches, as SVG: confusion matrices, and flows from kinds of evidence to what they require."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

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

FLOW_LEFT, FLOW_RIGHT, FLOW_TOP = 2, 2, 46
THICK = 8
UNIT = 260  # height of everything that flows
LABEL, GAP = 16, 5  # a kind that is rare still needs room for its name
COLOURS = 8  # the kind after them, exclusion, is grey
TAKES = {"history": "need of history", "reasoning": "reasoning"}
FLOWS_NOTE = (
    "What people used to tell the masked speakers: kinds of evidence on the left, what these took on the right, with "
    "how often. Somebody who was told by several kinds counts for each."
)


def confusions_section(confusions: Sequence[Mapping[str, Any]]) -> str:
    """A part for each model, the one that is right most often first and open; nothing where there are none."""
    models: dict[str, list[Mapping[str, Any]]] = {}
    for confusion in confusions:
        models.setdefault(str(confusion["model"]), []).append(confusion)
    parts = []
    for index, model in enumerate(sorted(models, key=lambda name: -_right(models[name]))):
        panels = "".join(_confusion_panel(confusion) for confusion in models[model])
        opened = " open" if index == 0 else ""
        parts.append(
            f"<details{opened}><summary>{escape(model)}</summary><div class='panels'>{panels}</div></details>\n"
        )
    return (
        f"<section><h2>Who is taken for whom</h2><p>{CONFUSIONS_NOTE}</p>{''.join(parts)}</section>\n" if parts else ""
    )


def _right(confusions: Sequence[Mapping[str, Any]]) -> float:
    hits = sum(line[index] for confusion in confusions for index, line in enumerate(confusion["counts"]))
    return float(hits / max(1, sum(sum(line) for confusion in confusions for line in confusion["counts"])))


def _confusion_panel(confusion: Mapping[str, Any]) -> str:
    names: Sequence[str] = confusion["names"][:MOST]
    totals = [sum(line) for line in confusion["counts"]]  # of the whole line, those left out included
    counts = [line[:MOST] for line in confusion["counts"][:MOST]]
    size = min(LARGEST, (WIDTH - LEFT - RIGHT) / max(1, len(names)))
    shares = [[count / total if total else 0.0 for count in line] for line, total in zip(counts, totals)]
    wrong = max((share for a, line in enumerate(shares) for b, share in enumerate(line) if a != b), default=0.0)
    title = str(confusion["show"]).replace("_", " ")
    heads = "".join(_heads(name, index, size) for index, name in enumerate(names))
    cells = "".join(
        _cell(names, a, b, counts[a][b], totals[a], shares[a][b] / ((wrong or 1.0) if a != b else 1.0), size)
        for a in range(len(names))
        for b in range(len(names))
    )
    summary = "; ".join(f"{name} {counts[index][index]} of {totals[index]} right" for index, name in enumerate(names))
    height = round(TOP + size * len(names) + FOOT)
    return (
        f'<svg class="panel" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(f"{title}: {summary}")}">'
        f'<text class="title" x="2" y="16">{escape(title)}</text>{heads}{cells}</svg>'
    )


def _heads(name: str, index: int, size: float) -> str:
    shown = escape(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…")
    x, y = round(LEFT + size * (index + 0.5) + 4, 1), round(TOP + size * (index + 0.5) + 4, 1)
    return (
        f'<text class="axis" transform="translate({x} {TOP - 6}) rotate(-45)">{shown}</text>'
        f'<text class="axis" x="{LEFT - 6}" y="{y}" text-anchor="end">{shown}</text>'
    )


def _cell(names: Sequence[str], a: int, b: int, count: int, total: int, strength: float, size: float) -> str:
    x, y = round(LEFT + size * b, 1), round(TOP + size * a, 1)
    colour = "right" if a == b else "wrong"
    tooltip = f"{names[a]} told" if a == b else f"{names[a]} taken for {names[b]}"
    number = (
        f'<text class="count" x="{round(x + size / 2, 1)}" y="{round(y + size / 2 + 4, 1)}" '
        f'text-anchor="middle">{count}</text>'
    )
    return (
        f'<rect class="grid" x="{x}" y="{y}" width="{size:.1f}" height="{size:.1f}" '
        f'style="fill:var(--{colour});fill-opacity:{STRONGEST * strength:.3f}">'
        f"<title>{escape(tooltip)}: {count} of {total}</title></rect>{number if count else ''}"
    )


class _Node(NamedTuple):
    """A block of one side."""

    top: float
    height: float


def flows_section(flows: Sequence[Mapping[str, Any]]) -> str:
    """A panel for each flow; nothing where there are none."""
    panels = "".join(_flow_panel(flow) for flow in flows if flow["links"])
    if not panels:
        return ""
    return f"<section><h2>What telling takes</h2><p>{FLOWS_NOTE}</p><div class='panels'>{panels}</div></section>\n"


def _flow_panel(flow: Mapping[str, Any]) -> str:
    end = str(flow["to"])
    links = [(str(link["evidence"]), str(link[end]), int(link["count"])) for link in flow["links"]]
    begins = _sums(flow["evidence"], ((a, count) for a, _, count in links))
    ends = _sums(flow["ends"], ((b, count) for _, b, count in links))
    scale = UNIT / sum(begins.values())
    height = max(_room(begins, scale), _room(ends, scale))
    left, right = _stacked(begins, scale, height), _stacked(ends, scale, height)
    colour = {name: f"c{index}" if index < COLOURS else "plain" for index, name in enumerate(begins)}
    used_left, used_right = dict.fromkeys(begins, 0.0), dict.fromkeys(ends, 0.0)
    bands = ""
    for a, b, count in links:
        bands += _band(
            left[a].top + used_left[a], right[b].top + used_right[b], count * scale, colour[a], f"{a}, {b}: {count}"
        )
        used_left[a] += count * scale
        used_right[b] += count * scale
    blocks = "".join(
        _block(name, begins[name], node, FLOW_LEFT, "start", colour[name]) for name, node in left.items()
    ) + "".join(
        _block(name, ends[name], node, WIDTH - FLOW_RIGHT - THICK, "end", "plain") for name, node in right.items()
    )
    title = str(flow["show"]).replace("_", " ")
    summary = "; ".join(f"{a}, {b}: {count}" for a, b, count in links)
    return (
        f'<svg class="panel" viewBox="0 0 {WIDTH} {round(FLOW_TOP + height + FOOT)}" role="img" '
        f'aria-label="{escape(f"{title}: {summary}")}">'
        f'<text class="title" x="2" y="16">{escape(title)}</text>'
        f'<text class="axis" x="2" y="34">evidence</text>'
        f'<text class="axis" x="{WIDTH - 2}" y="34" text-anchor="end">{escape(TAKES.get(end, end))}</text>'
        f"{bands}{blocks}</svg>"
    )


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


def _band(y0: float, y1: float, thick: float, colour: str, tooltip: str) -> str:
    x0, x1 = FLOW_LEFT + THICK, WIDTH - FLOW_RIGHT - THICK
    middle = (x0 + x1) / 2
    return (
        f'<path class="{colour} band" d="M{x0} {y0:.1f}C{middle} {y0:.1f} {middle} {y1:.1f} {x1} {y1:.1f}'
        f"V{y1 + thick:.1f}C{middle} {y1 + thick:.1f} {middle} {y0 + thick:.1f} {x0} {y0 + thick:.1f}Z"
        f'"><title>{escape(tooltip)}</title></path>'
    )


def _block(name: str, count: int, node: _Node, x: float, anchor: str, colour: str) -> str:
    beside = x + THICK + 5 if anchor == "start" else x - 5
    y = node.top + node.height / 2 + 4
    return (
        f'<rect class="{colour}" x="{x}" y="{node.top:.1f}" width="{THICK}" height="{max(node.height, 1):.1f}"/>'
        f'<text class="axis told" x="{beside}" y="{y:.1f}" text-anchor="{anchor}">{escape(name)} '
        f'<tspan class="count">{count}</tspan></text>'
    )
