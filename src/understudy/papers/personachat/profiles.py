"""Profile prediction: whose profile is it, told from what was said?

The true profile is ranked among 100 others that share no sentence with it: one of each other persona of the split,
topped up from training. `error_rate` is how often it does not come first, `pairwise_error` how often another comes
before it (see `placing`), by how much of the dialogue is heard: a speaker's first 1 to 8 utterances (all, of one who
says less), or the whole. Each speaker is judged on their own profile and on their partner's. Single sentences are
judged alike: each true one among one of each of the 100 other profiles.

Chats of people with models, or of models with each other, are judged beside PersonaChat's dialogues of two people, by
'whose words -> whose profile' (`told`; see `understudy.papers.personachat.chat_prediction`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.bench.items import Items, manifest_of, write_items
from understudy.bench.published import PAPER_IS, profile_error
from understudy.errors import InputError
from understudy.metrics.statistics import RESAMPLES
from understudy.papers.personachat.chairs import (
    Chair,
    ProfilePlace,
    Row,
    chairs_of,
    error_rows,
    fields_of,
    place_of,
    training_of,
)
from understudy.papers.personachat.chat_prediction import ChatChair, chairs_in, chat_rows
from understudy.papers.personachat.scorers import ProfileScorer, scorer_named, scorers_for
from understudy.progress import Progress, ignore_progress

__all__ = ["OTHERS", "bench_profiles"]

OTHERS = 100
LENGTHS = tuple(range(1, 9))
WHOLE = "whole"

Placements = dict[tuple[str, str, int | str], list[ProfilePlace]]
"""By whose profile, unit and length: where the true one stands in each item."""


def bench_profiles(
    data: Path,
    split: str = "valid",
    scorers: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    save_items: Path | None = None,
    chats: Sequence[Path] = (),
) -> dict[str, Any]:
    """Rows, items and manifest; without a wish every scorer that the folder has the data for.

    `chats` are files of chats to judge beside the dialogues of the split.
    """
    judged_file = data / f"{split}_both_original.txt"
    if not judged_file.is_file():
        raise InputError(f"holds no {judged_file.name}: name the folder that has it", data)
    training, used = training_of(data)
    if scorers is None:
        scorers = scorers_for(training)
    chairs = chairs_of(judged_file)
    judged = _sample(chairs, limit, seed)
    seats: dict[Path, list[ChatChair]] = {}
    for path in chats:  # numbered on from the dialogues, so that no two items have the same name
        seats[path] = chairs_in(path, 1 + len(chairs) // 2 + sum(len(some) // 2 for some in seats.values()))
    more = [chair for path in used if path.suffix == ".txt" for chair in chairs_of(path)]
    chatting = [seat.chair for some in seats.values() for seat in some]
    profiles, field = fields_of([*chairs, *chatting], more, OTHERS, seed)
    rows, items = list[Row](), list[Items]()
    for name in scorers:
        scorer = scorer_named(name, profiles, training)
        placements = _placements(scorer, judged, profiles, field, seed, _on(progress, name))
        rows += _rows(name, split, placements, seed)
        items += _items({"scorer": name}, placements)
        for path, some in seats.items():
            sampled_dialogues = {chair.dialogue for chair in _sample([seat.chair for seat in some], limit, seed)}
            sampled = [seat for seat in some if seat.chair.dialogue in sampled_dialogues]
            of_chats = [seat.chair for seat in sampled]
            placements = _placements(scorer, of_chats, profiles, field, seed, _on(progress, f"{name}, {path.name}"))
            rows += chat_rows(name, sampled, placements, WHOLE, seed)
            items += _items({"scorer": name, "chats": path.stem}, placements)
    settings = {"split": split, "others": OTHERS, "resamples": RESAMPLES, "paper": f"{PAPER_IS}, other distractors"}
    if chats:
        settings["chats"] = [str(path) for path in chats]
    manifest = manifest_of("profiles", [judged_file, *used, *chats], seed, limit, settings)
    if save_items is not None:
        write_items(save_items, items, manifest)
    return {"rows": rows, "manifest": manifest}


def _sample(chairs: Sequence[Chair], limit: int | None, seed: int) -> Sequence[Chair]:
    """Both sides of a seeded sample of the dialogues; all of them without a limit."""
    dialogues = list(dict.fromkeys(chair.dialogue for chair in chairs))
    if limit is None or limit >= len(dialogues):
        return chairs
    chosen = np.random.default_rng(seed).choice(len(dialogues), limit, replace=False)
    sampled_dialogues = {dialogues[index] for index in chosen}
    return [chair for chair in chairs if chair.dialogue in sampled_dialogues]


def _on(progress: Progress, name: str) -> Progress:
    return lambda _, done, total: progress(name, done, total)


def _items(what: Mapping[str, str], placements: Placements) -> Iterator[Items]:
    for (profile, unit, length), of_key in placements.items():
        keys = {**what, "profile": profile, "unit": unit, "length": str(length)}
        marks = {"pairwise_error": [place.above for place in of_key]}
        yield Items(keys, [place.item for place in of_key], [place.rank for place in of_key], marks)


def _placements(
    scorer: ProfileScorer,
    chairs: Sequence[Chair],
    profiles: Sequence[Sequence[str]],
    field: Mapping[tuple[str, ...], NDArray[np.int64]],
    seed: int,
    progress: Progress,
) -> Placements:
    placements: Placements = {}
    for done, chair in enumerate(chairs, 1):
        _judge(scorer, chair, profiles, field, seed, placements)
        progress("", done, len(chairs))
    return placements


def _judge(
    scorer: ProfileScorer,
    chair: Chair,
    profiles: Sequence[Sequence[str]],
    field: Mapping[tuple[str, ...], NDArray[np.int64]],
    seed: int,
    placements: Placements,
) -> None:
    """The placements of the true profile and of its sentences after each utterance."""
    by_profile, by_sentence = scorer.scores(chair.said)
    starts = scorer.starts
    lengths: tuple[int | str, ...] = (*LENGTHS, WHOLE)
    for whose, profile in (("own", chair.profile), ("partner", chair.partner)):
        if not profile or not chair.said:
            continue
        candidates = field[tuple(sorted(profile))]
        true = candidates[0]
        rng = np.random.default_rng((seed, chair.dialogue, chair.second, whose == "own"))
        sizes = np.array([len(profiles[rival]) for rival in candidates[1:]])
        wrong = starts[candidates[1:]] + rng.integers(0, sizes)
        for length in lengths:
            at = min(len(chair.said), length if isinstance(length, int) else len(chair.said)) - 1
            name = f"{chair.dialogue}.{chair.letter}"
            place = place_of(name, by_profile[at, true], by_profile[at, candidates[1:]])
            placements.setdefault((whose, "profile", length), []).append(place)
            if length == WHOLE:
                for nth in range(len(profiles[true])):
                    place = place_of(f"{name}.{nth + 1}", by_sentence[at, starts[true] + nth], by_sentence[at, wrong])
                    placements.setdefault((whose, "sentences", length), []).append(place)


def _rows(scorer: str, split: str, placements: Placements, seed: int) -> Iterator[Row]:
    for (whose, unit, length), of_key in placements.items():
        for speaker in ("both", "A", "B") if length == WHOLE else ("both",):
            of_speaker = [place for place in of_key if speaker == "both" or place.chair.endswith(f".{speaker}")]
            if not of_speaker:
                continue
            paper = None
            if whose == "own" and speaker == "both":
                paper = profile_error("human -> human", unit, None if length == WHOLE else int(length))
            what = {"scorer": scorer, "split": split, "speaker": speaker, "profile": whose, "unit": unit}
            yield from error_rows({**what, "length": length}, of_speaker, paper, seed)
