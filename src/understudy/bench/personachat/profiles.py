"""Profile prediction: whose profile is it, told from what was said?

The true profile is ranked among 100 others that share no sentence with it: one of each other persona of the split,
topped up from training. `error_rate` is how often it does not come first (a tie counts as an error), by how much of
the dialogue is heard: a speaker's first 1 to 8 utterances (all, of one who says less), or the whole. Each speaker is
judged on their own profile and on their partner's. Single sentences are judged alike: each true one among one of each
of the 100 other profiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.bench.items import Items, write_items
from understudy.bench.manifest import manifest_of
from understudy.bench.personachat.people import Chair, chairs_of, fields_of, training_of
from understudy.bench.personachat.scorers import ProfileScorer, scorer_named, scorers_for
from understudy.bench.published import PAPER_IS, PROFILE_ERRORS, PROFILE_ERRORS_BY_LENGTH
from understudy.errors import InputError
from understudy.metrics.significance import RESAMPLES, interval
from understudy.progress import Progress, ignore_progress

__all__ = ["OTHERS", "bench_profiles"]

OTHERS = 100
LENGTHS = tuple(range(1, 9))
WHOLE = "whole"

Row = dict[str, Any]
Ranks = dict[tuple[str, str, int | str], list[tuple[str, int]]]
"""By whose profile, unit and length: the name of each item and the place of the true one."""


def bench_profiles(
    data: Path,
    split: str = "valid",
    scorers: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    save_items: Path | None = None,
) -> dict[str, Any]:
    """Rows, items and manifest; without a wish every scorer that the folder has the data for."""
    judged_file = data / f"{split}_both_original.txt"
    if not judged_file.is_file():
        raise InputError(f"holds no {judged_file.name}: name the folder that has it", data)
    training, used = training_of(data)
    if scorers is None:
        scorers = scorers_for(training)
    chairs = chairs_of(judged_file)
    if limit is not None and limit < len(chairs) // 2:
        sample = set(np.random.default_rng(seed).choice(len(chairs) // 2, limit, replace=False).tolist())
        judged = [chair for chair in chairs if chair.dialogue - 1 in sample]
    else:
        judged = chairs
    more = [chair for path in used if path.suffix == ".txt" for chair in chairs_of(path)]
    profiles, field = fields_of(chairs, more, OTHERS, seed)
    rows, items = list[Row](), list[Items]()
    for name in scorers:
        scorer = scorer_named(name, profiles, training)
        ranks: Ranks = {}
        for done, chair in enumerate(judged, 1):
            _judge(scorer, chair, profiles, field, seed, ranks)
            progress(name, done, len(judged))
        rows += _rows(name, split, ranks, seed)
        for (profile, unit, length), ranked in ranks.items():
            keys = {"scorer": name, "profile": profile, "unit": unit, "length": str(length)}
            items.append(Items(keys, [item for item, _ in ranked], [rank for _, rank in ranked]))
    settings = {"split": split, "others": OTHERS, "resamples": RESAMPLES, "paper": f"{PAPER_IS}, other distractors"}
    manifest = manifest_of("profiles", [judged_file, *used], seed, limit, settings)
    if save_items is not None:
        write_items(save_items, items, manifest)
    return {"rows": rows, "manifest": manifest}


def _judge(
    scorer: ProfileScorer,
    chair: Chair,
    profiles: Sequence[Sequence[str]],
    field: Mapping[tuple[str, ...], NDArray[np.int64]],
    seed: int,
    ranks: Ranks,
) -> None:
    """The places of the true profile and of its sentences after each utterance."""
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
            rank = 1 + int(np.count_nonzero(by_profile[at, candidates[1:]] >= by_profile[at, true]))
            ranks.setdefault((whose, "profile", length), []).append((name, rank))
            if length == WHOLE:
                for nth in range(len(profiles[true])):
                    rank = 1 + int(np.count_nonzero(by_sentence[at, wrong] >= by_sentence[at, starts[true] + nth]))
                    ranks.setdefault((whose, "sentences", length), []).append((f"{name}.{nth + 1}", rank))


def _rows(scorer: str, split: str, ranks: Ranks, seed: int) -> Iterator[Row]:
    for (whose, unit, length), ranked in ranks.items():
        for speaker in ("both", "A", "B") if length == WHOLE else ("both",):
            of_speaker = [(name, rank) for name, rank in ranked if speaker in ("both", name.split(".")[1])]
            if not of_speaker:
                continue
            figure = interval(
                [rank > 1 for _, rank in of_speaker], [name.split(".")[0] for name, _ in of_speaker], seed
            )
            paper = None
            if whose == "own" and speaker == "both":
                by_length = unit == "profile" and length != WHOLE
                paper = PROFILE_ERRORS_BY_LENGTH[int(length) - 1] if by_length else PROFILE_ERRORS[unit]
            what = {"scorer": scorer, "split": split, "speaker": speaker, "profile": whose, "unit": unit}
            yield {
                **what,
                "length": length,
                "metric": "error_rate",
                "value": figure.value,
                "low": figure.low,
                "high": figure.high,
                "n": len(of_speaker),
                "paper": paper,
            }
