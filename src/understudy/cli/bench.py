"""`understudy bench`: how good it is, in numbers, on data that others prepared; `understudy compare`: two such runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.options import FILE, FOLDER, IN_FILE, IN_FOLDER, Options, listed, shared
from understudy.cli.progress import read_showing, watching, working
from understudy.cli.show import (
    Document,
    Figures,
    heading,
    indented,
    print_comparisons,
    print_figures,
    print_json,
    print_matrix,
    print_rows,
    print_table,
    screen,
)

if TYPE_CHECKING:
    from understudy.progress import Progress


@click.group()
def bench() -> None:
    """Measure Understudy against data that others prepared.

    \b
    Example:
        understudy bench readers --data data/
    """


def measure(
    options: Options, title: str, judge: Callable[[Progress], Document], show: Callable[[Document], None]
) -> Document:
    """Run a bench with its progress shown, and deliver what it found."""
    options.check_outputs()
    with watching() as watch:
        document = judge(watch)
    deliver(document, options, title, show)
    return document


def deliver(document: Document, options: Options, title: str, show: Callable[[Document], None]) -> None:
    """Write a document where it was asked for, and show it."""
    if options.output is not None:
        options.output.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.report is not None:
        from understudy.bench.report import html_report

        options.report.write_text(html_report(document, title), encoding="utf-8")
    if options.as_json:
        print_json(document)
        return
    show(document)
    for what, path in (("The document", options.output), ("The report", options.report)):
        if path is not None:
            click.echo(f"{what} is in {path}.")


@bench.command()
@shared("data limit seed output json")
def readers(options: Options) -> None:
    """How faithfully transcripts are read, against the same episodes prepared by others. --limit is in episodes a show.

    \b
    Example:
        understudy bench readers --data data/ -o readers.json
    """
    from understudy.bench.readers import bench_readers

    def judge(_: Progress) -> Document:
        with working("Reading transcripts"):
            return bench_readers(options.data, options.limit, options.seed)

    measure(options, "Readers", judge, lambda document: print_figures(document["rows"]))


@bench.command()
@shared("data")
@click.option(
    "--judge", type=IN_FOLDER, metavar="DIR", help="Judge these novels instead, by a model of all of the data."
)
@click.option("--shipped", is_flag=True, help="With --judge: judge the model that ships, and train none.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that train at once."
)
@shared("limit seed output json")
def novels(options: Options, judge: Path | None, shipped: bool, workers: int) -> None:
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
    measure(
        options,
        "Novels",
        lambda watch: bench_novels(
            NovelBench(options.data, judge, shipped, options.limit, options.seed, workers, watch)
        ),
        lambda document: print_figures([row for row in document["rows"] if row["novel"] == "all"]),
    )


@bench.command()
@shared("data")
@click.option(
    "--judge", type=IN_FOLDER, metavar="DIR",
    help="Judge on data of your own instead, in the same layout; nothing is learned from it.",
)  # fmt: skip
@click.option("--task", "tasks", metavar="NAME,...", multiple=True, help="addressee, affection, ...; all by default.")
@shared("limit seed output json")
def people(options: Options, judge: Path | None, tasks: tuple[str, ...]) -> None:
    """What is found of people in a text (whom a line is said to, ties, feelings, facts) against what people annotated.

    \b
    Examples:
        understudy bench people --data data/
        understudy bench people --data data/ --task addressee,familiarity --json
    """
    from understudy.bench.people import BenchInputs, bench_people

    measure(
        options,
        "People",
        lambda watch: bench_people(BenchInputs(options.data, judge, options.limit, options.seed, watch), listed(tasks)),
        lambda document: print_figures(document["rows"]),
    )


@bench.command()
@click.option(
    "--data", "folder", type=IN_FOLDER, metavar="DIR", help="The folder of the novels, with judgements in evaluation/."
)
@click.option(
    "--judge", type=IN_FOLDER, metavar="DIR",
    help="Judgements of your own: JSON files, and a names.json {file: [novel file, character]}.",
)  # fmt: skip
@click.option("--story", default="", metavar="STORY", help="Judge on a story instead: who says its later lines?")
@click.option("--from", "since", metavar="MOMENT", help="Where the later lines of --story begin.")
@click.option("--people", type=click.IntRange(2, 50), default=6, show_default=True, help="Told apart in --story.")
@click.option("--scorers", metavar="NAME,...", multiple=True, help="voice, psprob, ptsal, ...; all by default.")
@click.option(
    "--descriptions", type=FILE, metavar="FILE.json", help="{character: [sentences]}: judge p_f1 and p_cover too."
)
@click.option(
    "--uppl-model", metavar="MODEL",
    help="Judge uppl by this masked or causal language model too, fine-tuned on each character's lines.",
)  # fmt: skip
@click.option(
    "--uppl-rate", type=click.FloatRange(0, 1, min_open=True), default=5e-5, show_default=True,
    help="The learning rate of --uppl-model.",
)  # fmt: skip
@click.option("--uppl-models", type=FOLDER, metavar="DIR", help="Keep the fine-tuned models here, to go on later.")
@shared("seed output report json")
def voice(
    options: Options, folder: Path | None, judge: Path | None, since: str | None, people: int, scorers: tuple[str, ...],
    descriptions: Path | None, uppl_model: str | None, uppl_rate: float, uppl_models: Path | None,
) -> None:  # fmt: skip
    """How well scores agree with people on whether a reply sounds like a character.

    With --story nobody is asked: the people who speak most in a story are told apart by voice in its later lines.

    \b
    Examples:
        understudy bench voice --data data/personaclr --report out.html
        understudy bench voice --data data/personaclr --judge mine/
        understudy bench voice --data data/personaclr --uppl-model BERT/
        understudy bench voice --story friends.story --from S08E01
    """
    options.check_outputs()
    if options.story:
        if since is None:
            raise click.UsageError("say with --from where the later lines begin")
        from understudy.bench.later_lines import bench_later_lines

        read = read_showing(options.story)
        with working("Listening"):
            document = bench_later_lines(read, since, people, options.seed)
        deliver(document, options, "Voice: who says it?", _print_later_lines)
        return
    if folder is None:
        raise click.UsageError("say what to judge on: --data DIR, or --story STORY")
    from understudy.papers.utterance_metrics.bench import bench_voice

    with ExitStack() as stack:
        tuning = None
        if uppl_model is not None:
            from understudy.training.persona_lm import LineSettings, PersonaTuning

            models = uppl_models or Path(stack.enter_context(TemporaryDirectory(prefix="understudy-")))
            tuning = PersonaTuning(uppl_model, models, LineSettings(rate=uppl_rate), options.seed)
        watch = stack.enter_context(watching())
        document = bench_voice(folder, judge, options.seed, watch, listed(scorers) or None, descriptions, tuning)
    deliver(document, options, "Voice: agreement with people", _print_voice)


def _print_voice(document: Document) -> None:
    rows, out = document["rows"], screen()
    for metric, said in (("spearman", "r_s with people"), ("aupr", "AUPR of finding the unfit")):
        out.print(heading(said))
        of_metric = [row for row in rows if row["metric"] == metric]
        print_matrix(of_metric, "character", "scorer")
        out.print(indented(_by_character(of_metric)))
        out.print()
    out.print("*** p < .001, ** p < .01, * p < .05 after Holm, over all characters and scorers.")
    for metric in ("spearman", "aupr"):
        compared = [row for row in document["comparisons"] if row["metric"] == metric]
        print_comparisons(compared, {"agents": "agents"}, f"{metric}: voice and the others")
    out.print("The classifier's precision and recall and uPPL's cross-matrix are in the document: --json, or -o FILE.")


def _by_character(rows: list[Document]) -> str:
    """How far each scorer varies from character to character: a mean alone hides it."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["value"] is not None and not row["character"].startswith("mean"):
            values.setdefault(row["scorer"], []).append(row["value"])
    return "by character: " + ", ".join(f"{name} {min(some):.2f} to {max(some):.2f}" for name, some in values.items())


