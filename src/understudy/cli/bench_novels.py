"""`understudy bench novels`: how well it is known who speaks in a novel."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.cli.bench import data_option, deliver, limit_option, output_option, places_checked
from understudy.cli.bench_tables import print_readers
from understudy.cli.options import json_option, seed_option
from understudy.cli.progress import watching

__all__ = ["novels"]

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@data_option
@click.option("--judge", type=FOLDER, metavar="DIR", help="Judge these novels instead, by a model of all of the data.")
@click.option("--shipped", is_flag=True, help="With --judge: judge the model that ships, and train none.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that train at once."
)
@limit_option
@seed_option
@output_option
@json_option
def novels(
    data: Path, judge: Path | None, shipped: bool, workers: int, limit: int | None, seed: int, output: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Who says each quotation, against PDNC's annotation: each novel by a model of the others. Further rows: whom it is
    said to, and what is found in the text alone (quotations, cast, speakers). --limit is in novels.

    \b
    Examples:
        understudy bench novels --data data/pdnc
        understudy bench novels --data data/pdnc --judge more/ --json
    """
    from understudy.bench.novels import NovelBench, bench_novels

    if shipped and judge is None:
        raise click.UsageError("--shipped goes with --judge: the model that ships has learned from PDNC's novels")
    places_checked(output)
    with watching() as watch:
        document = bench_novels(NovelBench(data, judge, shipped, limit, seed, workers, watch))
    shown = [row for row in document["rows"] if row["novel"] == "all"]
    deliver(document, "Novels", output, None, as_json, lambda _: print_readers(shown))
