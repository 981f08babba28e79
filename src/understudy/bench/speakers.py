"""Who is told apart at all: the speaker classifier on lines held back, and whose lines surprise whose model.

    precision   of the held-back lines given to a character, the share that is its own
    recall      of a character's held-back lines, the share given to it
    uppl        mean perplexity of a character's held-back lines under a model of the same or another character

Every tenth line is held back. Chance gives a line to each character alike, so both are 1 / characters by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.bench.judged_lines import Judged
from understudy.metrics import Samples, Speakers, uppl

__all__ = ["classifier_rows", "cross_rows"]

HELD_BACK = 10  # every tenth line

Row = dict[str, Any]


def classifier_rows(samples: Samples, characters: Sequence[str], novel: str, seed: int) -> list[Row]:
    """Precision and recall of each character among the speakers of its novel that have enough lines."""
    kept = Samples({name: _parted(samples.lines(name))[0] for name in samples.names}, samples.language)
    rows: list[Row] = []
    for name in characters:
        speakers = Speakers(kept, always=name, seed=seed)
        told = {"scorer": "speaker classifier", "character": name, "novel": novel}
        if name not in speakers:
            rows += [
                {**told, "metric": metric, "value": None, "low": None, "high": None, "n": 0, "paper": None,
                 "reason": "too few lines to be told apart"}
                for metric in ("precision", "recall")
            ]  # fmt: skip
            continue
        asked = {other: _parted(samples.lines(other))[1] for other in speakers.names}
        fewest = min(len(lines) for lines in asked.values())
        lines = [line for some in asked.values() for line in some[:fewest]]
        given = speakers.probabilities(kept.cut(lines)).argmax(axis=1)
        own, to_it = np.repeat(np.arange(len(asked)), fewest), speakers.names.index(name)
        right = int(np.count_nonzero((given == to_it) & (own == to_it)))
        for metric, among in (("precision", int((given == to_it).sum())), ("recall", fewest)):
            row: Row = {**told, "metric": metric, "value": right / among if among else None, "low": None, "high": None}
            row |= {"n": among, "paper": None, "chance": 1 / len(asked)}
            rows.append(row if among else {**row, "reason": "no line was given to it"})
    return rows


def cross_rows(judged: Sequence[Judged]) -> list[Row]:
    """uPPL of every judged character's held-back lines under every judged character's model."""
    parted = {one.character: _parted(Samples.load(one.novel).lines(one.character)) for one in judged}
    rows: list[Row] = []
    for one in judged:
        samples = Samples.load(one.novel)
        kept = Samples(
            {name: parted[name][0] if name in parted else samples.lines(name) for name in samples.names},
            samples.language,
        )
        model = uppl(kept, one.character)
        for other in judged:
            values = model.values(kept.cut(parted[other.character][1]))
            rows.append(
                {"scorer": "uppl", "character": other.character, "under": one.character, "metric": "uppl",
                 "value": float(np.nanmean(values)), "low": None, "high": None, "n": len(values), "paper": None}
            )  # fmt: skip
    return rows


def _parted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those kept, those held back."""
    held_back = list(lines[HELD_BACK - 1 :: HELD_BACK])
    return [line for place, line in enumerate(lines, 1) if place % HELD_BACK], held_back
