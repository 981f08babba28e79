"""`understudy train causal`: a language model of dialogues, or of a character's lines; `train average`: their mean."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from understudy.cli.options import json_option
from understudy.cli.show import print_json, screen
from understudy.cli.train import chosen, train_on_lines, training_bar, training_options
from understudy.training import TRAINERS

__all__ = ["average", "causal"]

DIALOGUES = "causal-dialogues"
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
)  # fmt: skip
@click.option("--merged", is_flag=True, help="Write the sum of adapters and base, not the adapters alone.")
@click.option("--tokens", type=click.IntRange(16, 10_000_000), metavar="N", help="Tokens a step of dialogues.")
@click.option(
    "--rate",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="X",
    help="Learning rate (1e-3; 5e-5 for all weights).",
)
@click.option("--window", type=click.IntRange(16, 1_000_000), metavar="N", help="Tokens of a dialogue read at once.")
@click.option("--none", type=click.FloatRange(0, 1), metavar="SHARE", help="Dialogues shown without a profile.")
@click.option("--both", type=click.FloatRange(0, 1), metavar="SHARE", help="Dialogues shown with both profiles.")
@click.option(
    "--paraphrase", type=click.FloatRange(0, 1), metavar="SHARE",
    help="Profile sentences replaced by an utterance that says the same.",
)  # fmt: skip
@click.option(
    "--monologues/--no-monologues",
    default=None,
    help="Learn the utterances of PersonaChat's pairs of sentence and utterance, too.",
)
@click.option(
    "--tokenizer", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER",
    help="A tokenizer to use instead of the base's own.",
)  # fmt: skip
def causal(
    data: tuple[Path, ...], story: str | None, name: str | None, at: str, personas: str, base: str | None, out: Path,
    seed: int, device: str, fresh: bool, as_json: bool, merged: bool, tokenizer: Path | None, **options: Any,
) -> None:  # fmt: skip
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
        _train_lines(story, name, at, base, out, seed, device, fresh, as_json, options)
        return
    if options["batch"] is not None:
        raise click.UsageError("--batch is for a character's lines; a step of dialogues has so many --tokens.")
    from understudy.training.causal.trainer import DialogueTask
    from understudy.training.workers import launched_workers

    trainer = TRAINERS[DIALOGUES]
    given = {option: options[option] for option in OF_DIALOGUES if options[option] is not None}
    settings = trainer.settings(**chosen(options), **given)
    task = DialogueTask(data, base, out, settings, personas, seed, device, tokenizer, merged, fresh)
    with training_bar("causal") as progress:
        card = trainer(task, progress).card
    workers = launched_workers(device)
    if workers is not None and not workers.is_first:
        return
    if as_json:
        print_json({"model": str(out), **card})
    else:
        _show_dialogues(out, card)


def _train_lines(
    story: str, name: str, at: str, base: str | None, out: Path, seed: int, device: str, fresh: bool, as_json: bool,
    options: Mapping[str, Any],
) -> None:  # fmt: skip
    from understudy.training.causal.trainer import base_of

    if unused := [option for option in OF_DIALOGUES if options[option] is not None]:
        raise click.UsageError(f"--{unused[0]} is for dialogues (--data).")
    train_on_lines("causal", story, name, at, base_of(base), out, seed, device, fresh, as_json, **options)


def _show_dialogues(out: Path, card: Mapping[str, Any]) -> None:
    show, data = screen(), card["data"]
    show.print(f"Trained causal on {data['dialogues']:,} dialogues of {', '.join(data['folders'])}: {out}")
    for condition, figures in card["figures"].items():
        before, after = (figures[when]["perplexity"] for when in ("before", "after"))
        show.print(
            f"Perplexity per word of held-back replies, profile {condition}: {before:,.1f} before, {after:,.1f} after."
        )
    if not card["figures"]:
        show.print("Nothing was held back, so there are no figures.")
    show.print(f"Talk through it with 'understudy chat STORY NAME --agent {shlex.quote(str(out))}'.")


@click.command(short_help="The mean of several causal models of dialogues.")
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER", help="Where the model goes.")
@click.option("--fresh", is_flag=True, help="Replace a model that is there.")
@json_option
def average(folders: tuple[Path, ...], out: Path, fresh: bool, as_json: bool) -> None:
    """The mean of the weights of causal models that 'train causal' made of dialogues from one base, by other settings
    or seeds. It often foresees replies better than the best of them, and runs as fast as one: compare them with 'bench
    personachat'. It has all weights, also where the models are adapters.

    \b
    Examples:
        understudy train average talker-1 talker-2 talker-3 --out talker
    """
    from understudy.training.causal.averaging import average_models

    card = average_models(folders, out, fresh).card
    if as_json:
        print_json({"model": str(out), **card})
    else:
        screen().print(f"The mean of {', '.join(folder.name for folder in folders)}: {out}")
