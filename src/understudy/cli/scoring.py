"""`understudy score`: how much like a character are these lines, by several metrics, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from understudy.cli.options import at_option, facing_option, force_option, json_option
from understudy.cli.progress import read_showing
from understudy.cli.show import Column, clean, grid, heading, indented, print_json, screen, short, table, when
from understudy.dialogue import situation_at
from understudy.errors import InputError
from understudy.persona import Persona

if TYPE_CHECKING:
    from understudy.cli.score_rows import Row, Summary
    from understudy.scoring.tables import Tally

__all__ = ["score"]

EXPLAINED = 10  # lines, up to which each is shown with its reasons
LONGEST = 240  # characters of a line
LISTED = 500  # lines, up to which they are shown at all
RIGHT = {"no_wrap": True, "justify": "right"}


@click.command(short_help="How much like a character are these lines?")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--story", required=True, metavar="STORY", help="Where the character's own lines are.")
@click.option("--as", "name", required=True, metavar="NAME", help="Whose lines they are meant to be.")
@at_option
@facing_option
@click.option("--metrics", "wanted", metavar="NAME,...", help="Which; all that need no training data if not said.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT.jsonl",
              help="Write a line for each line of FILE. A run that was stopped goes on where it was.")  # fmt: skip
@click.option("--engine", type=click.Choice(["local", "daft"]), default="local", show_default=True,
              help="With daft, FILE may be a pattern; all cores write OUT.parquet, or a folder.")  # fmt: skip
@click.option("--cluster", metavar="ADDRESS",
              help="With --engine daft, a Ray cluster to use: ray://HOST:PORT, or local to start one.")  # fmt: skip
@click.option("--glove", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="GloVe vectors by which p_cover ranks words; the story's own lines, if none.")  # fmt: skip
@click.option("--why", is_flag=True, help="Write reasons too, not only for scores that are missing.")
@force_option
@json_option
def score(
    file: Path, story: str, name: str, at: str, facing: str | None, wanted: str | None, output: Path | None,
    engine: str, cluster: str | None, glove: Path | None, why: bool, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """How much like a character are the lines of FILE, and why?

    FILE has a line each, or, named .jsonl, {"text": ...} each; - reads lines from stdin. What the character and the
    others say before the moment is what lines are compared with; nothing later is used.

    \b
    Examples:
        understudy score sentences.txt --story demo --as Zita --at 2.3
        understudy score million.txt --story demo --as Zita -o scores.jsonl
        understudy score 'data/*.parquet' --story demo --as Zita \\
            --engine daft -o scores.parquet
    """
    from understudy.cli.score_rows import Summary, score_rows, write_scores
    from understudy.metrics.grounds import Grounds
    from understudy.scoring.asked import Asked, anywhere, line_metrics

    if cluster is not None and engine != "daft":
        raise click.UsageError("--cluster goes with --engine daft")
    if output is not None and str(file) != "-" and output.exists() and file.exists() and output.samefile(file):
        raise InputError("is what is being read, and would be lost: say with -o another place", output)
    if engine == "local" and output is not None and output.is_dir():
        raise InputError("is a folder: name a file", output)
    names = _names(wanted)
    opened = read_showing(story)
    situation = situation_at(opened, name, at, facing)
    persona = situation.persona
    rows: list[Row] = []
    summary: Summary | Tally
    if engine == "daft":
        from understudy.cli.scaled import score_scaled

        ranked = None if glove is None else anywhere(str(glove))
        asked = Asked(anywhere(story), name, at, facing, names, ranked, why)
        summary = score_scaled(str(file), asked, opened, persona, output, cluster, force)
    else:
        metrics = line_metrics(Grounds(opened, situation, author=True), names, glove)
        if output is not None:
            if force:
                output.unlink(missing_ok=True)
            with _counting() as done:
                summary = write_scores(file, metrics, output, why, done)
        else:
            summary = Summary(metrics)
            for row in score_rows(file, metrics, math.inf if as_json else EXPLAINED):
                summary.add(row)
                if as_json or len(rows) < LISTED:
                    rows.append(row)
    if as_json:
        document: Row = {"character": persona.name, "moment": persona.moment.dotted, "metrics": names}
        if output is None:
            document["lines"] = rows
        print_json({**document, "count": summary.count, "summary": summary.document()})
        return
    _print_rows(rows, names)
    _print_summary(persona, summary)
    if output is not None:
        click.echo(f"Every line's scores are in {output}.")
    elif summary.count > len(rows):
        click.echo(f"The first {len(rows):,} lines are shown: -o OUT.jsonl writes them all.")


def _names(wanted: str | None) -> tuple[str, ...]:
    from understudy.metrics.grounds import METRICS
    from understudy.metrics.personas import USUAL

    names = USUAL if wanted is None else tuple(dict.fromkeys(name.strip() for name in wanted.split(",")))
    for name in names:
        if name not in METRICS:
            raise click.UsageError(f"no metric '{name}': {', '.join(METRICS)}")
    return names


@contextmanager
def _counting() -> Iterator[Any]:
    """On a terminal, how many lines are done."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    with out.status("Scoring") as status:
        yield lambda count: status.update(f"Scoring: {count:,} lines") if count % 1000 == 0 else None


def _print_rows(rows: Sequence[Row], names: Sequence[str]) -> None:
    out = screen()
    if len(rows) <= EXPLAINED:
        for row in rows:
            number, text = Text(f"{row['line']}  ", style="dim"), clean(short(row["text"], LONGEST))
            out.print(number.append(text, style="bold default"))
            told = ((name, _figure(value), row["reasons"][name]) for name, value in row["scores"].items())
            out.print(indented(grid(told)))
        return
    columns: list[Column] = [("line", RIGHT), ("", {})]
    columns += [(name, RIGHT) for name in names]
    shown = ((str(row["line"]), short(row["text"], 60), *map(_figure, row["scores"].values())) for row in rows)
    out.print(table(columns, shown))


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _print_summary(persona: Persona, summary: Summary | Tally) -> None:
    out = screen()
    out.print()
    out.print(heading(f"{summary.count:,} lines as {persona.name} at {when(persona.moment)}"))
    columns: list[Column] = ["metric", ("mean", RIGHT), ("without", RIGHT)]
    rows = ((name, _figure(one["mean"]), f"{one['missing']:,}") for name, one in summary.document().items())
    out.print(indented(table(columns, rows)))
