"""A level over time as a line in the terminal.

      8 ┤              ┌─ 8 ──────
      6 ┤              │
      4 ┤              │
      2 ┤ ── 3 ─────┐  │
      0 ┤           │  │
     -2 ┤           └──┘ -1
        └─┬─────────┬──┬──────────
         1.1       1.4 2.2

Each step is one change, from the moment below its left end on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from understudy.story import Moment

__all__ = ["Point", "line_chart"]

Point = tuple[Moment, int]
"""From when on, and the level since then."""

TALLEST = 11
NARROWEST = 6  # columns a step needs for its level
PLAIN = str.maketrans("─│┌┐└┘┤┬╌", "-|....|+ ")


def line_chart(points: Sequence[Point], until: Moment, width: int = 80, ascii_only: bool = False) -> list[str]:
    """The rows of a chart whose steps are equally wide. The oldest give way where there are too many to fit."""
    if not points:
        return []
    margin = max(len(_signed(level)) for _, level in points) + 3
    narrowest = max(NARROWEST, *(len(moment.dotted) + 1 for moment, _ in points))
    room = max((width - margin - len(until.dotted) - 1) // narrowest, 1)
    left_out, points = max(len(points) - room, 0), points[-room:]
    step = min((width - margin - len(until.dotted) - 1) // len(points), 16)
    canvas, levels = _drawn([level for _, level in points], step)
    rows = [f"{_signed(level):>{margin - 2}} ┤{''.join(row).rstrip()}" for level, row in zip(levels, canvas)]
    rows += [" " * (margin - 1) + line for line in _axis([moment.dotted for moment, _ in points], until.dotted, step)]
    if left_out:
        rows.append(f"({left_out} earlier left out)")
    return [row.translate(PLAIN) for row in rows] if ascii_only else rows


def _signed(level: int) -> str:
    return f"{level:+}" if level else "0"


def _drawn(levels: Sequence[int], step: int) -> tuple[list[list[str]], list[int]]:
    """The canvas from the top down, and the level that each of its rows stands for."""
    low, high = min(*levels, 0), max(*levels, 0)
    scale = max(-(-(high - low) // (TALLEST - 1)), 1)
    rows = list(range(-(-high // scale) * scale, low // scale * scale - 1, -scale))
    lead = 2 if step > NARROWEST else 1
    canvas = [[" "] * (step * len(levels) + 1) for _ in rows]
    places = [min(range(len(rows)), key=lambda row: (abs(rows[row] - level), -abs(rows[row]))) for level in levels]
    if 0 in rows:
        canvas[rows.index(0)] = ["╌"] * len(canvas[0])
    for number, (level, row) in enumerate(zip(levels, places)):
        start = number * step
        canvas[row][start : start + step + 1] = "─" * (step + 1)
        said = f" {_signed(level)} "
        canvas[row][start + lead : start + lead + len(said)] = said
    for number, (before, after) in enumerate(pairwise(places), 1):
        if before == after:
            continue
        column, (top, bottom) = number * step, sorted((before, after))
        for row in range(top + 1, bottom):
            canvas[row][column] = "│"
        canvas[before][column] = "┐" if after > before else "┘"
        canvas[after][column] = "└" if after > before else "┌"
    return canvas, rows


def _axis(moments: Sequence[str], until: str, step: int) -> list[str]:
    ticks = "└" + "".join("┬" + "─" * (step - 1) for _ in moments) + ("┬" if until != moments[-1] else "─")
    labels = ""
    for number, moment in enumerate([*moments, *([until] if until != moments[-1] else [])]):
        column = number * step + 1
        labels = labels.ljust(column) + moment
    return [ticks, labels]
