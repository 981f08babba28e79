"""`understudy score`: how much like a character are these lines, by several metrics, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from understudy import __version__
from understudy.cli.options import FILE, PATH, Options, check_output, shared, text_column
from understudy.cli.progress import situation_of, working
from understudy.cli.show import clean, grid, heading, indented, print_json, print_table, screen, share, short, when
from understudy.errors import InputError
from understudy.story.dialogue import Score
from understudy.story.persona import Persona
from understudy.text import did_you_mean

if TYPE_CHECKING:
    from understudy.metrics.scoring import Row, Tally
    from understudy.metrics.scoring.engine import ScoringRequest
    from understudy.story.storyfile import Story

EXPLAINED = 10  # lines, up to which each is shown with its reasons
LONGEST = 240  # characters of a line
LISTED = 500  # lines, up to which they are shown at all
LINE_NUMBER, GAP = 6, 2  # columns of a table
TEXT_ROOM = 36  # columns for the line itself, below which a table cannot be read
STEP = 1000  # lines between two words on the progress


@click.command(short_help="How much like a character are these lines?")
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--story", required=True, metavar="STORY", help="Where the character's own lines are.")
@click.option("--as", "name", required=True, metavar="NAME", help="Whose lines they are meant to be.")
@shared("at facing text_column")
@click.option("--metrics", "wanted", metavar="NAME,...", help="Which (default: all that need no training data).")
@click.option("-o", "--output", type=PATH, metavar="OUT.jsonl",
              help="Write a line for each line of FILE. A run that was stopped goes on where it was.")  # fmt: skip
@click.option("--engine", type=click.Choice(["local", "daft"]), default="local", show_default=True,
              help="With daft, FILE may be a pattern; all cores write OUT.parquet, or a folder.")  # fmt: skip
@click.option("--cluster", metavar="ADDRESS",
              help="With --engine daft, a Ray cluster to use: ray://HOST:PORT, or local to start one.")  # fmt: skip
@click.option("--model", metavar="MODEL",
              help="A language model that uppl asks: what `train causal` or `train masked` made, or any.")  # fmt: skip
@click.option("--labelled", type=PATH, metavar="FILE.jsonl",
              help='What persona_accuracy is learnt from: {"text": ..., "fit": true}.')  # fmt: skip
@click.option("--glove", type=FILE, metavar="FILE",
              help="GloVe vectors by which p_cover ranks words (default: the story's own lines).")  # fmt: skip
@click.option("--why", is_flag=True, help="Write reasons too, not only for scores that are missing.")
@shared("force annotated json")
def score(
    options: Options, file: Path, wanted: str | None, engine: str, cluster: str | None, model: str | None,
    labelled: Path | None, glove: Path | None, why: bool,
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
    from understudy.metrics.scoring import SETS, Tally, score_rows, score_sets, set_metrics, write_scores
    from understudy.metrics.scoring.engine import ScoringRequest, anywhere, line_metrics
    from understudy.metrics.scoring.inputs import pieces

    column, output, names = text_column(options.columns), options.output, _names(wanted)
    of_sets = tuple(metric for metric in names if metric in SETS)
    of_lines = tuple(metric for metric in names if metric not in SETS)
    _check_together(options, file, of_lines, of_sets, engine, cluster, model, labelled)
    story, situation = situation_of(options)
    context = MetricContext(story, situation, author=True)
    rows: list[Row] = []
    sets: list[Score] = []
    if engine == "daft":
        ranked, named = (None if glove is None else anywhere(str(glove))), anywhere(options.story)
        request = ScoringRequest(
            named, options.name, options.at, options.facing, names, ranked, why, _found_anywhere(model)
        )
        summary = _score_scaled(str(file), request, story, situation.persona, output, cluster, options.force)
    else:
        with working("Getting ready"):
            metrics = line_metrics(context, of_lines, glove, model)
        summary = Tally.empty(metrics) if metrics else Tally.empty()
        if of_sets:
            with working("Judging all lines together"):
                judges = set_metrics(of_sets, context, _labelled(labelled))
                count, sets = score_sets(pieces(file, text=column), judges)
            summary.count = 0 if metrics else count
        if metrics and output is not None:
            if options.force:
                output.unlink(missing_ok=True)
            with working("Scoring") as progress:
                summary = write_scores(
                    file, metrics, output, why, lambda n: None if n % STEP else progress(f"{n:,} lines"), column
                )
        elif metrics:
            for row in score_rows(file, metrics, math.inf if options.as_json else EXPLAINED, column=column):
                summary.add(row)
                if options.as_json or len(rows) < LISTED:
                    rows.append(row)
    warning = small_cast_warning(context.samples, situation.persona.name) if "psprob" in names else ""
    if options.as_json:
        shown = rows if output is None and of_lines else None
        print_json(_document(situation.persona, names, shown, summary, sets, warning))
        return
    if warning:
        click.echo(f"{warning}.", err=True)
    _print_rows(rows, of_lines)
    _print_summary(situation.persona, summary, sets)
    if output is not None:
        click.echo(f"Every line's scores are in {output}.")
    elif of_lines and len(rows) > EXPLAINED:
        screen().print(f"Reasons are shown for up to {EXPLAINED} lines: --json has them, -o OUT --why writes them.")
    if output is None and of_lines and summary.count > len(rows):
        click.echo(f"The first {len(rows):,} lines are shown: -o OUT.jsonl writes them all.")


def _check_together(
    options: Options, file: Path, of_lines: Sequence[str], of_sets: Sequence[str], engine: str, cluster: str | None,
    model: str | None, labelled: Path | None,
) -> None:  # fmt: skip
    """What does not go together, and a place that cannot be written, is said before anything is read."""
    from understudy.metrics.scoring import PERSONA

    if cluster is not None and engine != "daft":
        raise click.UsageError("--cluster goes with --engine daft")
    if options.columns and engine == "daft":
        raise click.UsageError("--columns goes with --engine local: name the column 'text' for daft")
    if engine == "local":
        if options.output is not None and options.output.is_dir():
            raise InputError("is a folder: name a file", options.output)
        check_output(options.output, [file])
    if of_sets and engine == "daft":
        raise click.UsageError(f"{of_sets[0]} judges all lines together: leave --engine daft out for it")
    if of_sets and not of_lines and options.output is not None:
        raise click.UsageError(f"-o is for scores of single lines, and {of_sets[0]} is one for all: leave -o out")
    if of_sets and of_lines and str(file) == "-":
        raise InputError(f"stdin cannot be read twice: ask for {of_sets[0]} alone, or write the lines to a file first")
    if model is not None and "uppl" not in of_lines:
        raise click.UsageError("--model is what uppl asks: name it with --metrics uppl")
    if (labelled is not None) != (PERSONA in of_sets):
        raise click.UsageError(f"--labelled and --metrics {PERSONA} go together: it is learnt from those lines")


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
    pattern: str, request: ScoringRequest, story: Story, persona: Persona, output: Path | None, cluster: str | None,
    force: bool,
) -> Tally:  # fmt: skip
    """`--engine daft`: files by a pattern, scored by many workers into Parquet."""
    from understudy.metrics.scoring.engine import score_files, story_digest

    if output is None:
        raise click.UsageError("--engine daft writes Parquet: say where with -o OUT.parquet, or -o FOLDER")
    if pattern == "-":
        raise InputError("stdin cannot be shared among workers: write the lines to a file first")
    check_output(output if output.exists() else None, [Path(pattern)])
    if output.exists() and not output.is_dir() and output.suffix.lower() != ".parquet":
        raise InputError("is a file that is there already: say -o OUT.parquet, or -o FOLDER", output)
    about = {
        "version": __version__,
        "story": story_digest(story),
        "character": persona.name,
        "moment": persona.moment.dotted,
        **{key: getattr(request, key) for key in ("facing", "metrics", "glove", "why", "model")},
    }
    with working("Scoring") as progress:
        return score_files(
            pattern, request, about, output, cluster, force, lambda n, of: progress(f"{n:,} of {of:,} parts")
        )


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


def _found_anywhere(model: str | None) -> str | None:
    """A model's place as every worker finds it; a name at Hugging Face is one everywhere."""
    return model if model is None or not Path(model).exists() else str(Path(model).resolve())


