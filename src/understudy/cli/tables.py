"""The rows of a document as tables on a terminal: what a line is about, then figures with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from understudy.cli.show import Column, heading, indented, print_table, screen, table

__all__ = [
    "RIGHT",
    "Document",
    "Figures",
    "p_value",
    "print_comparisons",
    "print_figures",
    "print_matrix",
    "print_rows",
    "share",
    "spread",
]

Document = dict[str, Any]
RIGHT: dict[str, Any] = {"no_wrap": True, "justify": "right"}
FIGURES = ("metric", "value", "low", "high", "n", "paper", "reason")
LEVELS = (0.05, 0.01, 0.001)  # a star each, as in the papers
NARROW = 32  # columns, up to which what a line is about is never wrapped


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

    def heads(self) -> list[Column]:
        others = self.show.split()[1:]
        return [(self.head, RIGHT), *(("", {}) if other == "reason" else (other, RIGHT) for other in others)]

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
    heads: list[Column] = [
        (head, {"no_wrap": True} if max(len(key[index]) for key in groups) <= NARROW else {})
        for index, head in enumerate(lines)
    ]
    heads += [head for column in columns for head in column.heads()]
    cells = ((*key, *(cell for column in columns for cell in column.cells(group))) for key, group in groups.items())
    print_table(out, heads, cells, keys=len(lines))
    if title:
        out.print()


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
    rows = [row for row in rows if "episode" not in row]
    out = screen()
    for judged, group in groupby(rows, key=_judged):
        of_judged = list(group)
        out.print(heading(", ".join(judged)))
        extra = [key for key in ("paper", "reason") if any(row.get(key) is not None for row in of_judged)]
        columns: list[Column] = [("metric", {"min_width": 19}), ("value", RIGHT), ("95%", RIGHT), ("n", RIGHT)]
        columns += [("paper", RIGHT) if key == "paper" else "" for key in extra]
        out.print(indented(table(columns, ([_name(row), *_figures(row, extra)] for row in of_judged))))
        out.print()
    if apart:
        out.print(f"{apart} more rows, one an episode, are in the document: --json, or -o FILE.")


def _judged(row: Document) -> list[str]:
    """What a row is about, whatever was measured of it and on what condition."""
    return [str(value) for key, value in row.items() if key not in (*FIGURES, "condition") and value is not None]


def _name(row: Document) -> str:
    return str(row["metric"]) + (f" ({row['condition']})" if row.get("condition") else "")


def _figures(row: Document, extra: Sequence[str]) -> list[str]:
    def figure(value: float | None) -> str:
        return f"{value:,}" if isinstance(value, int) else share(value, ".4f")

    interval = "" if row.get("low") is None else f"{figure(row['low'])}-{figure(row['high'])}"
    others = [(row.get(key) or "") if key == "reason" else figure(row.get(key)) for key in extra]
    return [figure(row["value"]), interval, figure(row.get("n")), *others]


def share(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


def spread(row: Document, form: str = ".3f") -> str:
    """The interval of a figure, where it has one."""
    return "-" if row.get("low") is None else f"{row['low']:{form}}..{row['high']:{form}}"


def p_value(row: Document) -> str:
    return "<.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"


def _stars(row: Document) -> str:
    return f"{'*' * sum(row.get('p_adjusted', 1.0) < level for level in LEVELS):<{len(LEVELS)}}"
