"""`understudy guess` and `understudy voices`: who is speaking, and who sounds alike?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from understudy.cli.found_people import read_with_people
from understudy.cli.guess_tables import print_guess, print_voices
from understudy.cli.options import annotated_option, json_option, listed, names_option, seed_option, story_argument
from understudy.cli.progress import watching, working
from understudy.cli.show import Screen, clean, heading, indented, print_json, screen, short, voice

if TYPE_CHECKING:
    from understudy.guessing import GuesserEntry

__all__ = ["guess", "voices"]

Document = dict[str, Any]
SHOWN = 110  # letters of a line
REASONS = 3  # of each mask

most_option = click.option(
    "--main", "most", type=click.IntRange(2, 200), default=6, show_default=True, metavar="N",
    help="How many main characters are hidden: those who speak most.",
)  # fmt: skip


@click.command(short_help="Hide the names in a scene: who is who, and why?")
@story_argument
@click.option("--scene", metavar="MOMENT", help="One scene, with the reasons. Otherwise all later ones, in figures.")
@click.option("--from", "since", metavar="MOMENT", help="Where the later scenes begin (default: the last third).")
@click.option(
    "--model", "models", metavar="MODEL", multiple=True, default=("joint",),
    help="A guesser, as in `bench guess --models` (default: joint).",
)  # fmt: skip
@click.option("--assigned", is_flag=True, help="One person behind each mask, for a model's folder or module:factory.")
@click.option("--together", is_flag=True, help="Weight several models together: commas, or --model repeated.")
@most_option
@names_option
@seed_option
@annotated_option
@json_option
def guess(
    story: str, scene: str | None, since: str | None, models: tuple[str, ...], assigned: bool, together: bool,
    most: int, names: str, seed: int, annotated: bool, as_json: bool,
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
    opened = read_with_people(story, annotated)
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
@annotated_option
@json_option
def voices(story: str, most: int, seed: int, pairs: int, annotated: bool, as_json: bool) -> None:
    """Which pairs of characters are hardest to tell apart, by which lines, and what would tell them apart.

    \b
    Example:
        understudy voices demo
    """
    from understudy.guessing.story import GuessSettings
    from understudy.guessing.voices import voices_of

    opened = read_with_people(story, annotated)
    with watching() as watch:
        document = voices_of(opened, GuessSettings(most=most, seed=seed), watch)
    if as_json:
        print_json(document)
        return
    print_voices(document, pairs)
