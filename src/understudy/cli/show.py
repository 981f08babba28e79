"""How things look in a terminal: the console, tables, bars, spoken lines."""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from understudy.story.types import Finding, Line, Moment

__all__ = [
    "Column",
    "Screen",
    "bar",
    "clean",
    "found_mark",
    "grid",
    "heading",
    "indented",
    "print_json",
    "print_table",
    "screen",
    "short",
    "shows_letters",
    "spoken",
    "table",
    "voice",
    "when",
]

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_red")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # text of a story must not control the terminal
FLEXIBLE = 16  # columns that a cell which may be wrapped is given at least
GAP = 2  # columns between two cells
BLOCKS = " ▏▎▍▌▋▊▉█"


Column = str | tuple[str, dict[str, Any]]
"""The head of a column, or the head with settings for rich."""


class Screen(Console):
    """A console for text that is not ours: without markup, links, coloured numbers and control characters."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))

    def on_broken_pipe(self) -> None:
        raise  # the error being handled: the command group exits quietly on it


def screen() -> Screen:
    return Screen(markup=False, highlight=False, emoji=False)


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


def table(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]]) -> Table:
    """A table whose `no_wrap` columns keep their width; where there is too little room, the others wrap."""
    cells = [[Text(clean(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for index, column in enumerate(columns):
        head, settings = (column, {}) if isinstance(column, str) else column
        if settings.get("no_wrap") and "overflow" not in settings:
            widest = max((row[index].cell_len for row in cells), default=0)
            settings = {"min_width": min(max(widest, len(head)), settings.get("max_width", widest)), **settings}
        shown.add_column(head, **{"overflow": "fold", **settings})
    for row in cells:
        shown.add_row(*row)
    return shown


def print_table(
    out: Screen, columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], indent: int = 2, keys: int = 1
) -> None:
    """A table; where its columns do not fit side by side, several, each beginning with the first columns again.

    `keys` is how many of them it takes to say what a line is about.
    """
    lines = [list(row) for row in rows]
    for number, part in enumerate(_fitting(columns, lines, out.width - indent, keys)):
        if number:
            out.print()
        picked = [columns[index] for index in part]
        out.print(indented(table(picked, ([row[index] for index in part] for row in lines)), indent))


def _fitting(columns: Sequence[Column], rows: Sequence[Sequence[str | Text]], room: int, keys: int) -> list[list[int]]:
    """The columns of each table, by their indices."""
    heads = [column if isinstance(column, str) else column[0] for column in columns]
    fixed = [not isinstance(column, str) and column[1].get("no_wrap") is True for column in columns]
    longest = [max((cell_len(str(row[index])) for row in rows), default=0) for index in range(len(columns))]
    widths = [
        max(width, len(head)) if keeps else max(min(width, FLEXIBLE), max(map(len, head.split()), default=0))
        for width, head, keeps in zip(longest, heads, fixed)
    ]
    key, key_width = list(range(keys)), sum(widths[:keys]) + GAP * (keys - 1)
    parts = [[*key]]
    taken = key_width
    for index in range(keys, len(columns)):
        if taken + GAP + widths[index] > room and len(parts[-1]) > keys:
            parts.append([*key])
            taken = key_width
        parts[-1].append(index)
        taken += GAP + widths[index]
    return parts


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
