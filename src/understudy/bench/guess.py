"""Who is speaking? Guessers on the scenes of shows, learned from earlier episodes.

A scene is guessed from what its masks say and from everything that came before it: transcripts of earlier episodes, and
the scenes of the judged file that come earlier. Nothing later is ever told to a guesser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.guess_analysis import analyse
from understudy.bench.guess_history import history_gain, retrieval_rows
from understudy.bench.guess_story import guessed_of
from understudy.bench.guessed import Guessed
from understudy.bench.guessers import Make, guesser_named
from understudy.bench.items import Items, write_items
from understudy.bench.manifest import Watch, manifest_of, unwatched
from understudy.bench.published_guess import add_paper
from understudy.bench.shows import JUDGED, JudgedScene, Show, shows_in
from understudy.dialogue import Guesser
from understudy.errors import UnknownCharacter
from understudy.guessing import Joint, Lessons, Masking, Names, guess_in_order, with_learned_names
from understudy.guessing.encoded import Encodes, shipped_encoder
from understudy.guessing.joint import ABLATIONS
from understudy.guessing.recall import ranked_scenes
from understudy.persona import Persona, persona_at
from understudy.readers.annotations import Instance, read_annotations
from understudy.readers.needed_scenes import read_needed_scenes
from understudy.story import Scene

__all__ = ["MODELS", "bench_guess"]

MODELS = ("random", "vanilla", "vanilla+assigned", "joint", "joint without history")
BY_WORDS, BY_MEANING = "scenes alike in words", "scenes alike in meaning"
SHARES = {"an eighth": 8, "a quarter": 4, "half": 2}
ENOUGH = 30  # speakers of a show, for its curve to say anything
LESS = "joint from {} of the lessons"
ANNOTATED, NEEDED = "human_annotation", "needed_scenes.jsonl"


def bench_guess(
    data: Path,
    judge: Path | None = None,
    models: Sequence[str] = MODELS,
    names: str = "keep",
    limit: int | None = None,
    seed: int = 0,
    progress: Watch = unwatched,
    items: Path | None = None,
    ablations: bool = False,
    curve: bool = False,
) -> dict[str, Any]:
    """Rows, comparisons, confusions, flows and manifest. `ablations` and `curve` judge more models, made from joint."""
    wanted = dict.fromkeys((*models, *((f"joint without {part}" for part in ABLATIONS) if ablations else ())))
    # a name that is wrong is said before anything is read
    makers = {model: guesser_named(model, names) for model in wanted}
    if curve:
        makers |= {LESS.format(name): _less(share) for name, share in SHARES.items()}
    guessed: list[Guessed] = []
    recalled: dict[str, dict[Instance, tuple[int, ...]]] = {BY_WORDS: {}, BY_MEANING: {}}
    left_out: dict[str, int] = {}
    splits: dict[str, str | None] = {}
    annotations = read_annotations(data / ANNOTATED) if (data / ANNOTATED).is_dir() else []
    needed = read_needed_scenes(data / ANNOTATED / NEEDED) if (data / ANNOTATED / NEEDED).is_file() else {}
    for show in shows_in(data, judge, progress):
        left_out[show.name], splits[show.name] = show.left_out, show.split
        sampled = _sampled(show, limit, seed)
        masking = Masking(show.main, _names(show, names), names, seed)
        told = [masking.told(scene) for scene in show.earlier]
        lessons = Lessons(told, masking.people, masking.names, show.story.language)
        for model, make in makers.items():
            progress(f"{show.title}: {model}", 0, len(sampled))
            guessed += _guessed(model, sampled, masking, make(lessons), show, progress)
        for how, ranked in recalled.items():
            ranked |= _recalled(show, needed, _reader(how) if needed else None)
    found = analyse(guessed, annotations, seed)
    found["rows"] = add_paper(found["rows"], splits)
    if {"joint", "joint without history"} <= makers.keys():
        found["rows"] += history_gain(guessed, annotations, "joint", "joint without history", seed)
    for how, ranked in recalled.items():
        found["rows"] += retrieval_rows(how, ranked, needed, seed)
    learning = _learning(found["rows"]) if curve else []
    settings = {"models": list(makers), "names": names, "left out": left_out}
    manifest = manifest_of("guess", [judge or data / JUDGED], seed, limit, settings)
    if items is not None:
        write_items(items, _items(guessed), manifest)
    return {**found, "learning": learning, "manifest": manifest}


def _names(show: Show, how: str) -> Names:
    """What is covered or swapped: all that main characters are called anywhere, in judged scenes too."""
    if how == "keep":
        return show.names
    scenes = [*show.earlier, *(judged.scene for judged in show.file)]
    return with_learned_names(show.names, scenes, show.story.language)


def _less(share: int) -> Make:
    """Joint, from the last part of the lessons only."""
    return lambda lessons: Joint(replace(lessons, scenes=lessons.scenes[-max(len(lessons.scenes) // share, 1) :]))


def _learning(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Accuracy by the share of the lessons that it was learned from, for each show."""
    shares = {"joint": 1.0} | {LESS.format(name): 1 / share for name, share in SHARES.items()}
    return [
        {"show": row["show"], "share": shares[row["model"]], **{key: row[key] for key in ("value", "low", "high", "n")}}
        for row in rows
        if row["metric"] == "accuracy" and row["model"] in shares and row["n"] >= ENOUGH
    ]


