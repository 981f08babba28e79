"""`understudy train causal` and `masked`: language models of dialogues, or of a character's lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from understudy.cli.options import IN_FOLDER
from understudy.cli.progress import read_showing
from understudy.cli.train import (
    NO_FIGURES,
    RATE,
    SHARE,
    Card,
    run_trainer,
    settings_among,
    talk_advice,
    training_options,
)
from understudy.training import TRAINERS

OF_DIALOGUES = ("tokens", "rate", "lora", "window", "none", "both", "paraphrase", "monologues")


@click.command(short_help="A causal language model of dialogues, or of a character.")
@click.option(
    "--data", type=click.Path(path_type=Path), multiple=True, metavar="PATH",
    help="Dialogues to learn from: a folder of PersonaChat, HPD sessions, a folder of novels, a story, plain text. "
    "Can be given several times.",
)  # fmt: skip
@click.option("--story", metavar="STORY", help="Learn the lines of one of its characters instead (--as).")
@click.option("--as", "name", metavar="NAME", help="Whose lines to learn (with --story).")
@training_options("at", "personas", "epochs", "batch", "held_back")
@click.option(
    "--base", metavar="MODEL",
    help="The language model to start from: a folder, a .gguf file, or a name at Hugging Face (default: SmolLM2).",
)  # fmt: skip
@click.option(
    "--lora", type=click.IntRange(0, 4096), metavar="RANK", help="Rank of the trained adapters; 0: all weights."
)
@click.option("--merged", is_flag=True, help="Write the sum of adapters and base, not the adapters alone.")
@click.option("--tokens", type=click.IntRange(16, 10_000_000), metavar="N", help="Tokens a step of dialogues.")
@click.option("--rate", type=RATE, metavar="X", help="Learning rate (1e-3; 5e-5 for all weights).")
@click.option("--window", type=click.IntRange(16, 1_000_000), metavar="N", help="Tokens of a dialogue read at once.")
@click.option("--none", type=SHARE, metavar="SHARE", help="Dialogues shown without a profile.")
@click.option("--both", type=SHARE, metavar="SHARE", help="Dialogues shown with both profiles.")
@click.option(
    "--paraphrase", type=SHARE, metavar="SHARE", help="Profile sentences replaced by an utterance that says the same."
)
@click.option(
    "--monologues/--no-monologues", default=None,
    help="Learn the utterances of PersonaChat's pairs of sentence and utterance, too.",
)  # fmt: skip
@click.option("--tokenizer", type=IN_FOLDER, metavar="FOLDER", help="A tokenizer to use instead of the base's own.")
def causal(
    data: tuple[Path, ...], story: str | None, name: str | None, at: str, out: Path, as_json: bool, **options: Any
) -> None:
    """A causal language model, fine-tuned on dialogues (--data): it answers as an agent does. With --story and --as it
    learns the lines that a character has said before a moment, for 'understudy score --metrics uppl'.

    Several processes share the work under 'accelerate launch -m understudy train causal ...'.

    \b
    Examples:
        understudy train causal --data pc/ --data pdnc/ --out talker
        understudy train causal --data hpd/en_train_set.json --base gpt2-large \\
            --lora 0 --out harry
        understudy train causal --data subtitles.txt --base SmolLM2/ --out film
        understudy train causal --story friends.story --as Joey --at S05E01 \\
            --base SmolLM2/ --out joey
    """
    if bool(data) == bool(story) or (story is None) != (name is None):
        raise click.UsageError("name dialogues with --data, or a character's lines with --story and --as.")
    if story is not None and name is not None:
        from understudy.training.causal.trainer import base_of

        if unused := [option for option in OF_DIALOGUES if options.pop(option) is not None]:
            raise click.UsageError(f"--{unused[0]} is for dialogues (--data).")
        _train_lines("causal", story, name, at, out, as_json, **options | {"base": base_of(options["base"])})
        return
    if options["batch"] is not None:
        raise click.UsageError("--batch is for a character's lines; a step of dialogues has so many --tokens.")
    del options["batch"]
    trainer = "causal-dialogues"
    settings = settings_among(options, TRAINERS[trainer].settings.load())
    run_trainer(trainer, data, out, as_json, _dialogue_lines, settings=settings, **options)


@click.command(short_help="A masked language model of a character.")
@training_options("story", "at", "epochs", "batch", "held_back")
@click.option("--as", "name", metavar="NAME", required=True, help="Whose lines to learn.")
@click.option(
    "--base", metavar="MODEL", required=True,
    help="The language model to start from: a folder, a .gguf file, or a name at Hugging Face.",
)  # fmt: skip
def masked(**options: Any) -> None:
    """A masked language model, fine-tuned on the lines a character has said before a moment.

    \b
    Example:
        understudy train masked --story friends.story --as Joey --at S05E01 \\
            --base BERT/ --out joey
    """
    _train_lines("masked", **options)


def _train_lines(kind: str, story: str, name: str, at: str, out: Path, as_json: bool, **options: Any) -> None:
    from understudy.training.persona_lm import SpokenLines

    settings = settings_among(options, TRAINERS[kind].settings.load())
    lines = SpokenLines.of_story(read_showing(story), name, at)
    run_trainer(kind, lines, out, as_json, partial(_spoken_lines, story, name), settings=settings, **options)


def _dialogue_lines(out: Path, card: Card) -> Iterator[str]:
    data = card["data"]
    yield f"Trained causal on {data['dialogues']:,} dialogues of {', '.join(data['folders'])}: {out}"
    for condition, figures in card["figures"].items():
        before, after = (figures[when]["perplexity"] for when in ("before", "after"))
        change = f"{before:,.1f} before, {after:,.1f} after"
        yield f"Perplexity per word of held-back replies, profile {condition}: {change}."
    if not card["figures"]:
        yield NO_FIGURES
    yield talk_advice(out)


def _spoken_lines(story: str, name: str, out: Path, card: Card) -> Iterator[str]:
    data, figures = card["data"], card["figures"]
    when = "" if card["moment"] == "end" else f" before {card['moment']}"
    yield f"Trained {card['agent']} on {data['lines']:,} lines of {card['character']}{when}: {out}"
    if figures:
        perplexity = figures["perplexity"]
        yield (
            f"Perplexity of {data['held_back']:,} held-back lines: {perplexity['before']:,.1f} before, "
            f"{perplexity['after']:,.1f} after {figures['epochs']} epochs."
        )
    else:
        yield NO_FIGURES
    command = shlex.join(["understudy", "score", "FILE", "--story", story, "--as", name, "--metrics", "uppl"])
    yield f"Score lines by it with '{command} --model {shlex.quote(str(out))}'."
