"""`understudy bench`: how good it is, in numbers, on data that others prepared."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from understudy.cli.bench_tables import (
    print_agreement,
    print_consistency,
    print_later_lines,
    print_overlap,
    print_personachat,
    print_profiles,
    print_readers,
    print_voice,
)
from understudy.cli.guess_tables import print_guess
from understudy.cli.options import json_option, listed, names_option, seed_option
from understudy.cli.progress import read_showing, watching, working
from understudy.cli.show import print_json
from understudy.errors import InputError

__all__ = ["bench"]

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
items_option = click.option("--items", type=FILE, metavar="FILE", help="Save the result of every item, for `compare`.")
output_option = click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the whole document to a file.")
report_option = click.option("--report", type=FILE, metavar="FILE.html", help="Write a report to look at.")


@click.group()
def bench() -> None:
    """Measure Understudy against data that others prepared.

    \b
    Example:
        understudy bench readers --data data/
    """


@bench.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True, file_okay=False), required=True, help="Its folder."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Judge a seeded sample of N episodes a show.")
@click.option("--seed", default=0, show_default=True, help="Which sample.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the rows to a file too.")
@json_option
def readers(data: Path, limit: int | None, seed: int, output: Path | None, as_json: bool) -> None:
    """How faithfully transcripts are read, against the same episodes prepared by others.

    \b
    Example:
        understudy bench readers --data data/ -o readers.json
    """
    from understudy.bench.readers import bench_readers

    with working("Reading transcripts"):
        document = bench_readers(data, limit, seed)
    if output is not None:
        output.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print_json(document)
        return
    print_readers(document["rows"])
    if output is not None:
        click.echo(f"The rows are in {output}.")


@bench.command()
@data_option
@click.option("--split", default="valid", show_default=True, help="Which files: those that begin with it.")
@agents_option
@click.option("--conditions", metavar="NAME,...", multiple=True, help="none, self_original, ...; all by default.")
@limit_option
@seed_option
@items_option
@click.option(
    "--replies", type=click.IntRange(min=0), metavar="N",
    help="Questions of a condition to answer in words, for F1, BLEU and MAUVE. Default: all of agents that write, none "
    "of agents that rank.",
)  # fmt: skip
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), help="Keep answers here, to go on later.")
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
    replies: int | None,
    cache: Path | None,
    output: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """How well an agent predicts the next reply, with and without personas, beside the paper's figures.

    Does it find the right reply among 20? How probable does it find it (perplexity), if it is a language model? How
    near to it is what it says itself (F1, BLEU, MAUVE), and how varied?

    \b
    Examples:
        understudy bench personachat --data data/personachat --report out.html
        understudy bench personachat --data pc/ --agents tfidf,mine:agent
        understudy bench personachat --data pc/ --agents my-model --cache kept
        understudy bench personachat --data pc/ --agents llm --limit 200
    """
    from understudy.papers.personachat.bench import bench_personachat

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_personachat(
            data, split, listed(agents), listed(conditions) or None, limit, seed, watch, items, cache, replies
        )
    deliver(document, "PersonaChat: the next reply", output, report, as_json, print_personachat)


@bench.command()
@data_option
@click.option("--split", default="valid", show_default=True, help="Which file: the one that begins with it.")
@click.option("--scorers", metavar="NAME,...", multiple=True, help="tfidf, words, links, encoder, or some joined by +.")
@click.option(
    "--chats", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE", multiple=True,
    help="Judge these chats too: a file of `self-chat`, or ConvAI2's chats of volunteers; may be repeated.",
)  # fmt: skip
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
    chats: tuple[Path, ...],
    limit: int | None,
    seed: int,
    items: Path | None,
    output: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """How often somebody's profile is told wrongly, among 100 others, from what was said.

    With --chats also from what people said to models, and models to people or to each other.

    \b
    Examples:
        understudy bench profiles --data data/personachat
        understudy bench profiles --data data/personachat --chats chats.jsonl
    """
    from understudy.papers.personachat.profiles import bench_profiles

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_profiles(data, split, listed(scorers) or None, limit, seed, watch, items, chats)
    deliver(document, "PersonaChat: telling profiles", output, report, as_json, print_profiles)


@bench.command()
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
    from understudy.papers.personachat.consistency import bench_consistency

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_consistency(data, listed(agents), limit, seed, watch, items)
    deliver(document, "Consistency with the persona", output, report, as_json, print_consistency)


@bench.command()
@click.option("--data", type=FOLDER, metavar="DIR", help="The folder of the novels, with judgements in evaluation/.")
@click.option(
    "--judge", type=FOLDER, metavar="DIR",
    help="Judgements of your own: JSON files, and a names.json {file: [novel file, character]}.",
)  # fmt: skip
@click.option("--story", metavar="STORY", help="Judge on a story instead: who says its later lines?")
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
@click.option(
    "--uppl-models", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Keep the fine-tuned models here, to go on later.",
)  # fmt: skip
@seed_option
@output_option
@report_option
@json_option
def voice(
    data: Path | None, judge: Path | None, story: str | None, since: str | None, people: int,
    scorers: tuple[str, ...], descriptions: Path | None, uppl_model: str | None, uppl_rate: float,
    uppl_models: Path | None, seed: int, output: Path | None, report: Path | None, as_json: bool,
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
    places_checked(output, report)
    if story is not None:
        if since is None:
            raise click.UsageError("say with --from where the later lines begin")
        from understudy.bench.later_lines import bench_later_lines

        read = read_showing(story)
        with working("Listening"):
            document = bench_later_lines(read, since, people, seed)
        deliver(document, "Voice: who says it?", output, report, as_json, print_later_lines)
        return
    if data is None:
        raise click.UsageError("say what to judge on: --data DIR, or --story STORY")
    from understudy.papers.utterance_metrics.bench import bench_voice

    with ExitStack() as stack:
        tuning = None
        if uppl_model is not None:
            from understudy.bench.persona_models import PersonaTuning
            from understudy.training.persona_lm import LineSettings

            models = uppl_models or Path(stack.enter_context(TemporaryDirectory(prefix="understudy-")))
            tuning = PersonaTuning(uppl_model, models, LineSettings(rate=uppl_rate), seed)
        watch = stack.enter_context(watching())
        document = bench_voice(data, judge, seed, watch, listed(scorers) or None, descriptions, tuning)
    deliver(document, "Voice: agreement with people", output, report, as_json, print_voice)


@bench.command()
@data_option
@click.option("--split", default="valid", show_default=True, help="Which files: those that begin with it.")
@limit_option
@seed_option
@output_option
@report_option
@json_option
def overlap(
    data: Path, split: str, limit: int | None, seed: int, output: Path | None, report: Path | None, as_json: bool
) -> None:
    """Do P-F1 and P-Cover tell whose words they are? On PersonaChat's profiles, beside the metrics paper's appendix.

    \b
    Example:
        understudy bench overlap --data data/personachat
    """
    from understudy.papers.personachat.overlap import bench_overlap

    places_checked(output, report)
    with watching() as watch:
        document = bench_overlap(data, split, limit, seed, watch)
    deliver(document, "Words in common with a profile", output, report, as_json, print_overlap)


@bench.command("guess")
@click.option("--data", type=FOLDER, required=True, metavar="DIR", help="The TVShowGuess folder, with transcripts/.")
@click.option(
    "--judge", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.jsonl",
    help="Scenes to judge on (default: dev.jsonl of the folder).",
)  # fmt: skip
@click.option(
    "--models", "--model", metavar="MODEL,...", multiple=True,
    help="random, vanilla, vanilla+assigned, multi-row, scene-pooling, ranker, joint, 'joint without history' and "
    "the others of docs/guessing.md; a folder that `train guesser` made; or module:factory of your own. "
    "Commas, or repeated.",
)  # fmt: skip
@click.option(
    "--assigned", is_flag=True,
    help="Judge models named by a folder or module:factory also with one person behind each mask.",
)  # fmt: skip
@click.option("--together", is_flag=True, help="Judge the models named also weighted together.")
@click.option("--ablations", is_flag=True, help="Judge joint also without each of its parts.")
@click.option(
    "--curve", is_flag=True, help="Judge joint also with an eighth, a quarter and half of the training scenes."
)
@click.option(
    "--people", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.jsonl",
    help="What people said of the same scenes: `study results --format answers` of a `guess` study.",
)  # fmt: skip
@names_option
@limit_option
@seed_option
@items_option
@output_option
@report_option
@json_option
def guess_bench(
    data: Path, judge: Path | None, models: tuple[str, ...], assigned: bool, together: bool, ablations: bool,
    curve: bool, people: Path | None, names: str, limit: int | None, seed: int, items: Path | None,
    output: Path | None, report: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Who is speaking, in shows? Guessers learn from earlier episodes and are judged on later scenes.

    \b
    Examples:
        understudy bench guess --data tvshowguess --report out.html
        understudy bench guess --data tvshowguess --models joint,mine:guesser
        understudy bench guess --data tvshowguess --models joint,who --together
        understudy bench guess --data tvshowguess --people answers.jsonl
    """
    if together and not models:
        raise click.UsageError("--together weights the models named: name two or more with --models")
    from understudy.papers.tvshowguess.bench import MODELS, bench_guess

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_guess(
            data, judge, listed(models) or MODELS, names, limit, seed, watch, items,
            ablations=ablations, curve=curve, assigned=assigned, together=together, people=people,
        )  # fmt: skip
    deliver(document, "Who is speaking?", output, report, as_json, print_guess)


