"""Laying two readings of one episode side by side, line by line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from rapidfuzz import fuzz, process

from understudy.readers.directions import BRACKETED

__all__ = ["FUZZY", "Episode", "Said", "aligned", "common_starts", "who", "words"]

FUZZY = 90.0
JOINING = frozenset(("and", "together", "simultaneously"))

Said = tuple[str, str]
"""Who and what, as compared."""


@dataclass(slots=True)
class Episode:
    """Dialogue, and at which of its lines scenes begin."""

    lines: list[Said] = field(default_factory=list)
    starts: set[int] = field(default_factory=set)

    def begin_scene(self) -> None:
        self.starts.add(len(self.lines))

    @property
    def scene_starts(self) -> set[int]:
        """A scene without dialogue begins where the next one does; one at the very end, nowhere."""
        return {start for start in self.starts if start < len(self.lines)}


def who(label: str) -> str:
    """A label as it is compared: `Monica and Rachel`, `RACHEL & MONICA (off)` and `Rachel/Monica` are the same."""
    parts = re.findall(r"\w+", BRACKETED.sub(" ", label).casefold())
    return " ".join(sorted(part for part in parts if part not in JOINING))


def words(text: str) -> str:
    plain = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').replace("…", "...")
    return " ".join(plain.casefold().split())


def spoken(text: str) -> str:
    """The words without directions, unless there are no others: sources differ in which directions they keep."""
    return " ".join(BRACKETED.sub(" ", text).split()) or text


def aligned(theirs: Sequence[Said], ours: Sequence[Said], same_speaker: bool = True) -> dict[int, int]:
    """The longest in-order matching: their line -> our line with the same words (and speaker).

    Words are the same if their fuzzy ratio is at least 90, with or without the directions in them.
    """
    if not theirs or not ours:
        return {}
    fits = np.zeros((len(theirs), len(ours)), dtype=bool)
    for form in (str, spoken):
        ratios = process.cdist(
            [form(said) for _, said in theirs],
            [form(said) for _, said in ours],
            scorer=fuzz.ratio,
            score_cutoff=FUZZY,
        )
        fits |= ratios >= FUZZY
    if same_speaker:
        fits &= (
            np.array([speaker for speaker, _ in theirs])[:, None] == np.array([speaker for speaker, _ in ours])[None, :]
        )
    best = np.zeros((len(theirs) + 1, len(ours) + 1), dtype=np.int32)
    for row in range(len(theirs)):
        matched = np.where(fits[row], best[row, :-1] + 1, best[row, 1:])
        best[row + 1, 1:] = np.maximum.accumulate(np.maximum(matched, best[row, 1:]))
    pairs: dict[int, int] = {}
    row, column = len(theirs), len(ours)
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            pairs[row] = column
    return pairs


def common_starts(theirs: Episode, ours: Episode) -> int:
    """How many scenes begin at the same place in both; each of ours is used once."""
    pairs = aligned(theirs.lines, ours.lines, same_speaker=False)
    unused = ours.scene_starts
    common = 0
    for start in sorted(theirs.scene_starts):
        # where the first line itself differs in wording, the line before it tells the place
        for index in (pairs.get(start), pairs.get(start - 1, -2) + 1):
            if index in unused:
                unused.remove(index)
                common += 1
                break
    return common
