"""`understudy study import|correlate`: what people gave elsewhere, and which measures go with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from understudy.cli.bench_tables import RIGHT, p_value
from understudy.cli.options import json_option, seed_option
from understudy.cli.progress import working
from understudy.cli.show import Column, clean, print_json, print_table, screen
from understudy.cli.study import location_of, store_option
from understudy.errors import InputError

__all__ = ["correlate", "import_study"]


@click.command("import", short_help="Take in what people gave elsewhere, as a finished study.")
@click.argument("source", metavar="SOURCE")
@click.argument("data", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="What the study is called (default: SOURCE).")
@store_option
def import_study(source: str, data: Path, name: str | None, store: str | None) -> None:
    """Take in what people gave elsewhere, as a finished study.

    \b
    SOURCE is one of
        tvshowguess   human_annotation/: what telling masked speakers took
        volunteers    ConvAI2's chats of volunteers with bots, and scores

    \b
    Examples:
        understudy study import tvshowguess human_annotation/ --store s.db
        understudy study agree tvshowguess --store s.db
    """
    from understudy.studies.imports import IMPORTS, add_finished
    from understudy.studies.store import open_study_store

    if source not in IMPORTS:
        raise InputError(f"there is no source called '{source}': use {', '.join(IMPORTS)}")
    if not data.exists():
        raise InputError(f"is not there: name the folder that '{source}' was unpacked to", data)
    location = location_of(Path(), store)
    with working("Reading"), open_study_store(location) as opened:
        stored = add_finished(opened, name or source, IMPORTS[source](data))
        answers, people = len(opened.answers(stored.id)), len(opened.people(stored.id))
    click.echo(
        f"'{stored.name}': {answers} answers of {people} people, closed. See `understudy study agree {stored.name}`."
    )


@click.command(short_help="Correlate automatic measures with people's answers.")
@click.argument("results", metavar="RESULTS.jsonl", type=click.Path(path_type=Path))
@click.argument("measures", metavar="MEASURES.json", type=click.Path(path_type=Path))
@click.option("--measure", metavar="NAME", help="Only this measure.")
@click.option("--question", metavar="NAME", help="Only this question.")
@seed_option
@json_option
def correlate(
    results: Path, measures: Path, measure: str | None, question: str | None, seed: int, as_json: bool
) -> None:  # fmt: skip
    """Correlate automatic measures with people's answers, item by item (Spearman, intervals, p after Holm).

    RESULTS.jsonl is what `study results` wrote. MEASURES.json has a value for each item, {"item": 0.3, ...}, or several
    measures by name, {"psprob": {"item": 0.3}, ...}, or is what a bench wrote with --items, or `score --json`.

    \b
    Examples:
        understudy study correlate answers.jsonl scores.json
        understudy study correlate answers.jsonl items.json --measure p_f1
    """
    from understudy.studies.correlation import correlate as correlate_files

    with working("Correlating"):
        document = correlate_files(results, measures, measure, question, seed)
    if as_json:
        print_json(document)
        return
    _print_correlations(document)


def _print_correlations(document: dict[str, Any]) -> None:
    """The strongest first; rows without a figure last, with their reasons."""
    rows = sorted(document["rows"], key=lambda row: -abs(row["value"] or 0.0))
    columns: list[Column] = ["question", "measure", ("r_s", RIGHT), ("95%", RIGHT), ("n", RIGHT), ("p", RIGHT)]
    lines = []
    for row in rows:
        about = (clean(row["question"]), clean(row["measure"]))
        if row["value"] is None:
            lines.append((*about, "-", row["reason"], str(row["n"]), ""))
        else:
            spread = "" if row["low"] is None else f"{row['low']:+.2f}..{row['high']:+.2f}"
            lines.append((*about, f"{row['value']:+.3f}", spread, str(row["n"]), p_value(row)))
    print_table(screen(), columns, lines)
    click.echo("p after Holm, over all rows. Intervals draw groups of items.")
    for key, where in (("only_answered", "no measure"), ("only_measured", "no answer")):
        if document[key]:
            click.echo(f"{document[key]:,} items have {where} and are left out.")
