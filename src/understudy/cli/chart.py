"""A level over time as a line in the terminal, such as how a character's affection has changed so far.

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

from rich.text import Text

from understudy.cli.show import Screen, clean, heading, indented
from understudy.story.persona import Persona
from understudy.story.spoiler_free import Course
from understudy.story.types import Moment

__all__ = ["Point", "line_chart", "print_affection"]

Point = tuple[Moment, int]
"""The moment of a change, and the level from then on."""

MAX_ROWS = 11
MIN_STEP = 6  # columns a step needs to show its level
ASCII = str.maketrans("─│┌┐└┘┤┬╌", "-|....|+ ")


def print_affection(out: Screen, persona: Persona, to: str, course: Course) -> None:
    until = "the end" if persona.moment.is_end else persona.moment.dotted
    out.print(heading(f"{persona.name}'s affection towards {to}, up to {until} (-10 to +10)"))
    rows = line_chart(course, persona.moment, width=min(out.width, 80) - 2, ascii_only=out.options.ascii_only)
    out.print(indented(Text(clean("\n".join(rows)), no_wrap=True)))


def line_chart(points: Sequence[Point], until: Moment, width: int = 80, ascii_only: bool = False) -> list[str]:
    """The rows of a chart whose steps are equally wide. Where they do not fit, the oldest are left out."""
    if not points:
        return []
    margin = max(len(_signed(level)) for _, level in points) + 3
    min_step = max(MIN_STEP, *(len(moment.dotted) + 1 for moment, _ in points))
    room = max((width - margin - len(until.dotted) - 1) // min_step, 1)
    left_out, points = max(len(points) - room, 0), points[-room:]
    step = min((width - margin - len(until.dotted) - 1) // len(points), 16)
    canvas, levels = _draw([level for _, level in points], step)
    rows = [f"{_signed(level):>{margin - 2}} ┤{''.join(row).rstrip()}" for level, row in zip(levels, canvas)]
    rows += [" " * (margin - 1) + line for line in _axis([moment.dotted for moment, _ in points], until.dotted, step)]
    if left_out:
        rows.append(f"({left_out} earlier left out)")
    return [row.translate(ASCII) for row in rows] if ascii_only else rows


def _signed(level: int) -> str:
    return f"{level:+}" if level else "0"


def _draw(levels: Sequence[int], step: int) -> tuple[list[list[str]], list[int]]:
    """The canvas from the top down, and the level that each of its rows stands for."""
    low, high = min(*levels, 0), max(*levels, 0)
    scale = max(-(-(high - low) // (MAX_ROWS - 1)), 1)
    rows = list(range(-(-high // scale) * scale, low // scale * scale - 1, -scale))
    lead = 2 if step > MIN_STEP else 1
    canvas = [[" "] * (step * len(levels) + 1) for _ in rows]
    nearest = [min(range(len(rows)), key=lambda row: (abs(rows[row] - level), -abs(rows[row]))) for level in levels]
    if 0 in rows:
        canvas[rows.index(0)] = ["╌"] * len(canvas[0])
    for number, (level, row) in enumerate(zip(levels, nearest)):
        start = number * step
        canvas[row][start : start + step + 1] = "─" * (step + 1)
        label = f" {_signed(level)} "
        canvas[row][start + lead : start + lead + len(label)] = label
    for number, (before, after) in enumerate(pairwise(nearest), 1):
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
