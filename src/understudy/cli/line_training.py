"""`understudy train causal` and `masked`: a language model of how a character talks."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from understudy.cli.progress import read_showing
from understudy.cli.show import print_json, screen
from understudy.cli.training import chosen, training_bar, training_options
from understudy.training import TRAINERS

__all__ = ["causal", "masked"]

OPTIONS = ("story", "at", "epochs", "batch", "held_back")
character_option = click.option("--as", "name", metavar="NAME", required=True, help="Whose lines to learn.")
model_option = click.option(
    "--base", metavar="MODEL", required=True,
    help="The language model to start from: a folder, a .gguf file, or a name at Hugging Face.",
)  # fmt: skip


@click.command(short_help="A causal language model of a character.")
@training_options(*OPTIONS)
@character_option
@model_option
def causal(**options: Any) -> None:
    """A causal language model, fine-tuned on the lines a character has said before a moment.

    \b
    Example:
        understudy train causal --story friends.story --as Joey --at S05E01 \\
            --base SmolLM2/ --out joey
    """
    _train_on_lines("causal", **options)


@click.command(short_help="A masked language model of a character.")
@training_options(*OPTIONS)
@character_option
@model_option
def masked(**options: Any) -> None:
    """A masked language model, fine-tuned on the lines a character has said before a moment.

    \b
    Example:
        understudy train masked --story friends.story --as Joey --at S05E01 \\
            --base BERT/ --out joey
    """
    _train_on_lines("masked", **options)


def _train_on_lines(
    kind: str, story: str, name: str, at: str, base: str, out: Path, seed: int, device: str, fresh: bool,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    from understudy.training.persona_lm import LineTask

    trainer = TRAINERS[kind]
    task = LineTask(read_showing(story), name, at, base, out, trainer.settings(**chosen(options)), seed, device, fresh)
    with training_bar(kind) as progress:
        card = trainer(task, progress).card
    if as_json:
        print_json({"model": str(out), **card})
    else:
        _show(out, card, story, name)


def _show(out: Path, card: Mapping[str, Any], story: str, name: str) -> None:
    show, data, figures = screen(), card["data"], card["figures"]
    when = "" if card["moment"] == "end" else f" before {card['moment']}"
    show.print(f"Trained {card['agent']} on {data['lines']:,} lines of {card['character']}{when}: {out}")
    if figures:
        perplexity = figures["perplexity"]
        show.print(
            f"Perplexity of {data['held_back']:,} held-back lines: {perplexity['before']:,.1f} before, "
            f"{perplexity['after']:,.1f} after {figures['epochs']} epochs."
        )
    else:
        show.print("Nothing was held back, so there are no figures.")
    command = shlex.join(["understudy", "score", "FILE", "--story", story, "--as", name, "--metrics", "uppl"])
    show.print(f"Score lines by it with '{command} --model {shlex.quote(str(out))}'.")