TSV = click.Path(path_type=Path, exists=True, dir_okay=False)


@bench.command()
@click.argument("ours", type=TSV, metavar="OURS.tsv")
@click.argument("theirs", type=TSV, metavar="THEIRS.tsv")
@seed_option
@output_option
@json_option
def agreement(ours: Path, theirs: Path, seed: int, output: Path | None, as_json: bool) -> None:
    """Do two people say the same about what telling masked speakers took? Cohen's kappa of two tables.

    \b
    Example:
        understudy bench agreement friends.tsv friends-again.tsv
    """
    from understudy.bench.items import manifest_of
    from understudy.formats.annotations import read_annotations
    from understudy.guessing.analysis import annotation_agreement

    places_checked(output)
    rows = annotation_agreement(read_annotations(ours), read_annotations(theirs), seed)
    document = {"rows": rows, "manifest": manifest_of("agreement", [ours, theirs], seed, None, {})}
    deliver(document, "Agreement", output, None, as_json, print_agreement)


def places_checked(*paths: Path | None) -> None:
    """Said before an hour's judging, not after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise InputError("cannot be written: there is no such folder", path)


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
        from understudy.bench.report import html_report

        report.write_text(html_report(document, title), encoding="utf-8")
    if as_json:
        print_json(document)
        return
    show(document)
    for what, path in (("The document", output), ("The report", report)):
        if path is not None:
            click.echo(f"{what} is in {path}.")
