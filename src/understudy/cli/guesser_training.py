"""`understudy train guesser`: a transformer that learns who is speaking."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.judging import watching
from understudy.cli.progress import read_showing
from understudy.cli.show import screen

if TYPE_CHECKING:
    from understudy.guessing import TrainingScenes
    from understudy.training.loop import Progress

__all__ = ["KINDS", "GuesserOptions", "checked", "guesser_refused", "taught", "tell_guesser", "trained_guesser"]

NAMING = "naming"
KINDS = ("vanilla", "multi-row", "scene-pooling", NAMING)
WHOLE_SCENES = ("scene-pooling", NAMING)


@dataclass(frozen=True, slots=True)
class GuesserOptions:
    """Which guesser, and what was said of its training; None where nothing was."""

    kind: str
    base: str | None
    maxlen: int | None
    epochs: int | None
    batch: int | None
    held_back: float | None

    def said(self) -> dict[str, Any]:
        told = {"epochs": self.epochs, "batch": self.batch, "held_back": self.held_back}
        return {name: value for name, value in told.items() if value is not None}


def guesser_refused(told: Mapping[str, object]) -> None:
    """Refuse what makes no sense for a guesser."""
    if (told["--data"] is None) == (told["--story"] is None):
        raise click.UsageError("a guesser learns from shows or from a story: name --data DIR or --story STORY")
    for option in ("--shows", "--judge"):
        if told[option] is not None and told["--data"] is None:
            raise click.UsageError(f"{option} goes with --data")
    if told["--main"] is not None and told["--story"] is None:
        raise click.UsageError("--main goes with --story: the main characters of shows are known")
    if told["--kind"] == NAMING and told["--base"] is None:
        raise click.UsageError("naming is done by a causal language model: name one with --base")
    if told["--maxlen"] is not None and told["--kind"] not in WHOLE_SCENES:
        raise click.UsageError(f"--maxlen is for --kind {' and '.join(WHOLE_SCENES)}")


def checked(out: Path, device: str, fresh: bool) -> None:
    """Say what would stop a training before anything is read."""
    from understudy.training.course import must_be_free
    from understudy.training.loop import device_named

    must_be_free(out, fresh)
    device_named(device)


def taught(
    data: Path | None, shows: Sequence[str], judge: Path | None, story: str | None, before: str, most: int | None
) -> dict[str, TrainingScenes]:
    """What to learn from, by title: of shows, or of a story before a moment."""
    from understudy.guessing import MOST
    from understudy.guessing.shows import training_scenes_of_shows
    from understudy.guessing.story import training_scenes_of_story

    if data is not None:
        with watching() as watch:
            return training_scenes_of_shows(data, shows, judge, watch)
    assert story is not None  # or it would have been refused
    return training_scenes_of_story(read_showing(story), before, most or MOST)


def trained_guesser(
    wanted: GuesserOptions, training: Mapping[str, TrainingScenes], out: Path, seed: int, device: str, fresh: bool,
    progress: Progress | None,
) -> Mapping[str, Any]:  # fmt: skip
    """Train: the model's card."""
    from understudy.training.guessing.naming import NamingSettings, NamingTask, train_naming
    from understudy.training.guessing.readers import READERS, ReaderTask, train_reader
    from understudy.training.loop import unwatched

    watch = progress or unwatched
    if wanted.kind == NAMING:
        assert wanted.base is not None  # or it would have been refused
        window = {} if wanted.maxlen is None else {"window": wanted.maxlen}
        settings = NamingSettings(**window, **wanted.said())
        return train_naming(NamingTask(training, wanted.base, out, settings, seed, device, fresh), watch).card
    usual = READERS[wanted.kind]
    reading = usual.reading if wanted.maxlen is None else replace(usual.reading, longest=wanted.maxlen)
    reader = replace(usual, reading=reading, **wanted.said())
    return train_reader(ReaderTask(training, out, reader, wanted.base, seed, device, fresh), watch).card


def tell_guesser(out: Path, card: Mapping[str, Any], data: Path | None, story: str | None) -> None:
    show, learned, figures = screen(), card["data"], card["figures"]
    scenes = sum(one["scenes"] for one in learned.values())
    show.print(f"Trained guesser on {scenes:,} scenes of {', '.join(learned)}: {out}")
    if figures:
        show.print(
            f"Of {figures['speakers']:,} speakers in later scenes, held back, {figures['accuracy']['all']:.3f} are "
            f"told right; {figures['assigned']['all']:.3f} with one person behind each mask."
        )
    else:
        show.print("Nothing was held back, so there are no figures.")
    show.print("It has learned from scripts: share it only if you may share them.")
    ask = ["bench", "guess", "--data", str(data), "--models"] if story is None else ["guess", story, "--model"]
    show.print(f"Ask it with '{shlex.join(['understudy', *ask, f'{out}+assigned'])}'.")
