"""Profile prediction: whose profile is it, told from what was said?

The true profile is ranked among 100 others that share no sentence with it: one of each other persona of the split,
topped up from training. `error_rate` is how often it does not come first (a tie counts as an error), by how much of
the dialogue is heard: a speaker's first 1 to 8 utterances (all, of one who says less), or the whole. Each speaker is
judged on their own profile and on their partner's. Single sentences are judged alike: each true one among one of each
of the 100 other profiles.

A `Chair` is one side of a dialogue: what was said, the profile that was given, and the partner's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.bench.items import Items, manifest_of, write_items
from understudy.bench.personachat.scorers import ProfileScorer, Training, scorer_named, scorers_for
from understudy.bench.published import PAPER_IS, PROFILE_ERRORS, PROFILE_ERRORS_BY_LENGTH
from understudy.errors import InputError
from understudy.metrics.statistics import RESAMPLES, interval
from understudy.progress import Progress, ignore_progress
from understudy.readers.personachat import examples
from understudy.readers.source import SourceFile

__all__ = ["OTHERS", "Chair", "bench_profiles", "chairs_of", "fields_of", "training_of"]

PAIRS = "train_entailed_persona_utterance_pairs.json"
LEAST_PROFILE = 4  # shorter ones are cut off: everybody was given four or five sentences

OTHERS = 100
LENGTHS = tuple(range(1, 9))
WHOLE = "whole"

Row = dict[str, Any]
Ranks = dict[tuple[str, str, int | str], list[tuple[str, int]]]
"""By whose profile, unit and length: the name of each item and the place of the true one."""


@dataclass(frozen=True, slots=True)
class Chair:
    """One side of a dialogue."""

    dialogue: int
    second: bool
    said: tuple[str, ...]
    profile: tuple[str, ...]
    partner: tuple[str, ...]

    @property
    def letter(self) -> str:
        return "B" if self.second else "A"


def chairs_of(path: Path) -> list[Chair]:
    """Both sides of every dialogue of a file."""
    chairs: list[Chair] = []
    last = {example.name.partition(".")[0]: example for example in examples(SourceFile(path))}
    for number, example in last.items():
        own, faced = example.situation.persona, example.situation.faced
        partner = () if faced is None else faced.profile
        partner_said = tuple(turn.text for turn in example.history if turn.speaker != own.name)
        said = tuple(turn.text for turn in example.history if turn.speaker == own.name)
        reply = example.candidates[min(example.gold)]
        chairs.append(Chair(int(number), False, partner_said, partner, own.profile))
        chairs.append(Chair(int(number), True, (*said, reply), own.profile, partner))
    return chairs


def training_of(data: Path) -> tuple[Training, list[Path]]:
    """What a folder has to learn from, and the files it lies in."""
    texts = sorted(data.glob("train_both_original*.txt"))[:1]
    chairs = [chair for path in texts for chair in chairs_of(path)]
    pairs_file = data / PAIRS
    pairs: list[tuple[str, str]] = []
    if pairs_file.is_file():
        try:
            pairs = [(str(sentence), str(said)) for sentence, said in json.loads(pairs_file.read_text("utf-8"))]
        except (ValueError, TypeError) as error:
            raise InputError("is not a list of pairs of a profile sentence and an utterance", pairs_file) from error
    training = Training(
        [text for chair in chairs for text in chair.said],
        [text for chair in chairs for text in chair.profile],
        pairs,
    )
    return training, [*texts, *([pairs_file] if pairs else [])]


def fields_of(
    judged: Sequence[Chair], more: Sequence[Chair], size: int, seed: int
) -> tuple[list[tuple[str, ...]], dict[tuple[str, ...], NDArray[np.int64]]]:
    """All profiles, and for each judged one its number followed by those of the profiles it is ranked against.

    People given the same persona were shown different sentences of it. Profiles that are linked by common sentences
    are therefore one persona, and of each only one stands in a field: else a field would hold the same person twice.
    """
    profiles: dict[tuple[str, ...], int] = {}
    for chair in (*judged, *(chair for chair in more if len(chair.profile) >= LEAST_PROFILE)):
        if chair.profile:
            profiles.setdefault(tuple(sorted(chair.profile)), len(profiles))
    ordered = list(profiles)
    persona = _linked(ordered)
    own = {persona[profiles[tuple(sorted(chair.profile))]] for chair in judged if chair.profile}
    members: dict[int, list[int]] = {}
    for number, root in enumerate(persona):
        members.setdefault(root, []).append(number)
    rng = np.random.default_rng(seed)
    fields = {}
    for profile in dict.fromkeys(tuple(sorted(chair.profile)) for chair in judged if chair.profile):
        number = profiles[profile]
        rivals = [root for root in members if root != persona[number]]
        order = [rivals[index] for index in rng.permutation(len(rivals))]
        order.sort(key=lambda root: root not in own)  # the split's own personas first, each part in its drawn order
        chosen = [members[root][int(rng.integers(len(members[root])))] for root in order[:size]]
        fields[profile] = np.array([number, *chosen], dtype=np.int64)
    return ordered, fields


def _linked(profiles: Sequence[Sequence[str]]) -> list[int]:
    """For each profile the number of its group: profiles with a sentence in common are in one."""
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    for profile in profiles:
        for sentence in profile[1:]:
            parent[root(sentence)] = root(profile[0])
    numbers: dict[str, int] = {}
    return [numbers.setdefault(root(profile[0]), len(numbers)) for profile in profiles]


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
