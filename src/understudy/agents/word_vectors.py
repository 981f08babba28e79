"""Texts as bags of words: the sum of their words' vectors.

A word that was never seen in training has a vector all the same, made from its spelling: random signs for the word and
for each run of three to five letters in it, drawn by a hash. Training begins with the same vectors, made shorter for
common words. So an unseen word is like itself and like words spelled alike, and unlike all others, as in tf-idf.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from understudy.lexical import Floats
from understudy.text import words

__all__ = ["WordVectors", "spelled", "unit"]

CACHED_TEXTS = 1 << 15
CACHED_WORDS = 1 << 12
NGRAM_LENGTHS = (3, 4, 5)
MAX_LETTERS = 64  # of a word that count


class WordVectors:
    """The vectors of a vocabulary, and of any text."""

    def __init__(self, vocabulary: Sequence[str], rows: Floats) -> None:
        self.width = rows.shape[1]
        self._row_of = {word: row for row, word in enumerate(vocabulary)}
        self._rows = rows
        self._unseen = lru_cache(CACHED_WORDS)(lambda word: spelled(word, self.width))
        # Messages and profiles are wanted as sums, candidates as directions, so no text is cached twice.
        self.of = lru_cache(CACHED_TEXTS)(self.uncached)
        self.direction = lru_cache(CACHED_TEXTS)(lambda text, language="en": unit(self.uncached(text, language)))

    def uncached(self, text: str, language: str = "en") -> Floats:
        """The sum of the vectors of a text's words."""
        tokens = words(text, language)
        known = [self._row_of[word] for word in tokens if word in self._row_of]
        total: Floats = self._rows[known].sum(axis=0, dtype=np.float32)
        for word in tokens:
            if word not in self._row_of:
                total = total + self._unseen(word)
        return total


def spelled(word: str, width: int) -> Floats:
    """A vector of length about 1 for a word, from its letters alone."""
    marked = f"<{word[:MAX_LETTERS]}>"
    ngrams = [
        f"#{marked[start : start + length]}" for length in NGRAM_LENGTHS for start in range(len(marked) - length + 1)
    ]
    signs = _signs([word, *ngrams], width)
    total = signs[0] + signs[1:].sum(axis=0) / math.sqrt(len(ngrams) or 1)
    vector: Floats = (total / math.sqrt(width * (2 if ngrams else 1))).astype(np.float32)
    return vector


def unit(vector: Floats) -> Floats:
    """The same direction, length 1; the zero vector is returned as it is."""
    length = np.float32(math.sqrt(float(np.dot(vector, vector))))
    return vector / length if length > 0 else vector


def _signs(texts: Sequence[str], width: int) -> NDArray[np.int64]:
    """1 and -1, as many as the vector is wide, a row a text."""
    size = -(-width // 8)
    drawn = b"".join(hashlib.shake_128(text.encode("utf-8", "surrogatepass")).digest(size) for text in texts)
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8).reshape(len(texts), size), axis=1, count=width)
    return bits.astype(np.int64) * 2 - 1
