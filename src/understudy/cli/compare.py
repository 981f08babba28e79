"""`understudy compare`: two saved runs, item by item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from understudy.cli.bench_tables import RIGHT, p_value
from understudy.cli.options import json_option, listed
from understudy.cli.show import Column, heading, indented, print_json, screen, table

__all__ = ["compare"]

RUN = click.Path(path_type=Path, exists=True, dir_okay=False)
RANKS, MARKS = ("first_rank", "second_rank"), ("first", "second")


@click.command(short_help="Compare two saved runs of a bench, item by item.")
@click.argument("first", type=RUN, metavar="A.json")
@click.argument("second", type=RUN, metavar="B.json")
@click.option("--agents", metavar="A,B", help="Compare this agent of the first run with this of the second.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@json_option
def compare(first: Path, second: Path, agents: str | None, seed: int, as_json: bool) -> None:
    """Compare two runs that `bench` saved (-o or --items): their differences, with intervals and p values.

    \b
    Example:
        understudy compare before.json after.json
    """
    from understudy.bench.compare import compare_runs

    pair = None
    if agents is not None:
        names = listed([agents])
        if len(names) != 2:
            raise click.UsageError("--agents names two, with a comma between: one of each run")
        pair = names[0], names[1]
    document = compare_runs(first, second, pair, seed)
    if as_json:
        print_json(document)
    else:
        _print(document)


def _print(document: dict[str, Any]) -> None:
    out, rows = screen(), document["rows"]
    figures = ("metric", "value", "low", "high", "n", "paper", "unpaired", "first", "second", "p_value", "p_adjusted")
    columns: list[Column] = [("judged", {}), ("metric", {"no_wrap": True})]
    columns += [(head, RIGHT) for head in ("first", "second", "difference", "95%", "p", "n")]
    lines = []
    for row in rows:
        judged = ", ".join(str(value) for key, value in row.items() if key not in figures)
        spread = f"{row['low']:+.3f}..{row['high']:+.3f}"
        shares = (f"{row['first']:.3f}", f"{row['second']:.3f}", f"{row['value']:+.3f}", spread)
        lines.append((judged, row["metric"], *shares, p_value(row), f"{row['n']:,}"))
    out.print(table(columns, lines))
    unpaired = max((row["unpaired"] for row in rows), default=0)
    if unpaired:
        out.print(f"\n{unpaired:,} items are in one of the runs only and were left out.")
    out.print(f"\n{document['differ']:,} items differ.")
    if document["differ_most"]:
        out.print(heading("They differ most in"))
        differing = (
            (
                item["item"],
                ", ".join(str(item[key]) for key in item if key not in ("item", *RANKS, *MARKS)),
                " -> ".join(f"{item[key]:g}" for key in (RANKS if "first_rank" in item else MARKS)),
            )
            for item in document["differ_most"]
        )
        is_ranked = "first_rank" in document["differ_most"][0]
        columns = [("item", {"no_wrap": is_ranked}), ("judged", {}), ("place" if is_ranked else "", RIGHT)]
        out.print(indented(table(columns, differing)))
