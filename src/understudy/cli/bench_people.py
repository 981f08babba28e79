"""`understudy bench people`: how much of what a text tells of its people is found, and how surely."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.cli.bench import data_option, deliver, limit_option, output_option, places_checked
from understudy.cli.bench_tables import print_readers
from understudy.cli.options import json_option, listed, seed_option
from understudy.cli.progress import watching

__all__ = ["people"]

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@data_option
@click.option(
    "--judge",
    type=FOLDER,
    metavar="DIR",
    help="Judge on data of your own instead, in the same layout; nothing is learned from it.",
)
@click.option("--task", "tasks", metavar="NAME,...", multiple=True, help="addressee, affection, ...; all by default.")
@limit_option
@seed_option
@output_option
@json_option
def people(
    data: Path, judge: Path | None, tasks: tuple[str, ...], limit: int | None, seed: int, output: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """What is found of people in a text (whom a line is said to, ties, feelings, facts) against what people annotated.

    \b
    Examples:
        understudy bench people --data data/
        understudy bench people --data data/ --task addressee,familiarity --json
    """
    from understudy.bench.people import BenchInputs, bench_people

    places_checked(output)
    with watching() as watch:
        document = bench_people(BenchInputs(data, judge, limit, seed, watch), listed(tasks))
    deliver(document, "People", output, None, as_json, lambda shown: print_readers(shown["rows"]))
