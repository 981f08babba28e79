"""How things look in a terminal: the console, tables, bars, spoken lines, a level over time."""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from understudy.errors import InputError
from understudy.story.persona import Persona
from understudy.story.spoiler_free import Course
from understudy.story.types import Finding, Line, Moment

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_red")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # text of a story must not control the terminal
BLOCKS = " ▏▎▍▌▋▊▉█"


class Screen(Console):
    """A console for text that is not ours: without markup, links, coloured numbers and control characters."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))

    def on_broken_pipe(self) -> None:
        raise  # the error being handled: the command group exits quietly on it


def screen(stderr: bool = False) -> Screen:
    return Screen(stderr=stderr, markup=False, highlight=False, emoji=False)


def clean(text: str) -> str:
    """Text without control characters."""
    return CONTROL.sub("", text)


def print_json(document: Any) -> None:
    """One document on stdout, escaped where stdout cannot show all letters."""
    text = json.dumps(document, ensure_ascii=not shows_letters(), indent=2)
    click.echo(CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text))  # JSON does not escape all of them


def shows_letters() -> bool:
    """Can stdout show the letters of any language?"""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def heading(text: str) -> Text:
    return Text(clean(text), style="bold")


def voice(name: str) -> str:
    """The colour a character speaks in: the same every time."""
    return COLOURS[zlib.crc32(name.encode()) % len(COLOURS)]


def when(moment: Moment) -> str:
    return "the end" if moment.is_end else str(moment)


def found_mark(finding: Finding) -> str:
    """What stands behind a sentence that was found in the text: '  (found, 2.3.14)'."""
    first, *more = finding.sources
    return f"  (found, {first.dotted}{f' and {len(more)} more' if more else ''})"


def indented(what: Any, by: int = 2) -> Padding:
    return Padding(what, (0, 0, 0, by), expand=False)


def short(text: str, longest: int) -> str:
    """The beginning of a long text."""
    return text if len(text) <= longest else f"{text[:longest].rstrip()}..."


def grid(rows: Iterable[Sequence[str | Text]]) -> Table:
    """Columns without rules; the last one wraps, and the others keep to one line."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    for index, row in enumerate(rows):
        if index == 0:
            for _ in row[:-1]:
                shown.add_column(no_wrap=True, max_width=20)
            shown.add_column(overflow="fold")
        shown.add_row(*(Text(clean(cell)) if isinstance(cell, str) else cell for cell in row))
    return shown


def bar(share: float, width: int, ascii_only: bool = False) -> str:
    """A bar that fills `share` of a width; a share above 0 is always visible."""
    if ascii_only:
        return "#" * max(round(share * width), share > 0)
    eighths = max(round(share * width * 8), share > 0)
    return "█" * (eighths // 8) + BLOCKS[eighths % 8].strip()


def spoken(lines: Iterable[Line], moments: bool = True, speakers: bool = True, longest: int = sys.maxsize) -> Table:
    """Lines to read: when, who, what; descriptions are set apart by their slant."""
    return grid(
        [
            *([Text(line.moment.dotted, style="dim")] if moments else []),
            *([Text(clean(line.speaker or ""), style=voice(line.speaker or ""))] if speakers else []),
            Text(short(clean(line.text), longest), style="" if line.speaker else "italic"),
        ]
        for line in lines
    )


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
    """The rows of a chart whose steps are equally wide: one change each, from the moment below its left end on.

          8 ┤              ┌─ 8 ──────
          6 ┤              │
          4 ┤              │
          2 ┤ ── 3 ─────┐  │
          0 ┤           │  │
         -2 ┤           └──┘ -1
            └─┬─────────┬──┬──────────
             1.1       1.4 2.2

    Where they do not fit, the oldest are left out.
    """
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


# One undecided entry after the other, for an author at a terminal.


class Undoable(Protocol):
    """A file of decisions; `undo` are the decisions before each step, the latest last."""

    @property
    def path(self) -> Path: ...
    @property
    def undo(self) -> Sequence[Sequence[tuple[str, object]]]: ...


File = TypeVar("File", bound=Undoable)


def ask_in_turn(
    file: File, ids: Sequence[str], keys: str, show: Callable[[File, str, str], bool],
    decide: Callable[[File, str, str], File | None], write: Callable[[File], None], undo: Callable[[File], File],
) -> None:  # fmt: skip
    """Asks about entries by their ids; each decision is written at once.

    `show` shows an entry unless it is decided, and says whether it did; `decide` gives the file with the decision that
    a key stands for, None where it stands for none. 's' skips an entry, 'u' takes the last decision back, 'q' ends.
    """
    index, decided = 0, 0
    while index < len(ids):
        if not show(file, ids[index], f"\n{index + 1}/{len(ids)}  "):
            index += 1
            continue
        key = click.prompt(keys, default="s", show_default=False).strip()
        if key == "q":
            break
        again = {entry_id for entry_id, _ in file.undo[-1]} if key == "u" and file.undo else set[str]()
        try:
            changed = undo(file) if key == "u" else None if key == "s" else decide(file, ids[index], key)
        except InputError as error:
            click.echo(clean(str(error)), err=True)
            continue
        if changed is not None:
            file = changed
            write(file)
        if key == "u":
            index = min((at for at, entry_id in enumerate(ids) if entry_id in again), default=index)
            decided = max(decided - 1, 0)
        elif key == "s" or changed is not None:
            index += 1
            decided += key != "s"
    click.echo(f"{decided} decisions are in {file.path}.")
