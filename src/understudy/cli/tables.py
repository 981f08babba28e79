"""Tables on a terminal, of any cells or of the rows of a document: what a line is about, then its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from understudy.cli.show import Screen, clean, heading, indented, screen

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
