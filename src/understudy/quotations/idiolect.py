"""Own words: how much more likely a candidate's words make a quotation than everybody's words do.

    score(q, c) = sum over words w of q of  ln((n_cw + a b_w) / (n_c + a)) - ln b_w

n_cw is how often c says w, as far as speakers are known, b_w the share of w in all that is said, a the weight of b. So
that a quotation is not judged by its own words, those of every other stretch of quotations are counted apart: each
stretch is judged by the words of the other half.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from understudy.quotations.context import Floats, NovelContext
from understudy.quotations.features import CandidatePairs
from understudy.quotations.words import NARRATION

__all__ = ["idiolect_columns"]

Ints = NDArray[np.int64]
MARKS = re.compile(r"[!?;:—]|--|\.\.\.|_")
STRETCH = 25  # quotations
FEWEST = 3  # times that a word is said, to be counted
MOST_WORDS = 3_000
PRIOR = 200.0  # a
BOUND = 2.0  # of a word's logarithm


def idiolect_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """`speakers` holds probabilities, by quotation and person."""
    quotations, words, size = _said(context)
    likeliest = speakers.argmax(1)
    weight = speakers.max(1)
    half = (np.arange(len(speakers)) // STRETCH) % 2
    scores = np.zeros(len(pairs), np.float32)
    lengths = np.bincount(quotations, minlength=len(speakers)).astype(np.float32)
    if size:
        share = np.bincount(words, minlength=size) / len(words)
        width = len(pairs) // len(pairs.starts)
        people = pairs.candidates.reshape(-1, width)
        totals = np.zeros((len(speakers), width))
        for side in (0, 1):
            counts = np.zeros((context.shape[1], size))
            learned = half[quotations] != side
            np.add.at(counts, (likeliest[quotations[learned]], words[learned]), weight[quotations[learned]])
            ratio = (counts + PRIOR * share) / (counts.sum(1, keepdims=True) + PRIOR) / share
            logs = np.clip(np.log(ratio), -BOUND, BOUND)
            judged = half[quotations] == side
            rows, spoken = quotations[judged], words[judged]
            np.add.at(totals, rows, logs[people[rows], spoken[:, None]])
        scores = totals.ravel().astype(np.float32)
    spread: Floats = (scores / np.sqrt(lengths[pairs.quotations] + 5)).astype(np.float32)
    best = np.maximum.reduceat(spread, pairs.starts)[pairs.quotations] if len(pairs) else spread
    return {"own words": scores, "own words by length": spread, "own words below best": spread - best}


def _said(context: NovelContext) -> tuple[Ints, Ints, int]:
    """The quotation and the number of each word that is said often enough, and how many such words there are.

    Marks of punctuation and the first word of a quotation are words of their own.
    """
    inside = np.flatnonzero(context.words.quotations != NARRATION)
    lowered = context.words.lowered
    said = [lowered[index] for index in inside.tolist()]
    owners = context.words.quotations[inside].tolist()
    for index, quotation in enumerate(context.prose.quotations):
        text = context.prose.said(quotation)
        marks = MARKS.findall(text)
        opening = text.split(maxsplit=1)[:1]
        said += [*marks, *(f"{word.lower()}..." for word in opening)]
        owners += [index] * (len(marks) + len(opening))
    common = [word for word, count in Counter(said).most_common(MOST_WORDS) if count >= FEWEST]
    numbers = {word: number for number, word in enumerate(common)}
    indices = np.array([numbers.get(word, -1) for word in said], np.int64)
    kept = indices >= 0
    return np.array(owners, np.int64)[kept], indices[kept], len(common)
