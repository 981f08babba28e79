"""`understudy train seq2seq`, `generative-memory` and `glove`: PersonaChat's models that write, and word vectors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from understudy.cli.progress import working
from understudy.cli.show import print_json, screen
from understudy.cli.train import chosen, training_bar, training_options
from understudy.training import TRAINERS

__all__ = ["generative_memory", "glove", "seq2seq"]

OPTIONS = ("data", "personas", "condition", "width", "epochs", "batch", "held_back", "embeddings")

hidden_option = click.option(
    "--hidden", type=click.IntRange(1, 16_384), metavar="N", help="Units of the LSTMs (default: 1024)."
)
dropout_option = click.option(
    "--dropout", type=click.FloatRange(0, 1, max_open=True), metavar="SHARE", help="Share of units that are dropped."
)


@click.command("seq2seq", short_help="An LSTM that writes, from dialogues.")
@training_options(*OPTIONS)
@hidden_option
@dropout_option
def seq2seq(**options: Any) -> None:
    """Seq2Seq: an LSTM reads profile and dialogue, another writes the reply; from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train seq2seq --data pc/ --out my-seq2seq --device cuda
        understudy train seq2seq --data pc/ --condition none --out my-seq2seq
    """
    _train("seq2seq", **options)


@click.command("generative-memory", short_help="An LSTM that looks at the profile as it writes.")
@training_options(*OPTIONS)
@hidden_option
@dropout_option
def generative_memory(**options: Any) -> None:
    """Generative Profile Memory: the LSTM that writes attends over the sentences of the profile before each word;
    from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train generative-memory --data pc/ --embeddings glove.txt \\
            --out my-memory --device cuda
    """
    _train("generative-memory", **options)


@click.command("glove", short_help="Word vectors, from any text.")
@click.option(
    "--data", metavar="DIR|STORY|FILE", required=True,
    help="PersonaChat's folder, a story in any form that can be read, or a plain text.",
)  # fmt: skip
@click.option(
    "--out", "-o", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE",
    help="The file of vectors to write.",
)  # fmt: skip
@training_options("width", "epochs", without=("out",))
@click.option("--window", type=click.IntRange(1, 100), metavar="N", help="Words on each side that count (default: 10).")
@click.option(
    "--fewest", type=click.IntRange(1), metavar="N", help="Leave out words that occur less often (default: 2)."
)
def glove(
    data: str, out: Path, window: int | None, fewest: int | None, seed: int, device: str, fresh: bool, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """GloVe: word vectors from how often words stand near each other, in GloVe's text format.

    Other trainers take the file with --embeddings; words are in order of frequency.

    \b
    Example:
        understudy train glove --data pc/ -o vectors.txt
        understudy train glove --data my.story -o vectors.txt --width 100
    """
    from understudy.training.glove import GloveSettings, GloveTask, train_glove
    from understudy.training.loop import no_progress
    from understudy.training.text_corpora import corpus_texts

    given = {name: value for name, value in (("window", window), ("fewest", fewest)) if value is not None}
    with working("Reading"):
        texts = corpus_texts(data)
    task = GloveTask(texts, out, GloveSettings(**given, **chosen(options)), seed, device, fresh)
    with training_bar("glove") as progress:
        vectors = train_glove(task, progress or no_progress)
    if as_json:
        words, width = vectors.rows.shape
        print_json({"vectors": str(out), "words": words, "width": width, "losses": list(vectors.losses)})
    else:
        screen().print(f"Trained vectors of {len(vectors.words):,} words: {out}")
        screen().print(f"Begin other trainings with them by '--embeddings {out}'.")


def _train(
    name: str, data: Path, out: Path, as_json: bool, hidden: int | None, dropout: float | None, **options: Any
) -> None:
    from understudy import training

    settings = chosen(options)
    given = {key: value for key, value in (("hidden", hidden), ("dropout", dropout)) if value is not None}
    others = {key: value for key, value in options.items() if key not in settings and value is not None}
    with training_bar(name) as progress:
        model = training.train(
            name, data, out, settings=TRAINERS[name].settings(**given, **settings), progress=progress, **others
        )
    if as_json:
        print_json({"model": str(out), **model.card})
    else:
        _show(out, model.card)


def _show(out: Path, card: Mapping[str, Any]) -> None:
    show, data, figures = screen(), card["data"], card["figures"]
    show.print(f"Trained {card['agent']} on {data['replies']:,} replies of {data['dialogues']:,} dialogues: {out}")
    if figures:
        show.print(
            f"Perplexity of {figures['replies']:,} held-back replies after {figures['epochs']} epochs: "
            f"{figures['perplexity']:,.1f} per word, {figures['perplexity_per_token']:,.1f} per token; "
            f"{figures['unknown']:.1%} of the words are unknown and count as one."
        )
        hits = ", ".join(f"{condition} {value:.3f}" for condition, value in figures["hits@1"].items())
        show.print(f"hits@1 among {figures['candidates']}: {hits}")
    else:
        show.print("Nothing was held back, so there are no figures.")
    show.print(f"Talk through it with 'understudy chat STORY NAME --agent {out}'.")
