"""Copying: how much of this line repeats the persona's profile word for word?

    copying(u) = |{words of u that lie in a run of u which is also a run of a profile sentence}| / |u|

A run is three words, or a whole sentence that is shorter but has at least two: single words in common are no copying.
Runs overlap, so that a longer repetition counts in full. 0 is nothing copied, 1 everything: who collects talk about
profiles refuses lines near 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from understudy.lexical import Lines
from understudy.lexical.rows import Ints, Reals, segment_sums
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples
from understudy.text import tokenizer

__all__ = ["copying"]

RUN = 3  # words
SHORTEST = 2


def copying(samples: Samples, profile: Sequence[str]) -> LineMetric:
    """The metric for a profile; `samples` say how lines are cut."""
    return Copying(samples, profile)


class Copying(LineMetric):
    words_alone = True

    def __init__(self, samples: Samples, profile: Sequence[str]) -> None:
        cut = tokenizer(samples.language)
        self._sentences = [words for words in map(cut, profile) if len(words) >= SHORTEST]
        super().__init__("copying", samples, "" if self._sentences else "no profile of the persona")
        words = dict.fromkeys(word for sentence in self._sentences for word in sentence)
        self._numbers = {word: float(number) for number, word in enumerate(words, 1)}
        runs: dict[int, set[int]] = {SHORTEST: set(), RUN: set()}
        for sentence in self._sentences:
            length = min(len(sentence), RUN)
            numbers = [int(self._numbers[word]) for word in sentence]
            runs[length].update(self._key(numbers[at : at + length]) for at in range(len(numbers) - length + 1))
        self._runs = {length: np.array(sorted(keys), dtype=np.int64) for length, keys in runs.items() if keys}

    def measured(self, lines: Lines) -> Reals:
        copied = segment_sums(self._copied(lines)[:-1].astype(np.float64), lines.starts)
        return copied / np.maximum(lines.lengths, 1)

    def why(self, lines: Lines, place: int) -> str:
        first, last = lines.starts[place] + 1, lines.starts[place + 1]
        copied = self._copied(lines)[first:last]
        if not copied.any():
            return "repeats no run of the profile"
        told = [(there, list(run)) for there, run in groupby(zip(lines.words(place), copied), key=lambda pair: pair[1])]
        runs = [lines.corpus.joined(word for word, _ in run) for there, run in told if there]
        return f"repeats: {', '.join(runs)}"

    def _key(self, numbers: Sequence[int]) -> int:
        key = 0
        for number in numbers:
            key = key * (len(self._numbers) + 1) + number
        return key

    def _copied(self, lines: Lines) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """For every place of the lines, is its word part of a run of the profile?"""
        numbers: Ints = lines.valued(self._numbers).astype(np.int64)[lines.ids]  # 0: not a word of the profile
        copied = np.zeros(len(numbers), dtype=np.bool_)
        for length, runs in self._runs.items():
            windows = max(len(numbers) - length + 1, 0)
            keys, whole = np.zeros(windows, dtype=np.int64), np.ones(windows, dtype=np.bool_)
            for at in range(length):
                here = numbers[at : at + windows]
                keys = keys * (len(self._numbers) + 1) + here
                whole &= here > 0
            begins = np.flatnonzero(whole & np.isin(keys, runs))
            for at in range(length):
                copied[begins + at] = True
        return copied
