"""`understudy bench personachat`, `profiles` and `consistency`: agents judged on other people's data."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from understudy.cli.judged_tables import print_consistency, print_personachat, print_profiles
from understudy.cli.options import json_option
from understudy.cli.show import print_json
from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.progress import Progress

__all__ = ["BENCHES", "consistency", "personachat", "profiles"]

Document = dict[str, Any]
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)

data_option = click.option("--data", type=FOLDER, required=True, help="The folder that has its files.")
agents_option = click.option(
    "--agents", "--agent", metavar="AGENT,...", multiple=True,
    default=("encoder", "tfidf"), show_default="encoder,tfidf",
    help="Whom to judge: a name, a model folder, or module:factory of your own. Commas, or repeated.",
)  # fmt: skip
limit_option = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Judge a seeded sample of N.")
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which sample.")
items_option = click.option("--items", type=FILE, metavar="FILE", help="Save the result of every item, for `compare`.")
output_option = click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the whole document to a file.")
report_option = click.option("--report", type=FILE, metavar="FILE.html", help="Write a report to look at.")


@click.command()
@data_option
@click.option("--split", default="valid", show_default=True, help="Which files: those that begin with it.")
@agents_option
@click.option("--conditions", metavar="NAME,...", multiple=True, help="none, self_original, ...; all, if not said.")
@limit_option
@seed_option
@items_option
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), help="Keep scores here, to go on later.")
@output_option
@report_option
@json_option
def personachat(
    data: Path,
    split: str,
    agents: tuple[str, ...],
    conditions: tuple[str, ...],
    limit: int | None,
    seed: int,
    items: Path | None,
    cache: Path | None,
    output: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """How often an agent finds the right reply among 20, with and without personas, beside the paper's figures.

    \b
    Examples:
        understudy bench personachat --data data/personachat --report out.html
        understudy bench personachat --data pc/ --agents tfidf,mine:agent
    """
    from understudy.bench.personachat.bench import bench_personachat

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_personachat(
            data, split, listed(agents), listed(conditions) or None, limit, seed, watch, items, cache
        )
    deliver(document, "PersonaChat: finding the right reply", output, report, as_json, print_personachat)


@click.command()
@data_option
@click.option("--split", default="valid", show_default=True, help="Which file: the one that begins with it.")
@click.option("--scorers", metavar="NAME,...", multiple=True, help="tfidf, words, links, encoder, or some joined by +.")
@limit_option
@seed_option
@items_option
@output_option
@report_option
@json_option
def profiles(
    data: Path,
    split: str,
    scorers: tuple[str, ...],
    limit: int | None,
    seed: int,
    items: Path | None,
    output: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """How often somebody's profile is told wrongly, among 100 others, from what was said.

    \b
    Example:
        understudy bench profiles --data data/personachat
    """
    from understudy.bench.personachat.profiles import bench_profiles

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_profiles(data, split, listed(scorers) or None, limit, seed, watch, items)
    deliver(document, "PersonaChat: telling profiles", output, report, as_json, print_profiles)


@click.command()
@data_option
@agents_option
@limit_option
@seed_option
@items_option
@output_option
@report_option
@json_option
def consistency(
    data: Path,
    agents: tuple[str, ...],
    limit: int | None,
    seed: int,
    items: Path | None,
    output: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """How often an agent's first choice contradicts the persona, on Dialogue NLI's sets.

    \b
    Example:
        understudy bench consistency --data data/dnli
    """
    from understudy.bench.personachat.consistency import bench_consistency

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_consistency(data, listed(agents), limit, seed, watch, items)
    deliver(document, "Consistency with the persona", output, report, as_json, print_consistency)


BENCHES = (personachat, profiles, consistency)
"""What `understudy bench` has from here."""


def listed(values: Sequence[str]) -> list[str]:
    """Names given with commas, or one by one, or both."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def places_checked(*paths: Path | None) -> None:
    """Said before an hour's judging, not after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise InputError("cannot be written: there is no such folder", path)


@contextmanager
def watching() -> Iterator[Progress]:
    """A bar for what is being judged: on a terminal, on stderr, and nowhere else."""
    if not sys.stderr.isatty():
        yield lambda _doing, _done, _total: None
        return
    from rich import progress as rich

    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn())
    with rich.Progress(*columns, rich.TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=None)
        yield lambda doing, done, total: bar.update(task, description=doing, completed=done, total=total)


def deliver(
    document: Document,
    title: str,
    output: Path | None,
    report: Path | None,
    as_json: bool,
    show: Callable[[Document], None],
) -> None:
    if output is not None:
        output.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    if report is not None:
        from understudy.report import html_report

        report.write_text(html_report(document, title), encoding="utf-8")
    if as_json:
        print_json(document)
        return
    show(document)
    for what, path in (("The document", output), ("The report", report)):
        if path is not None:
            click.echo(f"{what} is in {path}.")
