"""`understudy filter`: judge the lines of a file by rules, into the utterance database."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.options import FILE, PATH, Options, check_output, shared, text_column
from understudy.cli.progress import situation_of, working
from understudy.cli.show import bar, heading, indented, print_json, print_table, screen
from understudy.cli.utterances import store_option
from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.bench.report.bound import BoundPlot, Figure
    from understudy.judging import Curve, Point, Rule
    from understudy.judging.filtering import Outcome
    from understudy.metrics.line_metric import LineMetric
    from understudy.metrics.registry import MetricContext

RECOMMENDED = "guards<=0"
SAMPLE = 20_000  # lines from which --keep finds a bound
TABLE_ROWS = 12
BAND_POINTS = 80  # bounds whose intervals are drawn
LINE_POINTS = 400
BAR = 16
SUFFIXES = (".svg", ".html")
SHARE = click.FloatRange(0, 1, min_open=True)


@click.command("filter", short_help="Decide by rules which lines of a file may be said.")
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--story", required=True, metavar="STORY", help="The story of the character.")
@click.option("--as", "name", required=True, metavar="NAME", help="The character who is to say the lines.")
@shared("at facing")
@click.option(
    "--until",
    default="end",
    show_default=True,
    metavar="MOMENT",
    help="The lines may be said until before this moment.",
)
@shared("text_column")
@click.option("--guards", is_flag=True, help="The guards of `chat`, as a rule: the same as --rule 'guards<=0'.")
@shared("rules", rules="A metric and a bound, as in psprob>=0.2; may be repeated.")
@click.option(
    "--bound", "metric", metavar="METRIC", help="Find a bound of this metric, by --keep, --precision or --recall."
)
@click.option("--keep", type=SHARE, help="Share of the lines to keep.")
@click.option("--precision", type=SHARE, help="Share of what is kept that is fit.")
@click.option("--recall", type=SHARE, help="Share of what is fit that is kept.")
@click.option("--labelled", type=PATH, metavar="FILE.jsonl",
              help='Lines that somebody judged: {"text": ..., "fit": true} each.')  # fmt: skip
@click.option("--plot", type=FILE, metavar="FILE", help="Plot what each bound would do, into an .svg or .html file.")
@click.option("--model", metavar="MODEL", help="Language model for uppl.")
@store_option
@click.option(
    "--vectors/--no-vectors", default=True, show_default=True, help="Store vectors of approved lines, to search by."
)
@click.option("--yes", is_flag=True, help="Use the bound without asking.")
@shared("annotated json")
def filter_(
    options: Options, file: Path, until: str, guards: bool, metric: str | None, keep: float | None,
    precision: float | None, recall: float | None, labelled: Path | None, plot: Path | None, model: str | None,
    store: str, vectors: bool, yes: bool,
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
    from understudy.judging import GUARD_RULES, Rule, require_known_metric
    from understudy.judging.filtering import FilterJob, filter_lines, rule_metric
    from understudy.metrics.psprob import small_cast_warning
    from understudy.metrics.registry import MetricContext
    from understudy.metrics.scoring.engine import line_metrics
    from understudy.metrics.scoring.inputs import pieces
    from understudy.metrics.utterances import open_store

    column = text_column(options.columns)
    parsed = [Rule.parse(rule) for rule in dict.fromkeys((*([RECOMMENDED] if guards else []), *options.rules))]
    _check_plot_path(plot, file, labelled)
    story, situation = situation_of(options)
    context = MetricContext(story, situation, author=True)
    names = dict.fromkeys((*(rule.metric for rule in parsed), *([] if metric is None else [metric])))
    for needed in names:
        require_known_metric(needed)
    if model is not None and "uppl" not in names:
        raise click.UsageError("--model is what uppl asks: name it in a --rule, or with --bound")
    with working("Getting ready"):
        by_name = {
            name: rule_metric(name, story, context)
            if name in GUARD_RULES
            else line_metrics(context, [name], model=model)[0]
            for name in names
        }
    if metric is not None:
        texts = _first_lines(file, column) if keep is not None else []
        parsed.append(
            _find_bound(by_name[metric], file, texts, keep, precision, recall, labelled, plot, yes or options.as_json)
        )
    elif keep or precision or recall or labelled or plot:
        raise click.UsageError("say with --bound which metric's bound is to be found")
    if not parsed:
        raise click.UsageError("say --guards, at least one --rule, or --bound")
    warning = small_cast_warning(context.samples, situation.persona.name) if "psprob" in by_name else ""
    if warning and not options.as_json:
        click.echo(f"{warning}.", err=True)
    persona = situation.persona
    job = FilterJob(story.title, persona.name, persona.moment, story.moment(until), file, column or "")
    if job.until <= job.since and not job.until.is_end:
        raise click.UsageError(f"--until {until} is not after --at {options.at}")
    batches = pieces(file, text=column)
    first = list(islice(batches, 1))  # before the database is created, so that an unreadable file leaves none behind
    database = open_store(store)
    try:
        with working("Judging") as progress:
            outcome = filter_lines(
                chain(first, batches), list(by_name.values()), parsed, database, job, _encoder(context, vectors),
                lambda line: progress(f"{line:,} lines"),
            )  # fmt: skip
    finally:
        database.close()
    _show(outcome, parsed, job.character, store, options.as_json, warning)


def _find_bound(
    metric: LineMetric, file: Path, texts: list[str], keep: float | None, precision: float | None, recall: float | None,
    labelled: Path | None, plot: Path | None, confirmed: bool,
) -> Rule:  # fmt: skip
    from understudy.judging import bound_keeping, curve_of, read_labelled, shares_kept

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
    check_output(plot, sources)


def _show_curve(curve: Curve, chosen: Point, labelled: Path, plot: Path | None) -> None:
    """What each bound would do to labelled lines."""
    from understudy.bench.report.bound import BoundPlot, Share

    bounds, band_points = curve.shown(), curve.some(BAND_POINTS)
    indices = _spaced(len(bounds), LINE_POINTS)
    shares = []
    for name, values in (("precision", curve.precision), ("recall", curve.recall), ("keeps", curve.kept)):
        points = [(float(bounds[index]), float(values[index])) for index in indices]
        if name == "keeps":
            shares.append(Share(name, points, chosen.kept))
            continue
        value, low, high = getattr(chosen, name)
        band = [(point.bound, getattr(point, name).low, getattr(point, name).high) for point in band_points]
        shares.append(Share(name, points, value, band, (low, high)))
    rows: list[tuple[float, Sequence[Figure]]] = [
        (point.bound, [*((each.value, (each.low, each.high)) for each in (point.precision, point.recall)),
                       (point.kept, None)])
        for point in sorted({*curve.some(TABLE_ROWS), chosen}, key=lambda point: point.kept)
    ]  # fmt: skip
    note = (
        "How much of what a bound keeps is fit (precision), and how much it keeps of what is fit (recall) and of "
        f"everything (keeps). Judged on the lines of {labelled.name}, with 95% intervals."
    )
    drawn = BoundPlot(curve.metric, curve.at_least, chosen.bound, str(curve.rule(chosen)), shares)
    _show_bounds(drawn, rows, note, plot)


def _show_shares_kept(rule: Rule, shares: Sequence[tuple[float, float]], of: Path, plot: Path | None) -> None:
    """The share of the lines that each bound would keep."""
    from understudy.bench.report.bound import BoundPlot, Share

    chosen = next(index for index, (bound, _) in enumerate(shares) if bound == rule.bound)
    points = [shares[index] for index in _spaced(len(shares), LINE_POINTS)]
    rows: list[tuple[float, Sequence[Figure]]] = [
        (shares[index][0], [(shares[index][1], None)]) for index in sorted({*_spaced(len(shares), TABLE_ROWS), chosen})
    ]
    keeps = Share("keeps", points, shares[chosen][1])
    drawn = BoundPlot(rule.metric, rule.at_least, rule.bound, str(rule), [keeps])
    _show_bounds(drawn, rows, f"How much of the first lines of {of.name} a bound keeps.", plot)


def _show_bounds(
    drawn: BoundPlot, bounds: Sequence[tuple[float, Sequence[Figure]]], note: str, plot: Path | None
) -> None:
    """Some bounds as a table, with the one chosen, and all of them as a picture where one is wanted."""
    from understudy.bench.report.bound import bound_page, bound_svg

    out = screen(stderr=True)
    out.print(heading(f"What a bound on {drawn.metric} would do (the one chosen is marked)"))
    rows = (
        (
            f"{'> ' if bound == drawn.bound else ''}{bound:.4g}",
            *(f"{share:.2f} {bar(share, BAR, out.options.ascii_only):<{BAR}}" for share, _ in shares),
        )
        for bound, shares in bounds
    )
    print_table(out, [">bound", *(f"<{share.name}" for share in drawn.shares)], rows)
    for share in drawn.shares:
        if share.interval is not None:
            low, high = share.interval
            out.print(indented(f"{share.name} {share.chosen:.2f} (95%: {low:.2f} to {high:.2f}) with {drawn.rule}"))
    if plot is not None:
        is_svg = plot.suffix.lower() == ".svg"
        plot.write_text(bound_svg(drawn) if is_svg else bound_page(drawn, note, bounds), encoding="utf-8")
        click.echo(f"Drawn in {plot}.", err=True)


def _spaced(size: int, most: int) -> list[int]:
    """At most `most` indices, evenly spaced from the first to the last."""
    return sorted({round(step * (size - 1) / max(most - 1, 1)) for step in range(most)})


def _encoder(context: MetricContext, vectors: bool) -> Any:
    """The encoder that ships reads English; lines of other languages are stored without vectors."""
    if not vectors or context.situation.persona.language != "en":
        return None
    from understudy.language.encoding.encoder import SentenceEncoder

    return SentenceEncoder().encode


def _show(outcome: Outcome, rules: Sequence[Rule], character: str, store: str, as_json: bool, warning: str) -> None:
    from understudy.database import masked

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
