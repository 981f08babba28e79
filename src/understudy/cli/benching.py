"""`understudy bench`: how good it is, in numbers."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from understudy.cli.options import json_option
from understudy.cli.progress import working
from understudy.cli.show import Column, heading, indented, print_json, screen, table

__all__ = ["bench"]

FIGURES = ("metric", "value", "low", "high", "n", "paper", "reason")


@click.group()
def bench() -> None:
    """Measure Understudy against data that others prepared.

    \b
    Example:
        understudy bench readers --data data/
    """


@bench.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True, file_okay=False), required=True, help="Its folder."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Judge a seeded sample of N episodes a show.")
@click.option("--seed", default=0, show_default=True, help="Which sample.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the rows to a file too.")
@json_option
def readers(data: Path, limit: int | None, seed: int, output: Path | None, as_json: bool) -> None:
    """How faithfully transcripts are read, against the same episodes prepared by others.

    \b
    Example:
        understudy bench readers --data data/ -o readers.json
    """
    from understudy.bench.readers import bench_readers

    with working("Reading transcripts"):
        document = bench_readers(data, limit, seed)
    if output is not None:
        output.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print_json(document)
        return
    _print_rows(document["rows"])
    if output is not None:
        click.echo(f"The rows are in {output}.")


def _print_rows(rows: list[dict[str, Any]]) -> None:
    """A table for each thing judged, with intervals; a missing value shows its reason.

    Rows of single episodes are for the document: on a terminal they would bury the figures.
    """
    apart = sum("episode" in row for row in rows)
    rows = [row for row in rows if "episode" not in row]
    out = screen()
    for judged, group in groupby(rows, key=_judged):
        out.print(heading(", ".join(judged)))
        out.print(indented(_rows_table(list(group))))
        out.print()
    if apart:
        out.print(f"{apart} more rows, one an episode, are in the document: --json, or -o FILE.")


def _judged(row: dict[str, Any]) -> list[str]:
    """What a row is about, whatever was measured of it and on what condition."""
    return [str(value) for key, value in row.items() if key not in (*FIGURES, "condition") and value is not None]


def _rows_table(rows: list[dict[str, Any]]) -> Table:
    columns: list[Column] = [("metric", {"min_width": 19})]
    columns += [(head, {"no_wrap": True, "justify": "right"}) for head in ("value", "95%", "n")]
    papers = any(row.get("paper") is not None for row in rows)
    reasons = any(row.get("reason") for row in rows)
    columns += [("paper", {"no_wrap": True, "justify": "right"})] * papers + [("", {})] * reasons
    return table(
        columns,
        (
            (
                row["metric"] + (f" ({row['condition']})" if row.get("condition") else ""),
                _figure(row["value"]),
                "" if row.get("low") is None else f"{_figure(row['low'])}-{_figure(row['high'])}",
                _figure(row.get("n")),
                *([_figure(row.get("paper"))] * papers),
                *([row.get("reason") or ""] * reasons),
            )
            for row in rows
        ),
    )


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
