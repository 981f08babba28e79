"""`understudy score`: how much like a character are these lines, by several metrics, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from understudy import __version__
from understudy.cli.options import (
    annotated_option,
    at_option,
    facing_option,
    force_option,
    json_option,
    text_column,
    text_column_option,
)
from understudy.cli.progress import read_with_people, working
from understudy.cli.show import Column, clean, grid, heading, indented, print_json, screen, short, table, when
from understudy.errors import InputError
from understudy.story.dialogue import Score, situation_at
from understudy.story.persona import Persona
from understudy.text import did_you_mean

if TYPE_CHECKING:
    from understudy.metrics.scoring.engine import ScoringRequest
    from understudy.metrics.scoring.lines import Row, Tally
    from understudy.story.storyfile import Story

__all__ = ["score"]

EXPLAINED = 10  # lines, up to which each is shown with its reasons
LONGEST = 240  # characters of a line
LISTED = 500  # lines, up to which they are shown at all
RIGHT = {"no_wrap": True, "justify": "right"}
LINE_NUMBER, GAP = 6, 2  # columns of a table
TEXT_ROOM = 36  # columns for the line itself, below which a table cannot be read


@click.command(short_help="How much like a character are these lines?")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--story", required=True, metavar="STORY", help="Where the character's own lines are.")
@click.option("--as", "name", required=True, metavar="NAME", help="Whose lines they are meant to be.")
@at_option
@facing_option
@text_column_option
@click.option("--metrics", "wanted", metavar="NAME,...", help="Which (default: all that need no training data).")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT.jsonl",
              help="Write a line for each line of FILE. A run that was stopped goes on where it was.")  # fmt: skip
@click.option("--engine", type=click.Choice(["local", "daft"]), default="local", show_default=True,
              help="With daft, FILE may be a pattern; all cores write OUT.parquet, or a folder.")  # fmt: skip
@click.option("--cluster", metavar="ADDRESS",
              help="With --engine daft, a Ray cluster to use: ray://HOST:PORT, or local to start one.")  # fmt: skip
@click.option("--model", metavar="MODEL",
              help="A language model that uppl asks: what `train causal` or `train masked` made, or any.")  # fmt: skip
@click.option("--labelled", type=click.Path(path_type=Path), metavar="FILE.jsonl",
              help='What persona_accuracy is learnt from: {"text": ..., "fit": true}.')  # fmt: skip
@click.option("--glove", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="GloVe vectors by which p_cover ranks words (default: the story's own lines).")  # fmt: skip
@click.option("--why", is_flag=True, help="Write reasons too, not only for scores that are missing.")
@force_option
@annotated_option
@json_option
def score(
    file: Path, story: str, name: str, at: str, facing: str | None, columns: tuple[str, ...], wanted: str | None,
    output: Path | None, engine: str, cluster: str | None, model: str | None, labelled: Path | None,
    glove: Path | None, why: bool, force: bool, annotated: bool, as_json: bool,
) -> None:  # fmt: skip
    """How much like a character are the lines of FILE, and why?

    FILE has a line each, or is a table (.csv, .tsv) or JSON lines (.jsonl) with a column of texts; - reads lines
    from stdin. What the character and the
    others say before the moment is what lines are compared with; nothing later is used. Two metrics judge all lines
    together: personality_classification_accuracy and persona_accuracy.

    \b
    Examples:
        understudy score sentences.txt --story demo --as Zita --at 2.3
        understudy score million.txt --story demo --as Zita -o scores.jsonl
        understudy score sentences.txt --story demo --as Zita \\
            --metrics uppl --model zita-model
        understudy score 'data/*.parquet' --story demo --as Zita \\
            --engine daft -o scores.parquet
    """
    from understudy.metrics.psprob import small_cast_warning
    from understudy.metrics.registry import MetricContext
    from understudy.metrics.scoring.engine import ScoringRequest, anywhere, line_metrics
    from understudy.metrics.scoring.inputs import pieces
    from understudy.metrics.scoring.lines import SETS, Tally, score_rows, score_sets, set_metrics, write_scores

    if cluster is not None and engine != "daft":
        raise click.UsageError("--cluster goes with --engine daft")
    column = text_column(columns)
    if column is not None and engine == "daft":
        raise click.UsageError("--columns goes with --engine local: name the column 'text' for daft")
    if output is not None:
        _place_checked(file, output, engine)
    names = _names(wanted)
    of_sets = tuple(metric for metric in names if metric in SETS)
    of_lines = tuple(metric for metric in names if metric not in SETS)
    _refuse(of_lines, of_sets, file, output, engine, model, labelled)
    opened = read_with_people(story, annotated)
    situation = situation_at(opened, name, at, facing)
    persona = situation.persona
    grounds = MetricContext(opened, situation, author=True)
    rows: list[Row] = []
    sets: list[Score] = []
    summary: Tally
    if engine == "daft":
        ranked = None if glove is None else anywhere(str(glove))
        request = ScoringRequest(anywhere(story), name, at, facing, names, ranked, why, _shared(model))
        summary = _score_scaled(str(file), request, opened, persona, output, cluster, force)
    else:
        with working("Getting ready"):
            metrics = line_metrics(grounds, of_lines, glove, model)
        if of_sets:
            with working("Judging all lines together"):
                count, sets = score_sets(pieces(file, text=column), set_metrics(of_sets, grounds, _labelled(labelled)))
        if not metrics:
            summary = Tally.empty()
            summary.count = count
        elif output is not None:
            if force:
                output.unlink(missing_ok=True)
            with _counting_lines() as done:
                summary = write_scores(file, metrics, output, why, done, column)
        else:
            summary = Tally.empty(metrics)
            for row in score_rows(file, metrics, math.inf if as_json else EXPLAINED, column=column):
                summary.add(row)
                if as_json or len(rows) < LISTED:
                    rows.append(row)
    warning = small_cast_warning(grounds.samples, persona.name) if "psprob" in names else ""
    if as_json:
        shown = rows if output is None and of_lines else None
        print_json(_document(persona, names, shown, summary, sets, warning))
        return
    if warning:
        click.echo(f"{warning}.", err=True)
    _print_rows(rows, of_lines)
    _print_summary(persona, summary, sets)
    if output is not None:
        click.echo(f"Every line's scores are in {output}.")
    elif of_lines and len(rows) > EXPLAINED:
        screen().print(f"Reasons are shown for up to {EXPLAINED} lines: --json has them, -o OUT --why writes them.")
    if output is None and of_lines and summary.count > len(rows):
        click.echo(f"The first {len(rows):,} lines are shown: -o OUT.jsonl writes them all.")


def _labelled(file: Path | None) -> tuple[list[str], list[str]] | None:
    """Lines that somebody called fit, and lines called unfit."""
    if file is None:
        return None
    from understudy.judging import read_labelled

    lines = read_labelled(file)
    fit, unfit = ([line.text for line in lines if line.fit is wanted] for wanted in (True, False))
    if not fit or not unfit:
        raise InputError("needs lines of both kinds, fit and unfit, to learn from", file)
    return fit, unfit


def _score_scaled(
    pattern: str,
    request: ScoringRequest,
    story: Story,
    persona: Persona,
    output: Path | None,
    cluster: str | None,
    force: bool,
) -> Tally:
    """`--engine daft`: files by a pattern, scored by many workers into Parquet."""
    from understudy.metrics.scoring.engine import score_files, story_digest

    if output is None:
        raise click.UsageError("--engine daft writes Parquet: say where with -o OUT.parquet, or -o FOLDER")
    if pattern == "-":
        raise InputError("stdin cannot be shared among workers: write the lines to a file first")
    if output.exists() and not output.is_dir() and output.suffix.lower() != ".parquet":
        raise InputError("is a file that is there already: say -o OUT.parquet, or -o FOLDER", output)
    about = {
        "version": __version__,
        "story": story_digest(story),
        "character": persona.name,
        "moment": persona.moment.dotted,
        "facing": request.facing,
        "metrics": request.metrics,
        "glove": request.glove,
        "why": request.why,
        "model": request.model,
    }
    with _counting_parts() as done:
        return score_files(pattern, request, about, output, cluster, force, done)


def _place_checked(file: Path, output: Path, engine: str) -> None:
    """A place that cannot be written is said before anything is read."""
    if str(file) != "-" and output.exists() and file.exists() and output.samefile(file):
        raise InputError("is what is being read, and would be lost: say with -o another place", output)
    if engine == "local" and output.is_dir():
        raise InputError("is a folder: name a file", output)
    if engine == "local" and not output.parent.is_dir():
        raise InputError("cannot be written: there is no such folder", output)


def _document(
    persona: Persona, names: Sequence[str], rows: list[Row] | None, summary: Tally, sets: Sequence[Score],
    warning: str,
) -> Row:  # fmt: skip
    document: Row = {"character": persona.name, "moment": persona.moment.dotted, "metrics": names}
    if rows is not None:
        document["lines"] = rows
    document |= {"count": summary.count, "summary": summary.document()}
    if warning:
        document["warnings"] = [warning]
    if sets:
        document["sets"] = {score.name: {"value": score.value, "reason": score.reason} for score in sets}
    return document


def _refuse(
    of_lines: Sequence[str], of_sets: Sequence[str], file: Path, output: Path | None, engine: str, model: str | None,
    labelled: Path | None,
) -> None:  # fmt: skip
    """What does not go together is said before anything is read."""
    from understudy.metrics.scoring.lines import PERSONA

    if of_sets and engine == "daft":
        raise click.UsageError(f"{of_sets[0]} judges all lines together: leave --engine daft out for it")
    if of_sets and not of_lines and output is not None:
        raise click.UsageError(f"-o is for scores of single lines, and {of_sets[0]} is one for all: leave -o out")
    if of_sets and of_lines and str(file) == "-":
        raise InputError(f"stdin cannot be read twice: ask for {of_sets[0]} alone, or write the lines to a file first")
    if model is not None and "uppl" not in of_lines:
        raise click.UsageError("--model is what uppl asks: name it with --metrics uppl")
    if (labelled is not None) != (PERSONA in of_sets):
        raise click.UsageError(f"--labelled and --metrics {PERSONA} go together: it is learnt from those lines")


def _shared(model: str | None) -> str | None:
    """A model's place as every worker finds it; a name at Hugging Face is one everywhere."""
    return model if model is None or not Path(model).exists() else str(Path(model).resolve())


