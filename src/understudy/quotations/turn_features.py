"""Evidence from who says the quotations around: those whom tags name, or the probabilities of the pass before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.quotations.context import Floats, NovelContext
from understudy.quotations.features import FAR, CandidatePairs, gender_ranks, ranks_of, shifted_rows, turn_gaps
from understudy.quotations.speech_tags import best_tag

__all__ = ["turn_columns"]

Ints = NDArray[np.int64]
NEAR_NOUN = 60  # quotations between which 'the girl' is likely to be the same
DECAY = 0.8  # of what is known of a turn, with each turn between


def turn_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """Evidence from who says the quotations around: `speakers` holds probabilities, by quotation and person."""
    columns: dict[str, Floats] = {}
    at = (pairs.quotations, pairs.candidates)
    for offset in (-4, -3, -2, -1, 1, 2, 3, 4):
        moved = shifted_rows(speakers, offset)
        columns[f"speaks {offset}"] = moved[at]
        if abs(offset) <= 2:
            columns[f"best other {offset}"] = _best_other(moved, at)
    own = speakers[at]
    total = np.cumsum(np.vstack([np.zeros((1, speakers.shape[1]), np.float32), speakers]), axis=0)
    count = len(speakers)
    for reach in (6, 15, 40):
        columns[f"speaks {reach} before"] = np.log1p(
            total[at] - total[np.maximum(pairs.quotations - reach, 0), pairs.candidates]
        )
        columns[f"speaks {reach} after"] = np.log1p(
            total[np.minimum(pairs.quotations + reach + 1, count), pairs.candidates]
            - total[pairs.quotations + 1, pairs.candidates]
        )
    columns["speaks in all"] = np.log((total[-1, pairs.candidates] - own + 0.5) / (total[-1].sum() + 1))
    gaps = turn_gaps(context)
    back_same, back_other = _alternation(speakers, gaps["gap before"], gaps["paragraphs before"])
    ahead_same, ahead_other = (
        matrix[::-1] for matrix in _alternation(speakers[::-1], gaps["gap after"][::-1], gaps["paragraphs after"][::-1])
    )
    columns["turn before"], columns["not turn before"] = back_same[at], back_other[at]
    columns["turn after"], columns["not turn after"] = ahead_same[at], ahead_other[at]
    columns["turn"] = (
        columns["turn before"] + columns["turn after"] - columns["not turn before"] - columns["not turn after"]
    )
    columns |= _noun_columns(context, pairs, speakers)
    recency = _last_speaking(speakers)
    columns["last speaks distance"] = np.minimum(np.log1p(pairs.quotations - recency[at]), FAR).astype(np.float32)
    columns["last speaks rank"] = ranks_of(recency)[at]
    columns["last speaks rank of gender"] = gender_ranks(recency, context.genders)[at]
    ahead = (count - 1) - _last_speaking(speakers[::-1])[::-1]
    columns["next speaks distance"] = np.minimum(np.log1p(ahead[at] - pairs.quotations), FAR).astype(np.float32)
    columns["next speaks rank"] = ranks_of(-ahead)[at]
    return columns


def _noun_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """Who else is tagged by the same noun ('the old gentleman', 'her mother'): the last and the next, and in all."""
    nouns = [best_tag(tags).noun for tags in context.tags]
    last, following, share = (np.zeros(context.shape, np.float32) for _ in range(3))
    by_noun: dict[str, list[int]] = {}
    for index, noun in enumerate(nouns):
        if noun:
            by_noun.setdefault(noun, []).append(index)
    for indices in by_noun.values():
        rows = np.array(indices)
        near = np.diff(rows)[:, None] <= NEAR_NOUN
        last[rows[1:]] = np.where(near, speakers[rows[:-1]], 0)
        following[rows[:-1]] = np.where(near, speakers[rows[1:]], 0)
        share[rows] = (speakers[rows].sum(0) - speakers[rows]) / len(rows)
    at = (pairs.quotations, pairs.candidates)
    return {"same noun last": last[at], "same noun next": following[at], "same noun share": share[at]}


def _best_other(speakers: Floats, at: tuple[Ints, Ints]) -> Floats:
    """The largest probability of anybody but the candidate."""
    if speakers.shape[1] < 2:
        return np.zeros(len(at[0]), np.float32)
    top = np.partition(speakers, -2, axis=1)[:, -2:]
    best, second = top[at[0], 1], top[at[0], 0]
    result: Floats = np.where(speakers[at] >= best, second, best)
    return result


def _alternation(speakers: Floats, gap: Floats, paragraphs: Floats) -> tuple[Floats, Floats]:
    """Who has this turn, if two take turns, and who has not: from the quotations before, the nearer the more.

    A quotation of the same paragraph is the same turn. The chain weakens with narration between.
    """
    same, other = np.zeros_like(speakers), np.zeros_like(speakers)
    for index in range(1, len(speakers)):
        if paragraphs[index] == 0:
            same[index] = np.minimum(speakers[index - 1] + same[index - 1], 3)
            other[index] = other[index - 1]
            continue
        link = np.float32(DECAY * np.exp(-max(0.0, float(gap[index]) - 2.0) / 2))
        same[index] = link * other[index - 1]
        other[index] = link * np.minimum(speakers[index - 1] + same[index - 1], 3)
    return same, other


def _last_speaking(speakers: Floats) -> Floats:
    """The index of the quotation before each that each person last said, more likely than not; far below 0: none."""
    rows = np.arange(len(speakers), dtype=np.float32)[:, None]
    said = np.where(speakers > 0.4, rows, -1e6).astype(np.float32)
    latest = np.maximum.accumulate(said, axis=0)
    return np.vstack([np.full((1, speakers.shape[1]), -1e6, np.float32), latest[:-1]])
