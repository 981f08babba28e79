"""How evidence goes with what it takes, as SVG: bands from kinds of evidence to needs of history or of reasoning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

__all__ = ["flows_section"]

WIDTH = 340
LEFT, RIGHT, TOP, FOOT = 2, 2, 46, 6
THICK = 8
UNIT = 260  # height of everything that flows
LABEL, GAP = 16, 5  # a kind that is rare still needs room for its name
COLOURS = 8  # the kind after them, exclusion, is grey
TAKES = {"history": "need of history", "reasoning": "reasoning"}
NOTE = (
    "What people used to tell the masked speakers: kinds of evidence on the left, what these took on the right, with "
    "how often. Somebody who was told by several kinds counts for each."
)


class _Node(NamedTuple):
    """A block of one side."""

    top: float
    height: float


def flows_section(flows: Sequence[Mapping[str, Any]]) -> str:
    """A panel for each flow; nothing where there are none."""
    panels = "".join(_panel(flow) for flow in flows if flow["links"])
    if not panels:
        return ""
    return f"<section><h2>What telling takes</h2><p>{NOTE}</p><div class='panels'>{panels}</div></section>\n"


def _panel(flow: Mapping[str, Any]) -> str:
    end = str(flow["to"])
    links = [(str(link["evidence"]), str(link[end]), int(link["count"])) for link in flow["links"]]
    begins = _sums(flow["evidence"], ((a, count) for a, _, count in links))
    ends = _sums(flow["ends"], ((b, count) for _, b, count in links))
    scale = UNIT / sum(begins.values())
    height = max(_room(begins, scale), _room(ends, scale))
    left, right = _stacked(begins, scale, height), _stacked(ends, scale, height)
    colour = {name: f"c{place}" if place < COLOURS else "plain" for place, name in enumerate(begins)}
    used_left, used_right = dict.fromkeys(begins, 0.0), dict.fromkeys(ends, 0.0)
    bands = ""
    for a, b, count in links:
        bands += _band(
            left[a].top + used_left[a], right[b].top + used_right[b], count * scale, colour[a], f"{a}, {b}: {count}"
        )
        used_left[a] += count * scale
        used_right[b] += count * scale
    blocks = "".join(
        _block(name, begins[name], node, LEFT, "start", colour[name]) for name, node in left.items()
    ) + "".join(_block(name, ends[name], node, WIDTH - RIGHT - THICK, "end", "plain") for name, node in right.items())
    title = str(flow["show"]).replace("_", " ")
    told = "; ".join(f"{a}, {b}: {count}" for a, b, count in links)
    return (
        f'<svg class="panel" viewBox="0 0 {WIDTH} {round(TOP + height + FOOT)}" role="img" '
        f'aria-label="{escape(f"{title}: {told}")}">'
        f'<text class="title" x="2" y="16">{escape(title)}</text>'
        f'<text class="axis" x="2" y="34">evidence</text>'
        f'<text class="axis" x="{WIDTH - 2}" y="34" text-anchor="end">{escape(TAKES.get(end, end))}</text>'
        f"{bands}{blocks}</svg>"
    )


def _sums(names: Sequence[str], counted: Iterable[tuple[str, int]]) -> dict[str, int]:
    found = dict.fromkeys(names, 0)
    for name, count in counted:
        found[name] += count
    return found


def _room(sums: Mapping[str, int], scale: float) -> float:
    return sum(max(count * scale, LABEL) for count in sums.values()) + GAP * (len(sums) - 1)


def _stacked(sums: Mapping[str, int], scale: float, height: float) -> dict[str, _Node]:
    """Blocks from top to bottom over the whole height, each in the middle of its slot."""
    gap = GAP + (height - _room(sums, scale)) / max(1, len(sums) - 1)
    at, found = float(TOP), {}
    for name, count in sums.items():
        tall, slot = count * scale, max(count * scale, LABEL)
        found[name] = _Node(at + (slot - tall) / 2, tall)
        at += slot + gap
    return found


def _band(y0: float, y1: float, thick: float, colour: str, told: str) -> str:
    x0, x1 = LEFT + THICK, WIDTH - RIGHT - THICK
    middle = (x0 + x1) / 2
    return (
        f'<path class="{colour} band" d="M{x0} {y0:.1f}C{middle} {y0:.1f} {middle} {y1:.1f} {x1} {y1:.1f}'
        f"V{y1 + thick:.1f}C{middle} {y1 + thick:.1f} {middle} {y0 + thick:.1f} {x0} {y0 + thick:.1f}Z"
        f'"><title>{escape(told)}</title></path>'
    )


def _block(name: str, count: int, node: _Node, x: float, anchor: str, colour: str) -> str:
    beside = x + THICK + 5 if anchor == "start" else x - 5
    y = node.top + node.height / 2 + 4
    return (
        f'<rect class="{colour}" x="{x}" y="{node.top:.1f}" width="{THICK}" height="{max(node.height, 1):.1f}"/>'
        f'<text class="axis told" x="{beside}" y="{y:.1f}" text-anchor="{anchor}">{escape(name)} '
        f'<tspan class="count">{count}</tspan></text>'
    )
