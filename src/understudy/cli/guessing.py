"""`understudy guess`, `voices`, `bench guess` and `bench agreement`: who is speaking?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from understudy.cli.guess_tables import print_guess
from understudy.cli.judged_tables import RIGHT
from understudy.cli.judging import (
    FOLDER,
    deliver,
    items_option,
    limit_option,
    listed,
    output_option,
    places_checked,
    report_option,
    seed_option,
    watching,
)
from understudy.cli.options import json_option, story_argument
from understudy.cli.progress import read_showing, working
from understudy.cli.show import (
    Column,
    Screen,
    bar,
    clean,
    heading,
    indented,
    print_json,
    print_table,
    screen,
    short,
    voice,
)

if TYPE_CHECKING:
    from understudy.guessing import GuesserEntry

__all__ = ["agreement", "guess", "guess_bench", "voices"]

Document = dict[str, Any]
SHOWN = 110  # letters of a line
REASONS = 3  # of each mask

most_option = click.option(
    "--main", "most", type=click.IntRange(2, 200), default=6, show_default=True, metavar="N",
    help="How many main characters are hidden: those who speak most.",
)  # fmt: skip
names_option = click.option(
    "--names", type=click.Choice(["keep", "mask", "swap"]), default="keep", show_default=True,
    help="What becomes of their names inside the text: swapped, fame is of no use.",
)  # fmt: skip


@click.command(short_help="Hide the names in a scene: who is who, and why?")
@story_argument
@click.option("--scene", metavar="MOMENT", help="One scene, with the reasons. Otherwise all later ones, in figures.")
@click.option("--from", "since", metavar="MOMENT", help="Where the later scenes begin: the last third, if not said.")
@click.option(
    "--model", "models", metavar="MODEL", multiple=True, default=("joint",),
    help="A guesser, as in `bench guess --models` (default: joint).",
)  # fmt: skip
@click.option("--assigned", is_flag=True, help="One person behind each mask, for a model's folder or module:factory.")
@click.option("--together", is_flag=True, help="Weight several models together: commas, or --model repeated.")
@most_option
@names_option
@seed_option
@json_option
def guess(
    story: str, scene: str | None, since: str | None, models: tuple[str, ...], assigned: bool, together: bool,
    most: int, names: str, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Who is speaking? Main characters become P0, P1, ..., and what came before tells who they are.

    Nothing later in the story is used. For authors: the answers are shown beside the guesses.

    \b
    Examples:
        understudy guess demo --scene 3.2.1
        understudy guess demo --from 3.1 --names mask
        understudy guess my.story --model who --assigned
    """
    if scene is not None and since is not None:
        raise click.UsageError("--scene asks about one scene, --from about all later ones: give one of them")
    from understudy.guessing.story import GuessSettings, guess_later, guess_scene

    settings = GuessSettings(_guesser(listed(models), names, assigned, together), most, names, seed)
    opened = read_showing(story)
    if scene is not None:
        with working("Learning from what came before"):
            document = guess_scene(opened, scene, settings)
        print_json(document) if as_json else _print_scene(document)
        return
    with watching() as watch:
        document = guess_later(opened, since, settings, watch)
    if as_json:
        print_json(document)
        return
    screen().print(f"Learned from {document['learned_from']:,} scenes before {document['since']}.")
    print_guess(document)


def _guesser(models: Sequence[str], names: str, assigned: bool, together: bool) -> GuesserEntry:
    """The one guesser that a story is asked with."""
    from understudy.training.guessing.registry import find_assigned, find_guesser, weighted_guessers

    if together:
        if assigned:
            raise click.UsageError("models weighted together have one person behind each mask: leave --assigned out")
        return weighted_guessers([find_guesser(model, names) for model in dict.fromkeys(models)])
    if len(models) != 1:
        raise click.UsageError("one model is asked: name one with --model, or weight several with --together")
    return find_assigned(models[0], names) if assigned else find_guesser(models[0], names)


def _print_scene(document: Document) -> None:
    out = screen()
    out.print(heading(f"{document['story']}: {document['scene']}"))
    if document["setting"]:
        out.print(clean(document["setting"]), style="dim")
    out.print()
    masks = [guess["mask"] for guess in document["guesses"]]
    for line in document["lines"]:
        if line["speaker"] is None:
            out.print(indented(Text(clean(line["text"]), style="dim italic")))
            continue
        style = f"bold {voice(line['speaker'])}" if line["speaker"] in masks else "bold"
        said = Text(f": {clean(line['text'])}", style="not bold default")
        out.print(Text(clean(line["speaker"]), style=style).append(said))
    right = sum(guess["guess"] == guess["truth"] for guess in document["guesses"])
    out.print(heading(f"\nWho is who? {right} of {len(masks)} right, learned from {document['learned_from']:,} scenes"))
    for guess in document["guesses"]:
        _print_guess(out, guess)


def _print_guess(out: Screen, guess: Document) -> None:
    sure = next(iter(guess["probabilities"].values()))
    verdict = Text("right", "green") if guess["guess"] == guess["truth"] else Text(f"it is {guess['truth']}", "red")
    headline = Text(f"{guess['mask']}: ", style=f"bold {voice(guess['mask'])}")
    out.print(headline.append(Text(f"{guess['guess']} {sure:.2f} ", "not bold default")).append(verdict))
    rivals = list(guess["probabilities"].items())[1:4]
    if rivals:
        out.print(indented(Text("not " + ", ".join(f"{name} {share:.2f}" for name, share in rivals), "dim")))
    for reason in guess["evidence"][:REASONS]:
        out.print(indented(f"{reason['kind']}: {clean(short(reason['text'], SHOWN))}"))


