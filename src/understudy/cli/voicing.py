"""`understudy bench voice`: which score agrees with people about who sounds like whom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from understudy.cli.judged_tables import RIGHT, p_value
from understudy.cli.judging import FOLDER, deliver, output_option, places_checked, report_option, seed_option, watching
from understudy.cli.options import json_option
from understudy.cli.progress import read_showing, working
from understudy.cli.show import Column, Screen, heading, indented, print_table, screen

__all__ = ["voice"]

Document = dict[str, Any]
LEVELS = (0.05, 0.01, 0.001)  # a star each, as in the paper


@click.command()
@click.option("--data", type=FOLDER, metavar="DIR", help="The folder of the novels, with judgements in evaluation/.")
@click.option(
    "--judge", type=FOLDER, metavar="DIR",
    help="Judgements of your own: JSON files, and a names.json {file: [novel file, character]}.",
)  # fmt: skip
@click.option("--story", metavar="STORY", help="Judge on a story instead: who says its later lines?")
@click.option("--from", "since", metavar="MOMENT", help="Where the later lines of --story begin.")
@click.option("--people", type=click.IntRange(2, 50), default=6, show_default=True, help="Told apart in --story.")
@seed_option
@output_option
@report_option
@json_option
def voice(
    data: Path | None, judge: Path | None, story: str | None, since: str | None, people: int, seed: int,
    output: Path | None, report: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """How well scores agree with people on whether a reply sounds like a character.

    With --story nobody is asked: the people who speak most in a story are told apart by voice in its later lines.

    \b
    Examples:
        understudy bench voice --data data/personaclr --report out.html
        understudy bench voice --data data/personaclr --judge mine/
        understudy bench voice --story friends.story --from S08E01
    """
    places_checked(output, report)
    if story is not None:
        if since is None:
            raise click.UsageError("say with --from where the later lines begin")
        from understudy.bench.later_lines import bench_later_lines

        read = read_showing(story)
        with working("Listening"):
            document = bench_later_lines(read, since, people, seed)
        deliver(document, "Voice: who says it?", output, report, as_json, _print_later)
        return
    if data is None:
        raise click.UsageError("say what to judge on: --data DIR, or --story STORY")
    from understudy.bench.voice import bench_voice

    with watching() as watch:
        document = bench_voice(data, judge, seed, watch)
    deliver(document, "Voice: agreement with people", output, report, as_json, _print_judged)


def _print_judged(document: Document) -> None:
    rows, out = document["rows"], screen()
    for metric, said in (("spearman", "r_s with people"), ("aupr", "AUPR of finding the unfit")):
        out.print(heading(said))
        of_metric = [row for row in rows if row["metric"] == metric]
        _print_matrix(out, of_metric)
        out.print(indented(_spread(of_metric)))
        out.print()
    out.print("*** p < .001, ** p < .01, * p < .05 after Holm, over all characters and scorers.")
    for shown in ("spearman", "aupr"):
        compared = [row for row in document["comparisons"] if row["metric"] == shown]
        if compared:
            out.print(heading(f"{shown}: voice and the others (p adjusted after Holm)"))
            lines = [
                (row["agents"][1], f"{row['difference']:+.3f}", f"{row['low']:+.3f}..{row['high']:+.3f}", p_value(row))
                for row in compared
            ]
            print_table(out, ["less", ("difference", RIGHT), ("95%", RIGHT), ("p", RIGHT)], lines)
    out.print("The classifier's precision and recall and uPPL's cross-matrix are in the document: --json, or -o FILE.")


def _print_matrix(out: Screen, rows: Sequence[Document]) -> None:
    """A line for each character, a column for each scorer."""
    scorers = list(dict.fromkeys(row["scorer"] for row in rows))
    columns: list[Column] = ["character", *((scorer, RIGHT) for scorer in scorers)]
    by_cell = {(row["character"], row["scorer"]): row for row in rows}
    characters = list(dict.fromkeys(row["character"] for row in rows))
    lines = ((name, *(_figure(by_cell.get((name, scorer))) for scorer in scorers)) for name in characters)
    print_table(out, columns, lines)


def _spread(rows: Sequence[Document]) -> str:
    """How far each scorer varies from character to character: a mean alone hides it."""
    spans: dict[str, list[float]] = {}
    for row in rows:
        if row["value"] is not None and not row["character"].startswith("mean"):
            spans.setdefault(row["scorer"], []).append(row["value"])
    return "by character: " + ", ".join(f"{name} {min(span):.2f} to {max(span):.2f}" for name, span in spans.items())


def _figure(row: Document | None) -> str:
    if row is None or row["value"] is None:
        return "-"
    p = row.get("p_adjusted", 1.0)
    stars = "*" * sum(p < level for level in LEVELS)
    return f"{row['value']:.3f}{stars:<{len(LEVELS)}}"


def _print_later(document: Document) -> None:
    rows, out = document["rows"], screen()
    accuracy = [row for row in rows if row["metric"] == "accuracy"]
    out.print(heading("Whose line is it? accuracy"))
    _print_matrix(out, accuracy)
    error = next(row for row in rows if row["metric"] == "calibration_error")
    out.print(f"By chance {accuracy[0]['chance']:.3f}. voice's calibration error: {error['value']:.3f}.")
