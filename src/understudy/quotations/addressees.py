"""Evidence for whom a quotation is said to, given probabilities of who says each."""

from __future__ import annotations

import numpy as np

from understudy.quotations.context import Floats, NovelContext
from understudy.quotations.features import CandidatePairs, call_columns, gap_columns, turn_columns

__all__ = ["addressee_columns"]


def addressee_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """Who is called, who speaks before and after, how often the two speak beside each other."""
    at = (pairs.quotations, pairs.candidates)
    columns = {
        **call_columns(context, pairs),
        **gap_columns(context, pairs),
        **turn_columns(context, pairs, speakers),
        "speaks": speakers[at],
        "gender": context.genders[pairs.candidates],
        "narrator": (pairs.candidates == context.narrator).astype(np.float32),
    }
    beside = speakers[1:].T @ speakers[:-1]
    beside = beside + beside.T
    share = beside / np.maximum(beside.sum(1, keepdims=True), 1e-6)
    columns["beside the speaker"] = (speakers @ share)[at].astype(np.float32)
    for offset in (-1, 1):
        columns[f"another than the speaker {offset}"] = _others_near(speakers, offset)[at]
    return columns


def _others_near(speakers: Floats, direction: int) -> Floats:
    """The nearest turn that is not the speaker's: for each person, how likely it is theirs."""
    count = len(speakers)
    result = np.zeros_like(speakers)
    best = speakers.argmax(1) if speakers.shape[1] else np.zeros(count, np.int64)
    order = range(count) if direction < 0 else range(count - 1, -1, -1)
    for index in order:
        beside = index + direction
        if 0 <= beside < count:
            result[index] = result[beside] if best[beside] == best[index] else speakers[beside]
    return result
