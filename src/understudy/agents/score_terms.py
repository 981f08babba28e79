"""The terms of the ranking score beside the fit of vectors; a model without weights for them does without.

    score(c) = fit(c) + shared(c) - hubness(c)                                     see `fit`
    shared(c)  = (w_own W(own, c) + w_said W(said, c) + w_heard W(heard, c)) / (sum of the fit's weights)
    W(t, c)    = (sum of r(x)^2 over the words x of both) / (|t| |c|),   |t|^2 = sum of r(x)^2 over the words of t
    hubness(c) = w (mean of the ten largest of (w_query q_k + w_history h_k) . c over k) / (sum of the fit's weights)

Shared words are what vectors of whole texts blur. `own` is the profile, `said` what the same person has said so far,
`heard` what was said to them last; a word counts once in each. r(x) = ln((1 + N) / (1 + n(x))) + 1 is how rare the word
is in the training texts.

Hubs are points of a space of many dimensions that are near to everything: replies that suit any context a little. q_k
and h_k are the query and history vectors of a sample of training contexts, which comes with the model. Subtracting how
near a reply is to contexts it has nothing to do with leaves how near it is to this one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.encoding import Context, Floats, SentenceEncoder

__all__ = ["Hubness", "SharedWords"]

NEAREST = 10
MAX_CACHED = 50_000  # texts


class Bag(NamedTuple):
    words: frozenset[int]
    norm: float


class SharedWords:
    def __init__(self, encoder: SentenceEncoder) -> None:
        self._weights = encoder.word_weights
        self._rarity: list[float] = encoder.rarity.tolist() if self._weights else []
        self._fit_weight = sum(encoder.weights.values()) or 1.0
        self._tokenize = encoder.words
        self._text_bag = lru_cache(MAX_CACHED)(lambda text: self._bag(frozenset(self._tokenize(text))))

    def scores(self, context: Context, candidates: Sequence[str]) -> list[float]:
        """shared(c) of each candidate."""
        if not self._weights:
            return [0.0] * len(candidates)
        said = [text for mine, text in context.turns if mine]
        heard = [text for mine, text in context.turns if not mine][-1:]
        parts = [
            (self._weights.get(name, 0.0), self._joined_bag(texts))
            for name, texts in (("own", context.own), ("said", said), ("heard", heard))
        ]
        return [
            sum(weight * self._similarity(part, self._text_bag(text)) for weight, part in parts) / self._fit_weight
            for text in candidates
        ]

    def _similarity(self, first: Bag, second: Bag) -> float:
        shared = first.words & second.words
        if not shared:
            return 0.0
        return math.fsum(self._rarity[word] ** 2 for word in shared) / (first.norm * second.norm)

    def _joined_bag(self, texts: Sequence[str]) -> Bag:
        return self._bag(frozenset[int]().union(*(self._text_bag(text).words for text in texts)))

    def _bag(self, words: frozenset[int]) -> Bag:
        return Bag(words, math.sqrt(math.fsum(self._rarity[word] ** 2 for word in words)))


class Hubness:
    def __init__(self, encoder: SentenceEncoder) -> None:
        self._weight = encoder.hubness_weight / (sum(encoder.weights.values()) or 1.0)
        self._contexts = encoder.contexts.astype(np.float64) if self._weight else None
        self._cache: dict[str, float] = {}
        self._lock = Lock()  # guards the dictionary; nothing is computed under it

    def scores(self, texts: Sequence[str], vectors: Floats) -> list[float]:
        """hubness(c) of each reply, computed one by one, so that no digit depends on the other replies."""
        if self._contexts is None:
            return [0.0] * len(texts)
        with self._lock:
            scores = {text: self._cache[text] for text in texts if text in self._cache}
        missing = {text: vector for text, vector in zip(texts, vectors) if text not in scores}
        computed = {text: self._score(vector.astype(np.float64)) for text, vector in missing.items()}
        with self._lock:
            if len(self._cache) > MAX_CACHED:
                self._cache.clear()
            self._cache.update(computed)
        scores.update(computed)
        return [scores[text] for text in texts]

    def _score(self, vector: NDArray[np.float64]) -> float:
        assert self._contexts is not None
        similarity = self._contexts @ vector
        nearest = min(NEAREST, len(similarity))
        return self._weight * float(np.partition(similarity, len(similarity) - nearest)[-nearest:].mean())