LATER_LINES = {
    "found": "later lines, said too early",
    "found_pieces": "pieces of them, said too early",
    "false_alarms": "lines at their own time (false alarms)",
}


def _print_later_lines(document: Document) -> None:
    rows, out = document["rows"], screen()
    accuracy = [row for row in rows if row["metric"] == "accuracy"]
    out.print(heading("Whose line is it? accuracy"))
    print_matrix(accuracy, "character", "scorer")
    error = next(row for row in rows if row["metric"] == "calibration_error")
    out.print(f"By chance {accuracy[0]['chance']:.3f}. voice's calibration error: {error['value']:.3f}.")
    too_early = [{**row, "of": LATER_LINES[row["metric"]]} for row in rows if row["metric"] in LATER_LINES]
    figures = [Figures("share", show="value 95% n")]
    print_rows(too_early, {"of": "of"}, figures, "Could it be said yet? what anachronism finds")


@bench.command()
@click.argument("ours", type=IN_FILE, metavar="OURS.tsv")
@click.argument("theirs", type=IN_FILE, metavar="THEIRS.tsv")
@shared("seed output json")
def agreement(options: Options, ours: Path, theirs: Path) -> None:
    """Do two people say the same about what telling masked speakers took? Cohen's kappa of two tables.

    \b
    Example:
        understudy bench agreement friends.tsv friends-again.tsv
    """
    from understudy.bench.run import manifest_of
    from understudy.formats.annotations import read_annotations
    from understudy.guessing.analysis import annotation_agreement

    def judge(_: Progress) -> Document:
        rows = annotation_agreement(read_annotations(ours), read_annotations(theirs), options.seed)
        return {"rows": rows, "manifest": manifest_of("agreement", [ours, theirs], options.seed, None, {})}

    figures = [Figures("kappa", show="value 95% n paper reason")]
    show = {"annotation": "annotation"}
    measure(options, "Agreement", judge, lambda document: print_rows(document["rows"], show, figures))


