"""How things look in a terminal: the console, tables, bars, spoken lines, a level over time, rows of figures."""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
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


Document = dict[str, Any]
FLEXIBLE = 16  # columns that a cell which may be wrapped is given at least
GAP = 2  # columns between two cells
FIGURES = ("metric", "value", "low", "high", "n", "paper", "reason")
LEVELS = (0.05, 0.01, 0.001)  # a star each, as in the papers
ALIGNED = 19  # columns of the names of metrics, so that tables of several things line up
NARROW = 32  # columns, up to which what a line is about is never wrapped


def print_table(
    out: Screen, columns: Sequence[str], rows: Iterable[Sequence[str | Text]], indent: int = 2, keys: int = 1
) -> None:
    """A table; where its columns do not fit side by side, several, each beginning with the first columns again.

    A column is named by its head: after '<' its cells are never wrapped, after '>' they are figures. `keys` is how many
    of the first columns it takes to say what a line is about.
    """
    lines = [list(row) for row in rows]
    for number, part in enumerate(_fitting(columns, lines, out.width - indent, keys)):
        if number:
            out.print()
        picked = [columns[index] for index in part]
        out.print(indented(_table(picked, [[row[index] for index in part] for row in lines]), indent))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    cells = [[Text(clean(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for index, column in enumerate(columns):
        mark, head = _parsed(column)
        width = max((row[index].cell_len for row in cells), default=0)
        shown.add_column(
            head, no_wrap=bool(mark), justify="right" if mark == ">" else "left", overflow="fold",
            min_width=max(width, len(head)) if mark else None,
        )  # fmt: skip
    for row in cells:
        shown.add_row(*row)
    return shown


def _parsed(column: str) -> tuple[str, str]:
    """The mark and the head of a column."""
    return (column[0], column[1:]) if column.startswith(("<", ">")) else ("", column)


def _fitting(columns: Sequence[str], rows: Sequence[Sequence[str | Text]], room: int, keys: int) -> list[list[int]]:
    """The columns of each table, by their indices."""
    longest = [max((cell_len(str(row[index])) for row in rows), default=0) for index in range(len(columns))]
    widths = [
        max(width, len(head)) if mark else max(min(width, FLEXIBLE), max(map(len, head.split()), default=0))
        for width, (mark, head) in zip(longest, map(_parsed, columns))
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


@dataclass(frozen=True, slots=True)
class Figures:
    """Columns of figures of one row of each line: the first of those that have what `where` says.

    `show` names a column each: a key of the row, as 'value' or 'paper', '95%' for its interval, 'n', 'p', 'reason'. The
    first of them is headed by `head`.
    """

    head: str
    where: Mapping[str, object] = field(default_factory=dict)
    show: str = "value"
    form: str = ".3f"
    spread_form: str = ""
    """The form of intervals, where it is another."""
    stars: bool = False
    """Whether values have a star for each level that their adjusted p value is below."""

    def heads(self) -> list[str]:
        return [f">{self.head}", *("" if other == "reason" else f">{other}" for other in self.show.split()[1:])]

    def cells(self, rows: Sequence[Document]) -> list[str]:
        row = next((row for row in rows if all(row.get(key) == value for key, value in self.where.items())), {})
        return [self._cell(row, what) for what in self.show.split()]

    def _cell(self, row: Document, what: str) -> str:
        if what == "95%":
            return spread(row, self.spread_form or self.form)
        if what == "p":
            return p_value(row) if "p_adjusted" in row else "-"
        value = row.get(what)
        if isinstance(value, str) or what == "reason":
            return value or ""
        if isinstance(value, int):
            return f"{value:,}"
        return share(value, self.form) + (_stars(row) if self.stars and value is not None else "")


def print_rows(rows: Sequence[Document], lines: Mapping[str, str], columns: Sequence[Figures], title: str = "") -> None:
    """A line for each combination of the keys that `lines` has by their heads, in the order in which they first come.

    Nothing is printed where there are no rows.
    """
    if not rows:
        return
    out, groups = screen(), dict[tuple[str, ...], list[Document]]()
    for row in rows:
        groups.setdefault(tuple(str(row.get(key, "")) for key in lines.values()), []).append(row)
    if title:
        out.print(heading(title))
    heads = [
        f"<{head}" if max(len(key[index]) for key in groups) <= NARROW else head for index, head in enumerate(lines)
    ]
    heads += [head for column in columns for head in column.heads()]
    cells = ((*key, *(cell for column in columns for cell in column.cells(group))) for key, group in groups.items())
    print_table(out, heads, cells, keys=len(lines))
    if title:
        out.print()


def grouped(rows: Iterable[Document], key: str) -> dict[Any, list[Document]]:
    """Rows by what they have at a key, in the order in which it first comes; rows without it are in no group."""
    groups: dict[Any, list[Document]] = {}
    for row in rows:
        if key in row:
            groups.setdefault(row[key], []).append(row)
    return groups


def print_comparisons(rows: Sequence[Document], lines: Mapping[str, str], title: str) -> None:
    """Differences between two agents, paired."""
    named = [{**row, "agents": " - ".join(row["agents"])} for row in rows]
    columns = [Figures("difference", show="difference 95% p", form="+.3f")]
    print_rows(named, lines, columns, f"{title} (p adjusted after Holm)")


def print_matrix(rows: Sequence[Document], line: str, column: str) -> None:
    """A line for each value of one key, a column for each value of another."""
    names = dict.fromkeys(row[column] for row in rows)
    print_rows(rows, {line: line}, [Figures(name, {column: name}, stars=True) for name in names])


def print_figures(rows: Sequence[Document]) -> None:
    """A table for each thing judged, a line for each figure; a missing value shows its reason.

    Rows of single episodes are for the document: on a terminal they would bury the figures.
    """
    apart = sum("episode" in row for row in rows)
    for judged, group in groupby((row for row in rows if "episode" not in row), key=_judged):
        of_judged = [{**row, "figure": _name(row)} for row in group]
        more = [key for key in ("paper", "reason") if any(row.get(key) is not None for row in of_judged)]
        figures = [Figures("value", show=" ".join(("value 95% n", *more)), form=".4f")]
        print_rows(of_judged, {f"{'metric':<{ALIGNED}}": "figure"}, figures, ", ".join(judged))
    if apart:
        screen().print(f"{apart} more rows, one an episode, are in the document: --json, or -o FILE.")


def _judged(row: Document) -> list[str]:
    """What a row is about, whatever was measured of it and on what condition."""
    return [str(value) for key, value in row.items() if key not in (*FIGURES, "condition") and value is not None]


def _name(row: Document) -> str:
    return str(row["metric"]) + (f" ({row['condition']})" if row.get("condition") else "")


def share(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


def spread(row: Document, form: str = ".3f") -> str:
    """The interval of a figure, where it has one."""
    return "-" if row.get("low") is None else f"{row['low']:{form}}..{row['high']:{form}}"


def p_value(row: Document) -> str:
    return "<.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"


def _stars(row: Document) -> str:
    return f"{'*' * sum(row.get('p_adjusted', 1.0) < level for level in LEVELS):<{len(LEVELS)}}"