def _names(wanted: str | None) -> tuple[str, ...]:
    from understudy.metrics.registry import DEFAULT_METRICS, METRICS
    from understudy.metrics.scoring.lines import SETS

    names = DEFAULT_METRICS if wanted is None else tuple(dict.fromkeys(name.strip() for name in wanted.split(",")))
    for name in names:
        if name not in (*METRICS, *SETS):
            meant = did_you_mean(name, (*METRICS, *SETS))
            raise click.UsageError(f"no metric '{name}'{meant}: {', '.join((*METRICS, *SETS))}")
    return names


@contextmanager
def _counting_lines() -> Iterator[Any]:
    """On a terminal, how many lines are done."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    with out.status("Scoring") as status:
        yield lambda count: status.update(f"Scoring: {count:,} lines") if count % 1000 == 0 else None


@contextmanager
def _counting_parts() -> Iterator[Any]:
    """On a terminal, how many parts are done."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield lambda *_: None
        return
    with out.status("Scoring") as status:
        yield lambda count, of: status.update(f"Scoring: {count:,} of {of:,} parts")


def _print_rows(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Few lines with the reason of every score; many as a table, or beneath one another where a table has no room."""
    out = screen()
    if len(rows) <= EXPLAINED:
        for row in rows:
            out.print(_headline(row))
            scores = ((name, _figure(value), row["reasons"][name]) for name, value in row["scores"].items())
            out.print(indented(grid(scores)))
        return
    widths = [max(len(_figure(row["scores"][name])) for row in rows) for name in names]
    missing = any(value is None for row in rows for value in row["scores"].values())
    room = out.width - LINE_NUMBER - sum(max(len(name), width) + GAP for name, width in zip(names, widths))
    if room >= TEXT_ROOM and not missing:
        columns: list[Column] = [("line", RIGHT), ("", {}), *((name, RIGHT) for name in names)]
        shown = ((str(row["line"]), short(row["text"], 60), *map(_figure, row["scores"].values())) for row in rows)
        out.print(table(columns, shown))
        return
    for row in rows:
        out.print(_headline(row))
        cells = [f"{name} {_figure(row['scores'][name]):<{width}}" for name, width in zip(names, widths)]
        for line in _wrapped(cells, out.width - 2 * GAP):
            out.print(indented(line))
        for reason, without in _missing(row).items():
            out.print(indented(Text(f"no {', '.join(without)}: {clean(reason)}", "dim")))


def _headline(row: Row) -> Table:
    """The line itself; what is wrapped stands beneath its beginning."""
    text = clean(short(row["text"], LONGEST))
    return grid([(Text(str(row["line"]), style="dim"), Text(text, style="bold"))])


def _missing(row: Row) -> dict[str, list[str]]:
    """By its reason, the metrics that have no value."""
    reasons: dict[str, list[str]] = {}
    for name, value in row["scores"].items():
        if value is None:
            reasons.setdefault(row["reasons"][name], []).append(name)
    return reasons


def _wrapped(cells: Sequence[str], room: int) -> list[str]:
    """Cells in as many lines as they take; none is broken."""
    lines: list[str] = []
    for cell in cells:
        if lines and len(lines[-1]) + GAP + len(cell) <= room:
            lines[-1] += " " * GAP + cell
        else:
            lines.append(cell)
    return lines


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _print_summary(persona: Persona, summary: Tally, sets: Sequence[Score]) -> None:
    out = screen()
    out.print()
    out.print(heading(f"{summary.count:,} lines as {persona.name} at {when(persona.moment)}"))
    columns: list[Column] = ["metric", ("mean", RIGHT), ("without", RIGHT)]
    rows = [(name, _figure(figures["mean"]), f"{figures['missing']:,}") for name, figures in summary.document().items()]
    if rows:
        out.print(indented(table(columns, rows)))
    if sets:
        columns = [("all lines together", {"no_wrap": True}), ("share", RIGHT), ("", {})]
        out.print(indented(table(columns, ((score.name, _figure(score.value), score.reason) for score in sets))))
