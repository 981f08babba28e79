"""`understudy study results|agree|simulate|import|correlate`: what people answered, and what agrees with it."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

import click

from understudy.cli.options import PATH, Options, check_output, shared
from understudy.cli.progress import watching, working
from understudy.cli.show import heading, p_value, print_figures, print_json, print_table, screen
from understudy.cli.study import StudyFile, at_study
from understudy.errors import InputError

SHOWN = 8

attentive_option = click.option("--attentive", is_flag=True, help="Leave out people who failed an attention check.")
unblind_option = click.option(
    "--unblind", is_flag=True, help="Say which agent wrote what; that you did is written into the study's log."
)
width_option = click.option(
    "--width", type=click.FloatRange(0.001, 1), default=0.1, show_default=True, metavar="SHARE",
    help="Say how many people an item needs for an interval this wide, as a share of the scale.",
)  # fmt: skip
by_option = click.option("--by", metavar="NAME", default=None, help="Who unblinds, for the log (default: your login).")


@click.command(short_help="Write what people answered.")
@at_study("path")
@click.option("-o", "--output", "into", type=PATH, required=True, metavar="FILE")
@click.option(
    "--format", "format_name", metavar="FORMAT",
    help="jsonl, csv, label-studio, or one of the kind's own (default: by the file's ending).",
)  # fmt: skip
@attentive_option
@unblind_option
@by_option
@at_study("store name")
@shared("force")
def results(
    options: Options, study_file: StudyFile, into: Path, format_name: str | None, attentive: bool, unblind: bool,
    by: str | None,
) -> None:  # fmt: skip
    """Write what people answered: JSON lines, a table, Label Studio's JSON, or what a bench reads.

    \b
    Examples:
        understudy study results zita.toml -o answers.jsonl
        understudy study results zita.toml -o answers.csv --attentive
        understudy study results zita.toml -o judged/ --format voice
    """
    from understudy.studies.results import answers_of, format_for, write_results
    from understudy.studies.status import failed_checks

    check_output(into, force=options.force or into.is_dir())
    with study_file.opened() as (opened, stored):
        chosen = format_for(into, format_name, stored.study.kind)
        answers = answers_of(opened, stored)
        if attentive:
            failed = failed_checks(answers)
            answers = [each for each in answers if not failed.get(each.person)]
        if unblind:
            opened.log_unblinding(stored, by or getpass.getuser())
        write_results(into, chosen, stored, answers, opened.asked_of(stored.id), unblind)
    click.echo(f"Wrote {len(answers)} answers to {into} ({chosen}).")


@click.command(short_help="Show how far people agree.")
@at_study("path")
@attentive_option
@unblind_option
@by_option
@width_option
@at_study("store name")
@shared("json")
def agree(
    options: Options, study_file: StudyFile, attentive: bool, unblind: bool, by: str | None, width: float
) -> None:
    """Show how far people agree: Krippendorff's alpha, Fleiss' and Cohen's kappa with intervals, by question; who
    disagrees with whom; items to look at again; and what the kind reports of its own, with agents under letters.

    \b
    Example:
        understudy study agree zita.toml
    """
    from understudy.studies.results import answers_of
    from understudy.studies.status import agreement_of

    with study_file.opened() as (opened, stored):
        if unblind:
            opened.log_unblinding(stored, by or getpass.getuser())
        agreement = agreement_of(stored.study, answers_of(opened, stored), attentive, unblind, width)
    document = {"study": stored.name, **agreement.document()}
    print_json(document) if options.as_json else _print_agreement(document)


@click.command(short_help="Try a study with made-up people.")
@at_study("path")
@click.option("--people", type=click.IntRange(1, 2_000), default=20, show_default=True, metavar="N")
@click.option("--skill", type=click.FloatRange(0, 1), default=0.7, show_default=True, help="0 guesses, 1 never errs.")
@width_option
@shared("json")
def simulate(options: Options, study_file: StudyFile, people: int, skill: float, width: float) -> None:
    """Try a study with made-up people before it is paid for: how far they would get and agree, and how many people an
    item needs. Nothing of it touches the study's database.

    \b
    Example:
        understudy study simulate zita.toml --people 20 --skill 0.6
    """
    from tempfile import TemporaryDirectory

    from understudy.studies import load_study
    from understudy.studies.opening import make_items, study_name
    from understudy.studies.results import answers_of, simulate_crowd
    from understudy.studies.status import agreement_of, status_of
    from understudy.studies.store import open_study_store

    loaded, name = load_study(study_file.path), study_name(study_file.path)
    with TemporaryDirectory() as folder, open_study_store(Path(folder) / "crowd.db") as store, watching() as progress:
        simulate_crowd(store, name, loaded, make_items(loaded, progress), people, skill, progress)
        stored = store.study(name)
        state = status_of(store, stored)
        agreement = agreement_of(loaded, answers_of(store, stored), width=width)
    document: dict[str, Any] = {
        "study": stored.name, "people": people, "skill": skill, "answers": state.answers, "wanted": state.wanted,
        "items": state.items, "complete": state.complete, "rows": agreement.rows + agreement.figures,
    }  # fmt: skip
    if options.as_json:
        print_json(document)
        return
    out = screen()
    out.print(heading(f"{people} made-up people of skill {skill:g}"))
    out.print(f"  {state.answers} of {state.wanted} answers; {state.complete} of {state.items} items complete")
    if state.answers < state.wanted:
        each = max(1, loaded.items_per_person)
        out.print(f"  about {-(-state.wanted // each)} people are needed at {each} items each")
    out.print()
    print_figures(document["rows"])


def _print_agreement(document: dict[str, Any]) -> None:
    out = screen()
    if not document["rows"]:
        out.print("Nothing that could agree has been answered yet.")
        return
    print_figures(document["rows"])
    if document["items"]:
        out.print(heading("Items to look at again"))
        items = [
            (row["question"], row["item"], f"{row['disagreement']:.2f}", row["answers"])
            for row in document["items"][:SHOWN]
        ]
        print_table(out, ["question", "item", ">disagreement", "answers"], items, keys=2)
    if document["pairs"]:
        out.print(heading("Who agrees least"))
        pairs = [
            (row["question"], " and ".join(row["people"]), f"{row['agreement']:.2f}", str(row["items"]))
            for row in document["pairs"][:SHOWN]
        ]
        print_table(out, ["question", "people", ">agreement", ">items"], pairs, keys=2)


@click.command("import", short_help="Take in what people gave elsewhere, as a finished study.")
@click.argument("source", metavar="SOURCE")
@click.argument("data", metavar="DIR", type=PATH)
@at_study("name store", name="What the study is called (default: SOURCE).")
def import_study(study_file: StudyFile, source: str, data: Path) -> None:
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
    from understudy.studies.opening import IMPORTS, add_finished
    from understudy.studies.store import open_study_store

    if source not in IMPORTS:
        raise InputError(f"there is no source called '{source}': use {', '.join(IMPORTS)}")
    if not data.exists():
        raise InputError(f"is not there: name the folder that '{source}' was unpacked to", data)
    with working("Reading"), open_study_store(study_file.location) as opened:
        stored = add_finished(opened, study_file.name or source, IMPORTS[source](data))
        answers, people = len(opened.answers(stored.id)), len(opened.people(stored.id))
    click.echo(
        f"'{stored.name}': {answers} answers of {people} people, closed. See `understudy study agree {stored.name}`."
    )


@click.command(short_help="Correlate automatic measures with people's answers.")
@click.argument("results", metavar="RESULTS.jsonl", type=PATH)
@click.argument("measures", metavar="MEASURES.json", type=PATH)
@click.option("--measure", metavar="NAME", help="Only this measure.")
@click.option("--question", metavar="NAME", help="Only this question.")
@shared("seed json")
def correlate(options: Options, results: Path, measures: Path, measure: str | None, question: str | None) -> None:
    """Correlate automatic measures with people's answers, item by item (Spearman, intervals, p after Holm).

    RESULTS.jsonl is what `study results` wrote. MEASURES.json has a value for each item, {"item": 0.3, ...}, or several
    measures by name, {"psprob": {"item": 0.3}, ...}, or is what a bench wrote with --items, or `score --json`.

    \b
    Examples:
        understudy study correlate answers.jsonl scores.json
        understudy study correlate answers.jsonl items.json --measure p_f1
    """
    from understudy.studies.results import correlate as correlate_files

    with working("Correlating"):
        document = correlate_files(results, measures, measure, question, options.seed)
    print_json(document) if options.as_json else _print_correlations(document)


def _print_correlations(document: dict[str, Any]) -> None:
    """The strongest first; rows without a figure last, with their reasons."""
    rows = sorted(document["rows"], key=lambda row: -abs(row["value"] or 0.0))
    lines = []
    for row in rows:
        about = (row["question"], row["measure"])
        if row["value"] is None:
            lines.append((*about, "-", row["reason"], str(row["n"]), ""))
        else:
            spread = "" if row["low"] is None else f"{row['low']:+.2f}..{row['high']:+.2f}"
            lines.append((*about, f"{row['value']:+.3f}", spread, str(row["n"]), p_value(row)))
    print_table(screen(), ["question", "measure", ">r_s", ">95%", ">n", ">p"], lines)
    click.echo("p after Holm, over all rows. Intervals draw groups of items.")
    for key, where in (("only_answered", "no measure"), ("only_measured", "no answer")):
        if document[key]:
            click.echo(f"{document[key]:,} items have {where} and are left out.")
