"""`understudy study results|agree|simulate`: what people answered, and how far they agree."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

import click

from understudy.cli.bench_tables import print_readers
from understudy.cli.options import existing_refused, force_option, json_option
from understudy.cli.progress import watching
from understudy.cli.show import Column, clean, heading, print_json, print_table, screen
from understudy.cli.study import name_option, opened_study, store_option, study_argument

__all__ = ["agree", "results", "simulate"]

SHOWN = 8
RIGHT: dict[str, Any] = {"justify": "right", "no_wrap": True}

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
@study_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE")
@click.option(
    "--format", "format_name", metavar="FORMAT",
    help="jsonl, csv, label-studio, or one of the kind's own (default: by the file's ending).",
)  # fmt: skip
@attentive_option
@unblind_option
@by_option
@store_option
@name_option
@force_option
def results(
    path: Path, output: Path, format_name: str | None, attentive: bool, unblind: bool, by: str | None,
    store: str | None, name: str | None, force: bool,
) -> None:  # fmt: skip
    """Write what people answered: JSON lines, a table, Label Studio's JSON, or what a bench reads.

    \b
    Examples:
        understudy study results zita.toml -o answers.jsonl
        understudy study results zita.toml -o answers.csv --attentive
        understudy study results zita.toml -o judged/ --format voice
    """
    from understudy.studies.agreement import failed_checks
    from understudy.studies.results import answers_of, format_for, write_results

    existing_refused(output, force or output.is_dir())
    with opened_study(path, store, name) as (opened, stored):
        chosen = format_for(output, format_name, stored.study.kind)
        given = answers_of(opened, stored)
        if attentive:
            failed = failed_checks(given)
            given = [each for each in given if not failed.get(each.person)]
        if unblind:
            opened.log_unblinding(stored, by or getpass.getuser())
        write_results(output, chosen, stored, given, opened.asked_of(stored.id), unblind)
    click.echo(f"Wrote {len(given)} answers to {output} ({chosen}).")


@click.command(short_help="Show how far people agree.")
@study_argument
@attentive_option
@unblind_option
@by_option
@width_option
@store_option
@name_option
@json_option
def agree(
    path: Path, attentive: bool, unblind: bool, by: str | None, width: float, store: str | None, name: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Show how far people agree: Krippendorff's alpha, Fleiss' and Cohen's kappa with intervals, by question; who
    disagrees with whom; items to look at again; and what the kind reports of its own, with agents under letters.

    \b
    Example:
        understudy study agree zita.toml
    """
    from understudy.studies.agreement import agreement_of
    from understudy.studies.results import answers_of

    with opened_study(path, store, name) as (opened, stored):
        if unblind:
            opened.log_unblinding(stored, by or getpass.getuser())
        agreement = agreement_of(stored.study, answers_of(opened, stored), attentive, unblind, width)
    document = {"study": stored.name, **agreement.document()}
    if as_json:
        print_json(document)
    else:
        _print_agreement(document)


@click.command(short_help="Try a study with made-up people.")
@study_argument
@click.option("--people", type=click.IntRange(1, 2_000), default=20, show_default=True, metavar="N")
@click.option("--skill", type=click.FloatRange(0, 1), default=0.7, show_default=True, help="0 guesses, 1 never errs.")
@width_option
@json_option
def simulate(path: Path, people: int, skill: float, width: float, as_json: bool) -> None:
    """Try a study with made-up people before it is paid for: how far they would get and agree, and how many people an
    item needs. Nothing of it touches the study's database.

    \b
    Example:
        understudy study simulate zita.toml --people 20 --skill 0.6
    """
    from tempfile import TemporaryDirectory

    from understudy.studies.agreement import agreement_of
    from understudy.studies.opening import make_items, study_name
    from understudy.studies.results import answers_of, simulate_crowd
    from understudy.studies.status import status_of
    from understudy.studies.store import open_study_store
    from understudy.studies.study import load_study

    loaded = load_study(path)
    with TemporaryDirectory() as folder, open_study_store(Path(folder) / "crowd.db") as store, watching() as progress:
        simulate_crowd(store, study_name(path), loaded, make_items(loaded, progress), people, skill, progress)
        stored = store.study(study_name(path))
        state = status_of(store, stored)
        agreement = agreement_of(loaded, answers_of(store, stored), width=width)
    document: dict[str, Any] = {
        "study": stored.name, "people": people, "skill": skill, "answers": state.answers, "wanted": state.wanted,
        "items": state.items, "complete": state.complete, "rows": agreement.rows + agreement.figures,
    }  # fmt: skip
    if as_json:
        print_json(document)
        return
    out = screen()
    out.print(heading(f"{people} made-up people of skill {skill:g}"))
    out.print(f"  {state.answers} of {state.wanted} answers; {state.complete} of {state.items} items complete")
    if state.answers < state.wanted:
        each = max(1, loaded.items_per_person)
        out.print(f"  about {-(-state.wanted // each)} people are needed at {each} items each")
    out.print()
    print_readers(document["rows"])


def _print_agreement(document: dict[str, Any]) -> None:
    out = screen()
    if not document["rows"]:
        out.print("Nothing that could agree has been answered yet.")
        return
    print_readers(document["rows"])
    if document["items"]:
        out.print(heading("Items to look at again"))
        columns: list[Column] = ["question", "item", ("disagreement", RIGHT), "answers"]
        print_table(
            out, columns,
            [
                (row["question"], clean(row["item"]), f"{row['disagreement']:.2f}", clean(row["answers"]))
                for row in document["items"][:SHOWN]
            ],
            keys=2,
        )  # fmt: skip
    if document["pairs"]:
        out.print(heading("Who agrees least"))
        columns = ["question", "people", ("agreement", RIGHT), ("items", RIGHT)]
        print_table(
            out, columns,
            [
                (row["question"], " and ".join(row["people"]), f"{row['agreement']:.2f}", str(row["items"]))
                for row in document["pairs"][:SHOWN]
            ],
            keys=2,
        )  # fmt: skip
