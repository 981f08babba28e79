"""The two sides of PersonaChat's dialogues, and the profiles that a true one is ranked against.

A `Side` is one side of a dialogue: what was said, the profile that was given, and the partner's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.bench.run import Row, figure_row, sampled
from understudy.metrics.statistics import interval
from understudy.papers.personachat.scorers import Training
from understudy.training.corpus import PAIRS, read_pairs
from understudy.training.dialogues import last_questions, linked_groups

__all__ = [
    "ERRORS",
    "ProfileRank",
    "Side",
    "error_rows",
    "fields_of",
    "rank_of",
    "sampled_sides",
    "sides_of",
    "training_of",
]

LEAST_PROFILE = 4  # shorter ones are cut off: everybody was given four or five sentences


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a dialogue."""

    dialogue: int
    second: bool
    said: tuple[str, ...]
    profile: tuple[str, ...]
    partner: tuple[str, ...]

    @property
    def letter(self) -> str:
        return "B" if self.second else "A"


def sides_of(path: Path) -> list[Side]:
    """Both sides of every dialogue of a file."""
    sides: list[Side] = []
    for example in last_questions(path):
        number = int(example.name.partition(".")[0])
        own, faced = example.situation.persona, example.situation.faced
        partner = () if faced is None else faced.profile
        partner_said = tuple(turn.text for turn in example.history if turn.speaker != own.name)
        said = tuple(turn.text for turn in example.history if turn.speaker == own.name)
        reply = example.candidates[min(example.gold)]
        sides.append(Side(number, False, partner_said, partner, own.profile))
        sides.append(Side(number, True, (*said, reply), own.profile, partner))
    return sides


def sampled_sides(sides: Sequence[Side], limit: int | None, seed: int) -> list[Side]:
    """Both sides of a seeded sample of the dialogues; all of them without a limit."""
    chosen = set(sampled(list(dict.fromkeys(side.dialogue for side in sides)), limit, seed))
    return [side for side in sides if side.dialogue in chosen]


def training_of(data: Path) -> tuple[Training, list[Path]]:
    """What a folder has to learn from, and the files it lies in."""
    texts = sorted(data.glob("train_both_original*.txt"))[:1]
    sides = [side for path in texts for side in sides_of(path)]
    pairs = read_pairs(data)
    training = Training(
        [text for side in sides for text in side.said],
        [text for side in sides for text in side.profile],
        pairs,
    )
    return training, [*texts, *([data / PAIRS] if pairs else [])]


def fields_of(
    judged: Sequence[Side], more: Sequence[Side], size: int, seed: int
) -> tuple[list[tuple[str, ...]], dict[tuple[str, ...], NDArray[np.int64]]]:
    """All profiles, and for each judged one its number followed by those of the profiles it is ranked against.

    People given the same persona were shown different sentences of it. Profiles that are linked by common sentences
    are therefore one persona, and of each only one stands in a field: else a field would hold the same person twice.
    """
    profiles: dict[tuple[str, ...], int] = {}
    for side in (*judged, *(side for side in more if len(side.profile) >= LEAST_PROFILE)):
        if side.profile:
            profiles.setdefault(tuple(sorted(side.profile)), len(profiles))
    ordered = list(profiles)
    persona = linked_groups(ordered)
    own = {persona[profiles[tuple(sorted(side.profile))]] for side in judged if side.profile}
    members: dict[int, list[int]] = {}
    for number, root in enumerate(persona):
        members.setdefault(root, []).append(number)
    rng = np.random.default_rng(seed)
    fields = {}
    for profile in dict.fromkeys(tuple(sorted(side.profile)) for side in judged if side.profile):
        number = profiles[profile]
        rivals = [root for root in members if root != persona[number]]
        order = [rivals[index] for index in rng.permutation(len(rivals))]
        order.sort(key=lambda root: root not in own)  # the split's own personas first, each part in its drawn order
        chosen = [members[root][int(rng.integers(len(members[root])))] for root in order[:size]]
        fields[profile] = np.array([number, *chosen], dtype=np.int64)
    return ordered, fields


# Where the true profile, or one of its sentences, stands among others, and the error rates that follow.
#
#   error_rate      share of items in which the true one does not come first; an equal score counts as an error
#   pairwise_error  mean over items of the share of others that score higher, an equal score counting half
#
# By chance the first is N / (N + 1) among N others, the second 1/2. The paper says of its figures for whole dialogues
# that they are 'averaged over all dialogues and candidates', and calls .512 'chance level' among 100 others: they are
# pairwise errors. Its figures by length begin at .76, too high for pairs. They stand beside both.

ERRORS = ("error_rate", "pairwise_error")


class ProfileRank(NamedTuple):
    """One item: its name (dialogue, side and, of a sentence, its number), rank, and the share of others above it."""

    item: str
    rank: int
    above: float

    @property
    def dialogue(self) -> str:
        return self.item.split(".")[0]

    @property
    def side(self) -> str:
        """The dialogue and the side."""
        return ".".join(self.item.split(".")[:2])


def rank_of(item: str, true: float, others: NDArray[np.float32]) -> ProfileRank:
    above, equal = np.count_nonzero(others > true), np.count_nonzero(others == true)
    return ProfileRank(item, 1 + int(above + equal), float((above + equal / 2) / len(others)) if len(others) else 0.0)


def error_rows(what: Mapping[str, Any], ranks: Sequence[ProfileRank], paper: float | None, seed: int) -> Iterator[Row]:
    """Both error rates with intervals over dialogues."""
    groups = [ranked.dialogue for ranked in ranks]
    values_by_metric = {"error_rate": [float(ranked.rank > 1) for ranked in ranks]}
    values_by_metric["pairwise_error"] = [ranked.above for ranked in ranks]
    for metric, values in values_by_metric.items():
        yield figure_row(what, metric, (interval(values, groups, seed), len(ranks)), paper)