def _reader(how: str) -> Encodes | None:
    return shipped_encoder() if how == BY_MEANING else None


def _recalled(
    show: Show, needed: Mapping[Instance, frozenset[int]], encoder: Encodes | None
) -> dict[Instance, tuple[int, ...]]:
    """For every speaker of whom it is known which scenes were needed: the last ones, those most alike first."""
    scenes = [one.scene for one in show.file]
    found: dict[Instance, tuple[int, ...]] = {}
    for place, scene in enumerate(scenes):
        *episode, number = scene.moment.numbers
        asked = [one for one in needed if (*one.episode, one.scene) == (*episode, number)]
        if asked:
            alike = ranked_scenes(scene, scenes[:place], show.story.language, encoder)
            numbers = tuple(one.moment.numbers[-1] for one in alike)
            found |= dict.fromkeys(asked, numbers)
    return found


def _guessed(
    model: str, scenes: Sequence[JudgedScene], masking: Masking, guesser: Guesser, show: Show, progress: Watch
) -> Iterator[Guessed]:
    personas = _personas(show, masking)
    asked = sum(one.judged for one in scenes)
    found = guess_in_order(guesser, ((one.scene, one.judged) for one in scenes), masking, personas)
    for done, (masked, guesses) in enumerate(found, 1):
        progress(f"{show.title}: {model}", done, asked)
        yield from guessed_of(model, show.name, masked, guesses)


def _personas(show: Show, masking: Masking) -> Callable[[Sequence[str], Scene], Sequence[Persona]]:
    """The candidates as they are when the judged episodes begin; without a past where they go by other names."""

    @lru_cache(len(show.main))
    def known(name: str) -> Persona:
        try:
            return Persona(name) if masking.how != "keep" else persona_at(show.story, name, show.first)
        except UnknownCharacter:  # the judged file has somebody whom the transcripts have not
            return Persona(name)

    return lambda names, scene: [replace(known(name), moment=scene.moment) for name in names]


def _sampled(show: Show, limit: int | None, seed: int) -> list[JudgedScene]:
    """Of the judged scenes a seeded sample; what is not asked about stays history."""
    asked = [place for place, one in enumerate(show.file) if one.judged]
    if limit is None or limit >= len(asked):
        return list(show.file)
    kept = set(np.random.default_rng(seed).choice(asked, limit, replace=False).tolist())
    return [replace(one, judged=place in kept) for place, one in enumerate(show.file)]


def _items(guessed: Sequence[Guessed]) -> list[Items]:
    """Speaker by speaker: the rank of the right name among the candidates."""
    found: dict[tuple[str, str], list[Guessed]] = {}
    for one in guessed:
        found.setdefault((one.model, one.show), []).append(one)
    return [
        Items({"agent": model, "show": show}, [one.key for one in told], [_rank(one) for one in told])
        for (model, show), told in found.items()
    ]


def _rank(one: Guessed) -> int:
    if one.right:
        return 1
    own = one.probabilities[one.who]
    return max(2, 1 + sum(share > own for share in one.probabilities.values()))
