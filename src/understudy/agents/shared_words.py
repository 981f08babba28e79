"""The words a reply has in common with who says it and with what was said: what vectors of whole texts blur.

    words(c) = (w_own W(own, c) + w_said W(said, c) + w_heard W(heard, c)) / (sum of the fit's weights)
    W(t, c)  = (sum of r(x)^2 over the words x of both) / (|t| |c|),   |t|^2 = sum of r(x)^2 over the words of t

`own` is the profile, `said` what the same person has said so far, `heard` what was said to them last; a word counts
once in each. r(x) = ln((1 + N) / (1 + n(x))) + 1 tells how rare the word is in the texts the model was trained on.
The weights come with the model; one without them does without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from understudy.encoding import Context, SentenceEncoder

__all__ = ["SharedWords"]

KEPT = 50_000  # texts whose words are remembered


class Bag(NamedTuple):
    words: frozenset[int]
    length: float


class SharedWords:
    def __init__(self, encoder: SentenceEncoder) -> None:
        self._weights = encoder.word_weights
        self._rarity: list[float] = encoder.rarity.tolist() if self._weights else []
        self._sum = sum(encoder.weights.values()) or 1.0
        self._cut = encoder.words
        self._of_text = lru_cache(KEPT)(self._bag_of_one)

    def of(self, context: Context, candidates: Sequence[str]) -> list[float]:
        """What is to be added to the fit of each candidate."""
        if not self._weights:
            return [0.0] * len(candidates)
        said = [text for mine, text in context.turns if mine]
        heard = [text for mine, text in context.turns if not mine][-1:]
        sides = [
            (self._weights.get(name, 0.0), self._bag(texts))
            for name, texts in (("own", context.own), ("said", said), ("heard", heard))
        ]
        return [
            sum(weight * self._likeness(side, self._of_text(text)) for weight, side in sides) / self._sum
            for text in candidates
        ]

    def _likeness(self, one: Bag, other: Bag) -> float:
        shared = one.words & other.words
        if not shared:
            return 0.0
        return math.fsum(self._rarity[word] ** 2 for word in shared) / (one.length * other.length)

    def _bag(self, texts: Sequence[str]) -> Bag:
        return self._made(frozenset[int]().union(*(self._of_text(text).words for text in texts)))

    def _bag_of_one(self, text: str) -> Bag:
        return self._made(frozenset(self._cut(text)))

    def _made(self, words: frozenset[int]) -> Bag:
        return Bag(words, math.sqrt(math.fsum(self._rarity[word] ** 2 for word in words)))