RANKS, MARKS = ("first_rank", "second_rank"), ("first", "second")
OF_COMPARISON = ("metric", "value", "low", "high", "n", "paper", "unpaired", *MARKS, "p_value", "p_adjusted")


@click.command(short_help="Compare two saved runs of a bench, item by item.")
@click.argument("first", type=IN_FILE, metavar="A.json")
@click.argument("second", type=IN_FILE, metavar="B.json")
@click.option("--agents", metavar="A,B", help="Compare this agent of the first run with this of the second.")
@shared("seed json", seed="Random seed.")
def compare(options: Options, first: Path, second: Path, agents: str | None) -> None:
    """Compare two runs that `bench` saved (-o or --items): their differences, with intervals and p values.

    \b
    Example:
        understudy compare before.json after.json
    """
    from understudy.bench.run import compare_runs

    names = listed([agents or ""])
    if agents is not None and len(names) != 2:
        raise click.UsageError("--agents names two, with a comma between: one of each run")
    document = compare_runs(first, second, (names[0], names[1]) if names else None, options.seed)
    print_json(document) if options.as_json else _print_compared(document)


def _print_compared(document: dict[str, Any]) -> None:
    out, rows = screen(), document["rows"]
    judged = [
        {**row, "judged": ", ".join(str(value) for key, value in row.items() if key not in OF_COMPARISON)}
        for row in rows
    ]
    columns = [Figures("first", show="first second"), Figures("difference", show="value 95% p n", form="+.3f")]
    print_rows(judged, {"judged": "judged", "metric": "metric"}, columns)
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
        print_table(out, ["<item" if is_ranked else "item", "judged", ">place" if is_ranked else ">"], differing)
