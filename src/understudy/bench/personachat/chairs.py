"""The two sides of PersonaChat's dialogues, and the profiles that a true one is ranked against.

A `Chair` is one side of a dialogue: what was said, the profile that was given, and the partner's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.bench.personachat.scorers import Training
from understudy.errors import InputError
from understudy.readers.personachat import examples
from understudy.readers.source import SourceFile

__all__ = ["Chair", "chairs_of", "fields_of", "linked_profiles", "training_of"]

PAIRS = "train_entailed_persona_utterance_pairs.json"
LEAST_PROFILE = 4  # shorter ones are cut off: everybody was given four or five sentences


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
    persona = linked_profiles(ordered)
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


def linked_profiles(profiles: Sequence[Sequence[str]]) -> list[int]:
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