@click.command(short_help="Which of the characters sound alike?")
@story_argument
@most_option
@seed_option
@click.option("--pairs", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="Pairs to show.")
@json_option
def voices(story: str, most: int, seed: int, pairs: int, as_json: bool) -> None:
    """Which pairs of characters are hardest to tell apart, by which lines, and what would tell them apart.

    \b
    Example:
        understudy voices demo
    """
    from understudy.guessing.story import GuessSettings
    from understudy.guessing.voices import voices_of

    opened = read_showing(story)
    with watching() as watch:
        document = voices_of(opened, GuessSettings(most=most, seed=seed), watch)
    if as_json:
        print_json(document)
        return
    _print_voices(document, pairs)


def _print_voices(document: Document, most: int) -> None:
    out = screen()
    by_model = {row["model"]: row for row in document["rows"] if row["metric"] == "accuracy" and row["show"] != "all"}
    out.print(heading(f"{document['story']}: who can be told apart"))
    for model, row in by_model.items():
        by = _AS_TOLD.get(model, model)
        if row["value"] is None:
            out.print(indented(f"no figure for {by}: {row.get('reason') or 'nothing was asked'}"))
            continue
        low = "" if row["low"] is None else f" ({row['low']:.2f}-{row['high']:.2f})"
        out.print(indented(f"{row['value']:.2f}{low} of {row['n']} parts told right by {by}"))
    rows = [
        (f"{pair['pair'][0]}, {pair['pair'][1]}", bar(min(2 * pair["alike"], 1.0), 12), f"{pair['alike']:.2f}",
         f"{pair['told_apart']:.2f}")
        for pair in document["pairs"][:most] if pair["alike"] is not None
    ]  # fmt: skip
    unheard = [pair for pair in document["pairs"][:most] if pair["alike"] is None]
    out.print(heading("\nThe most alike (0.5: nobody could tell)"))
    print_table(out, ["pair", "", ("alike", RIGHT), ("told apart", RIGHT)], rows)
    for pair in unheard:
        out.print(indented(f"{', '.join(pair['pair'])}: {pair['reason']}"))
    for pair in document["pairs"][:most]:
        if not pair["lines"]:
            continue
        out.print(heading(f"\n{pair['pair'][0]} and {pair['pair'][1]}"))
        for line in pair["lines"]:
            out.print(indented(f"{line['moment']} {line['who']}, taken for {line['taken_for']} ({line['share']:.2f}): "
                               f"{clean(short(line['text'], SHOWN))}"))  # fmt: skip
        for who, terms in pair["terms"].items():
            if terms:
                out.print(indented(Text(f"only {who}: {', '.join(terms)}", "dim")))


_AS_TOLD = {"joint": "all clues", "words alone": "their words alone"}


@click.command("guess")
@click.option("--data", type=FOLDER, required=True, metavar="DIR", help="The TVShowGuess folder, with transcripts/.")
@click.option(
    "--judge", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.jsonl",
    help="Scenes to judge on: dev.jsonl of the folder, if not said.",
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
@click.option("--curve", is_flag=True, help="Judge joint also with an eighth, a quarter and half of the lessons.")
@names_option
@limit_option
@seed_option
@items_option
@output_option
@report_option
@json_option
def guess_bench(
    data: Path, judge: Path | None, models: tuple[str, ...], assigned: bool, together: bool, ablations: bool,
    curve: bool, names: str, limit: int | None, seed: int, items: Path | None, output: Path | None,
    report: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Who is speaking, in shows? Guessers learn from earlier episodes and are judged on later scenes.

    \b
    Examples:
        understudy bench guess --data tvshowguess --report out.html
        understudy bench guess --data tvshowguess --models joint,mine:guesser
        understudy bench guess --data tvshowguess --models joint,who --together
    """
    if together and not models:
        raise click.UsageError("--together weights the models named: name two or more with --models")
    from understudy.bench.guess.bench import MODELS, bench_guess

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_guess(
            data, judge, listed(models) or MODELS, names, limit, seed, watch, items,
            ablations=ablations, curve=curve, assigned=assigned, together=together,
        )  # fmt: skip
    deliver(document, "Who is speaking?", output, report, as_json, print_guess)


TSV = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
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
    from understudy.bench.guess.annotations import annotation_agreement
    from understudy.bench.items import manifest_of
    from understudy.readers.annotations import read_annotations

    places_checked(output)
    rows = annotation_agreement(read_annotations(ours), read_annotations(theirs), seed)
    document = {"rows": rows, "manifest": manifest_of("agreement", [ours, theirs], seed, None, {})}
    deliver(document, "Agreement", output, None, as_json, _print_agreement)


def _print_agreement(document: Document) -> None:
    columns: list[Column] = ["annotation", ("kappa", RIGHT), ("95%", RIGHT), ("n", RIGHT), ("paper", RIGHT), ""]
    lines = (
        (
            row["annotation"],
            "-" if row["value"] is None else f"{row['value']:.3f}",
            "-" if row["low"] is None else f"{row['low']:.3f}..{row['high']:.3f}",
            f"{row['n']:,}",
            f"{row['paper']:.3f}",
            row.get("reason", ""),
        )
        for row in document["rows"]
    )
    print_table(screen(), columns, lines)
