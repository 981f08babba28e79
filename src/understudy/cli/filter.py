"""`understudy filter`: judge the lines of a file by rules, into the utterance database."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from understudy.cli.options import (
    annotated_option,
    at_option,
    facing_option,
    json_option,
    text_column,
    text_column_option,
)
from understudy.cli.progress import read_with_people, working
from understudy.cli.show import Column, Screen, bar, heading, indented, print_json, screen, table
from understudy.cli.utterances import store_option
from understudy.errors import InputError
from understudy.story.dialogue import situation_at

if TYPE_CHECKING:
    from understudy.bench.report.bound import BoundPlot, Figure
    from understudy.judging import Curve, Rule
    from understudy.judging.rules import Point
    from understudy.judging.run import Outcome
    from understudy.metrics.line_metric import LineMetric
    from understudy.metrics.registry import MetricContext
    from understudy.metrics.statistics import Interval

__all__ = ["filter_"]

RECOMMENDED = "guards<=0"
SAMPLE = 20_000  # lines from which --keep finds a bound
TABLE_ROWS = 12
BAND_POINTS = 80  # bounds whose intervals are drawn
LINE_POINTS = 400
BAR = 16
SUFFIXES = (".svg", ".html")


@click.command("filter", short_help="Decide by rules which lines of a file may be said.")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--story", required=True, metavar="STORY", help="The story of the character.")
@click.option("--as", "name", required=True, metavar="NAME", help="The character who is to say the lines.")
@at_option
@facing_option
@click.option(
    "--until",
    default="end",
    show_default=True,
    metavar="MOMENT",
    help="The lines may be said until before this moment.",
)
@text_column_option
@click.option("--guards", is_flag=True, help="The guards of `chat`, as a rule: the same as --rule 'guards<=0'.")
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help="A metric and a bound, as in psprob>=0.2; may be repeated."
)
@click.option(
    "--bound", "metric", metavar="METRIC", help="Find a bound of this metric, by --keep, --precision or --recall."
)
@click.option("--keep", type=click.FloatRange(0, 1, min_open=True), help="Share of the lines to keep.")
@click.option("--precision", type=click.FloatRange(0, 1, min_open=True), help="Share of what is kept that is fit.")
@click.option("--recall", type=click.FloatRange(0, 1, min_open=True), help="Share of what is fit that is kept.")
@click.option("--labelled", type=click.Path(path_type=Path), metavar="FILE.jsonl",
              help='Lines that somebody judged: {"text": ..., "fit": true} each.')  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Plot what each bound would do, into an .svg or .html file.")  # fmt: skip
@click.option("--model", metavar="MODEL", help="Language model for uppl.")
@store_option
@click.option(
    "--vectors/--no-vectors", default=True, show_default=True, help="Store vectors of approved lines, to search by."
)
@click.option("--yes", is_flag=True, help="Use the bound without asking.")
@annotated_option
@json_option
def filter_(
    file: Path, story: str, name: str, at: str, facing: str | None, until: str, columns: tuple[str, ...],
    guards: bool, rules: tuple[str, ...],
    metric: str | None, keep: float | None, precision: float | None, recall: float | None, labelled: Path | None,
    plot: Path | None, model: str | None, store: str, vectors: bool, yes: bool, annotated: bool, as_json: bool,
) -> None:  # fmt: skip
    """Judge the lines of FILE by rules and store them with their scores: approved, rejected, or pending for people.

    FILE has a line each, or is a table (.csv, .tsv) or JSON lines (.jsonl) with a column of texts; - is stdin.
    --guards rejects what no guard of `chat` would let be said (a bot's phrases, secrets, what is not known yet)
    and leaves pending what one doubts.

    A rule is a metric and a bound. A bound can be found from labelled lines for a wanted precision or recall, or as a
    share to keep; what each bound would do is shown before one is used. A run that was stopped continues when repeated.

    \b
    Examples:
        understudy filter sentences.txt --story demo --as Zita --at 2.3 \\
            --guards --store lines.db
        understudy filter lines.csv --columns text=Line --story demo --as Zita \\
            --rule "psprob>=0.2" --store lines.db
        understudy filter sentences.txt --story demo --as Zita --bound psprob \\
            --precision 0.9 --labelled labelled.jsonl --store lines.db
    """
    from understudy.judging import Rule
    from understudy.judging.guard_rules import GUARD_RULES, require_known_metric, rule_metric
    from understudy.judging.run import FilterJob, filter_lines
    from understudy.metrics.psprob import small_cast_warning
    from understudy.metrics.registry import MetricContext
    from understudy.metrics.scoring.engine import line_metrics
    from understudy.metrics.scoring.inputs import pieces
    from understudy.metrics.utterances.store import open_store

    column = text_column(columns)
    parsed = [Rule.parse(rule) for rule in dict.fromkeys((*([RECOMMENDED] if guards else []), *rules))]
    _check_plot_path(plot, file, labelled)
    opened = read_with_people(story, annotated)
    situation = situation_at(opened, name, at, facing)
    grounds = MetricContext(opened, situation, author=True)
    names = dict.fromkeys((*(rule.metric for rule in parsed), *([] if metric is None else [metric])))
    for needed in names:
        require_known_metric(needed)
    if model is not None and "uppl" not in names:
        raise click.UsageError("--model is what uppl asks: name it in a --rule, or with --bound")
    with working("Getting ready"):
        by_name = {
            name: rule_metric(name, opened, grounds)
            if name in GUARD_RULES
            else line_metrics(grounds, [name], model=model)[0]
            for name in names
        }
    if metric is not None:
        texts = _first_lines(file, column) if keep is not None else []
        parsed.append(
            _find_bound(by_name[metric], file, texts, keep, precision, recall, labelled, plot, yes or as_json)
        )
    elif keep or precision or recall or labelled or plot:
        raise click.UsageError("say with --bound which metric's bound is to be found")
    if not parsed:
        raise click.UsageError("say --guards, at least one --rule, or --bound")
    warning = small_cast_warning(grounds.samples, situation.persona.name) if "psprob" in by_name else ""
    if warning and not as_json:
        click.echo(f"{warning}.", err=True)
    job = FilterJob(
        opened.title, situation.persona.name, situation.persona.moment, opened.moment(until), file, column or ""
    )
    if job.until <= job.since and not job.until.is_end:
        raise click.UsageError(f"--until {until} is not after --at {at}")
    batches = pieces(file, text=column)
    first = list(islice(batches, 1))  # before the database is created, so that an unreadable file leaves none behind
    database = open_store(store)
    try:
        with Console(stderr=True).status("Judging") as status:
            outcome = filter_lines(
                chain(first, batches), list(by_name.values()), parsed, database, job, _encoder(grounds, vectors),
                lambda line: status.update(f"Judging: {line:,} lines"),
            )  # fmt: skip
    finally:
        database.close()
    _show(outcome, parsed, job.character, store, as_json, warning)


def _find_bound(
    metric: LineMetric, file: Path, texts: list[str], keep: float | None, precision: float | None, recall: float | None,
    labelled: Path | None, plot: Path | None, confirmed: bool,
) -> Rule:  # fmt: skip
    from understudy.judging import bound_keeping, curve_of, read_labelled
    from understudy.judging.rules import shares_kept

    if sum(target is not None for target in (keep, precision, recall)) != 1:
        raise click.UsageError("say one of --keep, --precision and --recall to find a bound")
    if keep is not None:
        values = _values(metric, texts)
        rule = bound_keeping(metric.name, values, keep)
        _show_shares_kept(rule, shares_kept(metric.name, values), file, plot)
        return rule
    if labelled is None:
        raise click.UsageError("--precision and --recall need lines that somebody judged: --labelled FILE.jsonl")
    lines = read_labelled(labelled)
    curve = curve_of(metric.name, _values(metric, [line.text for line in lines]), lines)
    point = curve.for_precision(precision) if precision is not None else curve.for_recall(recall or 0)
    _show_curve(curve, point, labelled, plot)
    if not confirmed:
        click.confirm(f"Use {curve.rule(point)}?", abort=True, err=True)
    return curve.rule(point)


def _values(metric: LineMetric, texts: list[str]) -> list[float | None]:
    if metric.missing:
        raise InputError(f"no bound on {metric.name} can be found: {metric.missing}")
    return [None if math.isnan(value) else value for value in metric.values(metric.samples.tokenize(texts)).tolist()]


def _first_lines(file: Path, column: str | None) -> list[str]:
    """The first lines of a file; a pipe cannot be read twice."""
    from understudy.metrics.scoring.inputs import pieces

    if str(file) == "-":
        raise InputError("stdin cannot be read twice: write the lines to a file to find a bound by --keep")
    lines: list[str] = []
    for batch in pieces(file, text=column):
        lines += batch
        if len(lines) >= SAMPLE:
            break
    return lines


def _check_plot_path(plot: Path | None, *sources: Path | None) -> None:
    """Raise where the plot cannot be written, before anything is scored."""
    if plot is None:
        return
    if plot.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"--plot draws an .svg or an .html file, not '{plot.name}'")
    if not plot.parent.is_dir():
        raise InputError("cannot be written: there is no such folder", plot)
    if plot.exists() and any(source is not None and source.exists() and plot.samefile(source) for source in sources):
        raise InputError("is what is being read, and would be lost: name another with --plot", plot)


def _show_curve(curve: Curve, chosen: Point, labelled: Path, plot: Path | None) -> None:
    """What each bound would do to labelled lines."""
    points = sorted({*curve.some(TABLE_ROWS), chosen}, key=lambda point: point.kept)
    shares = [(point.bound, (point.precision.value, point.recall.value, point.kept)) for point in points]
    _print_bounds(curve.metric, ("precision", "recall", "keeps"), shares, points.index(chosen))
    out = _stderr()
    for name, share in (("precision", chosen.precision), ("recall", chosen.recall)):
        out.print(
            indented(f"{name} {share.value:.2f} (95%: {share.low:.2f} to {share.high:.2f}) with {curve.rule(chosen)}")
        )
    if plot is not None:
        from understudy.bench.report.bound import bound_page

        figures = [
            (point.bound, (_with_interval(point.precision), _with_interval(point.recall), (point.kept, None)))
            for point in points
        ]
        note = (
            "How much of what a bound keeps is fit (precision), and how much it keeps of what is fit (recall) and of "
            f"everything (keeps). Judged on the lines of {labelled.name}, with 95% intervals."
        )
        bound_plot = _curve_plot(curve, chosen)
        _write_plot(plot, bound_plot, bound_page(bound_plot, note, figures))


def _show_shares_kept(rule: Rule, shares: Sequence[tuple[float, float]], of: Path, plot: Path | None) -> None:
    """The share of the lines that each bound would keep."""
    chosen = next(index for index, (bound, _) in enumerate(shares) if bound == rule.bound)
    indices = sorted({*_spaced(len(shares), TABLE_ROWS), chosen})
    _print_bounds(
        rule.metric, ("keeps",), [(shares[index][0], (shares[index][1],)) for index in indices], indices.index(chosen)
    )
    if plot is not None:
        from understudy.bench.report.bound import BoundPlot, Share, bound_page

        points = [shares[index] for index in _spaced(len(shares), LINE_POINTS)]
        bound_plot = BoundPlot(
            rule.metric, rule.at_least, rule.bound, str(rule), [Share("keeps", points, shares[chosen][1])]
        )
        figures = [(shares[index][0], [(shares[index][1], None)]) for index in indices]
        _write_plot(
            plot,
            bound_plot,
            bound_page(bound_plot, f"How much of the first lines of {of.name} a bound keeps.", figures),
        )


def _print_bounds(
    metric: str, heads: Sequence[str], points: Sequence[tuple[float, Sequence[float]]], chosen: int
) -> None:
    out = _stderr()
    out.print(heading(f"What a bound on {metric} would do (the one chosen is marked)"))
    columns: list[Column] = [("bound", {"no_wrap": True, "justify": "right"})]
    columns += [(head, {"no_wrap": True}) for head in heads]
    rows = (
        (
            ("> " if index == chosen else "") + f"{bound:.4g}",
            *(f"{share:.2f} {bar(share, BAR, out.options.ascii_only):<{BAR}}" for share in shares),
        )
        for index, (bound, shares) in enumerate(points)
    )
    out.print(indented(table(columns, rows)))


def _curve_plot(curve: Curve, chosen: Point) -> BoundPlot:
    from understudy.bench.report.bound import BoundPlot, Share

    bounds = curve.shown()
    indices, some = _spaced(len(bounds), LINE_POINTS), curve.some(BAND_POINTS)

    def line(name: str, values: Sequence[float]) -> Share:
        points = [(float(bounds[index]), float(values[index])) for index in indices]
        if name == "keeps":
            return Share(name, points, chosen.kept)
        interval: Interval = getattr(chosen, name)
        band = [(point.bound, getattr(point, name).low, getattr(point, name).high) for point in some]
        return Share(name, points, interval.value, band, (interval.low, interval.high))

    shares = [
        line(name, values.tolist())
        for name, values in (("precision", curve.precision), ("recall", curve.recall), ("keeps", curve.kept))
    ]
    return BoundPlot(curve.metric, curve.at_least, chosen.bound, str(curve.rule(chosen)), shares)


def _write_plot(path: Path, bound_plot: BoundPlot, page: str) -> None:
    from understudy.bench.report.bound import bound_svg

    path.write_text(bound_svg(bound_plot) if path.suffix.lower() == ".svg" else page, encoding="utf-8")
    click.echo(f"Drawn in {path}.", err=True)


def _spaced(size: int, most: int) -> list[int]:
    """At most `most` indices, evenly spaced from the first to the last."""
    return sorted({round(step * (size - 1) / max(most - 1, 1)) for step in range(most)})


def _with_interval(share: Interval) -> Figure:
    return share.value, (share.low, share.high)


def _stderr() -> Screen:
    return Screen(stderr=True, markup=False, highlight=False, emoji=False)


def _encoder(grounds: MetricContext, vectors: bool) -> Any:
    """The encoder that ships reads English; lines of other languages are stored without vectors."""
    if not vectors or grounds.situation.persona.language != "en":
        return None
    from understudy.language.encoding import SentenceEncoder

    return SentenceEncoder().encode


def _show(outcome: Outcome, rules: Sequence[Rule], character: str, store: str, as_json: bool, warning: str) -> None:
    from understudy.database.database import masked

    if as_json:
        print_json(
            {
                "character": character,
                "rules": [str(rule) for rule in rules],
                "decided": dict(outcome.decided),
                "new": outcome.new,
                "done_before": outcome.before,
                "warnings": [warning] if warning else [],
            }
        )
        return
    out = screen()
    if outcome.before:
        out.print(f"An earlier run had judged the first {outcome.before:,} lines.")
    counts = [f"{number:,} {decision}" for decision, number in sorted(outcome.decided.items())]
    decided = ", ".join(counts) or "no lines left"
    out.print(f"{character} by {', '.join(map(str, rules))}: {decided}; {outcome.new:,} are new in the database.")
    if sum(outcome.decided.values()) > outcome.new:
        out.print("Those that were in it already stay as they were decided.")
    out.print(f"Look at them with `understudy utterances list --store {masked(store)}`.", soft_wrap=True)