def _names(wanted: str | None) -> tuple[str, ...]:
    from understudy.metrics.registry import DEFAULT_METRICS, METRICS
    from understudy.metrics.scoring import SETS

    names = DEFAULT_METRICS if wanted is None else tuple(dict.fromkeys(name.strip() for name in wanted.split(",")))
    for name in names:
        if name not in (*METRICS, *SETS):
            meant = did_you_mean(name, (*METRICS, *SETS))
            raise click.UsageError(f"no metric '{name}'{meant}: {', '.join((*METRICS, *SETS))}")
    return names


def _print_rows(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Few lines with the reason of every score; many as a table, or beneath one another where a table has no room."""
    out = screen()
    if len(rows) <= EXPLAINED:
        for row in rows:
            out.print(_headline(row))
            scores = ((name, share(value, ".3g"), row["reasons"][name]) for name, value in row["scores"].items())
            out.print(indented(grid(scores)))
        return
    widths = [max(map(len, figures)) for figures in zip(*map(_figures, rows))]
    missing = any(value is None for row in rows for value in row["scores"].values())
    room = out.width - LINE_NUMBER - sum(max(len(name), width) + GAP for name, width in zip(names, widths))
    if room >= TEXT_ROOM and not missing:
        shown = ((str(row["line"]), short(row["text"], 60), *_figures(row)) for row in rows)
        print_table(out, [">line", "", *(f">{name}" for name in names)], shown, indent=0)
        return
    for row in rows:
        out.print(_headline(row))
        cells = [f"{name} {figure:<{width}}" for name, figure, width in zip(names, _figures(row), widths)]
        for line in _wrapped(cells, out.width - 2 * GAP):
            out.print(indented(line))
        for reason, without in _missing(row).items():
            out.print(indented(Text(f"no {', '.join(without)}: {clean(reason)}", "dim")))


def _figures(row: Row) -> list[str]:
    return [share(value, ".3g") for value in row["scores"].values()]


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


def _print_summary(persona: Persona, summary: Tally, sets: Sequence[Score]) -> None:
    out = screen()
    out.print()
    out.print(heading(f"{summary.count:,} lines as {persona.name} at {when(persona.moment)}"))
    means = [(name, share(each["mean"], ".3g"), f"{each['missing']:,}") for name, each in summary.document().items()]
    if means:
        print_table(out, ["metric", ">mean", ">without"], means)
    if sets:
        together = [(score.name, share(score.value, ".3g"), score.reason) for score in sets]
        print_table(out, ["<all lines together", ">share", ""], together)
