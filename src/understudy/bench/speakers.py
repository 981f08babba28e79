"""Who is told apart at all: the speaker classifier on lines held back, and whose lines surprise whose model.

    precision   of the held-back lines given to a character, the share that is its own
    recall      of a character's held-back lines, the share given to it
    uppl        mean perplexity of a character's held-back lines under a model of the same or another character

Every tenth line is held back, and characters count alike, however many lines that is. Chance gives a line to each
character alike, so both are 1 / characters by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.bench.judged_lines import Judged
from understudy.lexical.logistic import balanced_weights
from understudy.metrics import Samples, Speakers, uppl

__all__ = ["classifier_rows", "cross_rows"]

HELD_BACK = 10  # every tenth line
NONE = {"precision": "no line was given to it", "recall": "it has too few lines to hold one back"}

Row = dict[str, Any]


def classifier_rows(samples: Samples, characters: Sequence[str], novel: str) -> list[Row]:
    """Precision and recall of each character among the speakers of its novel that are told apart."""
    kept = Samples({name: _parted(samples.lines(name))[0] for name in samples.names}, samples.language)
    rows: list[Row] = []
    for name in characters:
        speakers = Speakers(kept, always=name)
        told = {"scorer": "speaker classifier", "character": name, "novel": novel}
        if name not in speakers:
            rows += [
                {**told, "metric": metric, "value": None, "low": None, "high": None, "n": 0, "paper": None,
                 "reason": "too few lines to be told apart"}
                for metric in ("precision", "recall")
            ]  # fmt: skip
            continue
        asked = {other: _parted(samples.lines(other))[1] for other in speakers.names}
        lines = [line for some in asked.values() for line in some]
        given = speakers.probabilities(kept.tokenize(lines))[:, : len(asked)].argmax(axis=1)
        own = np.repeat(np.arange(len(asked)), [len(some) for some in asked.values()])
        counts = balanced_weights(own, len(asked))
        it = speakers.names.index(name)
        for metric, among in (("precision", given == it), ("recall", own == it)):
            right = counts[among & (given == own)].sum()
            value = float(right / counts[among].sum()) if among.any() else None
            row: Row = {**told, "metric": metric, "value": value, "low": None, "high": None}
            row |= {"n": int(among.sum()), "paper": None, "chance": 1 / len(asked)}
            rows.append(row if among.any() else {**row, "reason": NONE[metric]})
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
            values = model.values(kept.tokenize(parted[other.character][1]))
            rows.append(
                {"scorer": "uppl", "character": other.character, "under": one.character, "metric": "uppl",
                 "value": float(np.nanmean(values)), "low": None, "high": None, "n": len(values), "paper": None}
            )  # fmt: skip
    return rows


def _parted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those kept, those held back."""
    held_back = list(lines[HELD_BACK - 1 :: HELD_BACK])
    return [line for place, line in enumerate(lines, 1) if place % HELD_BACK], held_back
