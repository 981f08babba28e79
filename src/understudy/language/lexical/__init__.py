"""Text as counts: tokenized corpora, n-grams, sparse rows, logistic regression, and, here, tf-idf over bags of words:
which text is most like this one, and by which words.

    weight(t, d) = tf(t, d) * idf(t),   idf(t) = ln((1 + N) / (1 + df(t))) + 1
    score(q, d)  = sum over t of weight(t, q) * weight(t, d) / (|q| * |d|)          the cosine

A query touches only the postings of its own words. Words that stand in many texts are kept as full rows as well,
because adding a row is faster than scattering a long posting.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.language.lexical.corpus import Corpus, Lines
from understudy.language.lexical.rows import SparseRows
from understudy.text import tokenizer

__all__ = ["Corpus", "Floats", "Lines", "Query", "SparseRows", "TfIdf"]

Query = str | Sequence[str] | Mapping[str, float]
"""A text, its words, or words with weights (a word's weight stands for how often it occurs)."""

Floats = NDArray[np.float32]

ROW_SHARE = 1 / 12  # a word in more of the texts than this is kept as a row
DEPTH = 32  # texts in a lane, see `top`
TINY = float(np.finfo(np.float32).tiny)  # the least score that counts as having something in common


class TfIdf:
    """An index of texts (or of their words, already tokenized), numbered in the order given."""

    def __init__(self, texts: Iterable[str | Sequence[str]], language: str = "en") -> None:
        self._tokenize = tokenizer(language)
        self._terms: dict[str, int] = {}
        tokens, lengths = array("i"), array("i")
        for text in texts:
            words = self._tokenize(text) if isinstance(text, str) else text
            tokens.extend(self._terms.setdefault(word, len(self._terms)) for word in words)
            lengths.append(len(words))
        self._size = len(lengths)
        self._padded = -(-max(self._size, 1) // DEPTH) * DEPTH
        self._index(np.asarray(tokens, dtype=np.int64), np.asarray(lengths, dtype=np.int64))

    def _index(self, tokens: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Postings by word, then by text: the texts of word t lie at `starts[t]:starts[t + 1]`."""
        owners = np.repeat(np.arange(self._size), lengths)
        pairs, counts = np.unique(tokens * max(self._size, 1) + owners, return_counts=True)
        terms, docs = np.divmod(pairs, max(self._size, 1))
        frequencies = np.bincount(terms, minlength=len(self._terms))
        self._idf = (np.log((1 + self._size) / (1 + frequencies)) + 1).astype(np.float32)
        weights = counts * self._idf[terms]
        norms = np.sqrt(np.bincount(docs, weights**2, minlength=self._size))
        self._docs = docs.astype(np.int32)
        self._weights: Floats = (weights / norms[docs]).astype(np.float32)
        self._starts = np.concatenate(([0], np.cumsum(frequencies)))
        self._rows: dict[int, Floats] = {}
        for term in np.flatnonzero(frequencies > max(self._size * ROW_SHARE, DEPTH)).tolist():
            docs_of, weights_of = self._posting(term)
            self._rows[term] = np.zeros(self._padded, dtype=np.float32)
            self._rows[term][docs_of] = weights_of

    def __len__(self) -> int:
        return self._size

    def __contains__(self, word: str) -> bool:
        return word in self._terms

    def idf(self, word: str) -> float:
        """The inverse document frequency of a word; one that no text has gets the largest."""
        term = self._terms.get(word)
        return float(np.log(1 + self._size)) + 1 if term is None else float(self._idf[term])

    def scores(self, query: Query) -> Floats:
        """The cosine of the query with every text. Words that no text has are left out of the query."""
        return self._scores(query)[: self._size]

    def top(self, query: Query, k: int) -> list[tuple[int, float]]:
        """The k texts most like the query, best first, equals in their order.

        Texts that share no word with the query are left out, so there may be fewer.
        """
        if k <= 0:
            return []
        scores = self._scores(query)
        # Sorting all scores would take longer than finding them. Deal the texts into lanes, lane i holding the texts
        # i, i + width, i + 2 width, ...: k lanes reach the k-th best peak, so no text below it is among the k best.
        peaks = scores.reshape(DEPTH, -1).max(axis=0)
        lanes = np.flatnonzero(peaks >= _reached(peaks, k))
        docs = (np.arange(DEPTH)[:, None] * len(peaks) + lanes).ravel()
        docs = docs[scores[docs] >= _reached(scores[docs], k)]
        docs = docs[np.argsort(-scores[docs], kind="stable")[:k]]
        return list(zip(docs.tolist(), scores[docs].tolist()))

    def shared_terms(self, query: Query, doc: int) -> list[tuple[str, float]]:
        """The words a query has in common with a text and what each adds to the score, largest first."""
        shared = []
        for word, weight in self._weighted(query).items():
            docs, weights = self._posting(self._terms[word])
            index = int(np.searchsorted(docs, doc))
            if index < len(docs) and docs[index] == doc:
                shared.append((word, weight * float(weights[index])))
        return sorted(shared, key=lambda pair: -pair[1])

    def _posting(self, term: int) -> tuple[NDArray[np.int32], Floats]:
        start, end = self._starts[term], self._starts[term + 1]
        return self._docs[start:end], self._weights[start:end]

    def _weighted(self, query: Query) -> dict[str, float]:
        """The query as a vector of length 1 over the words of the index."""
        words = self._tokenize(query) if isinstance(query, str) else query
        bag = words if isinstance(words, Mapping) else Counter(words)
        weights = {
            word: count * float(self._idf[self._terms[word]])
            for word, count in bag.items()
            if word in self._terms and count > 0
        }
        norm = math.hypot(*weights.values())
        return {word: weight / norm for word, weight in weights.items()}

    def _scores(self, query: Query) -> Floats:
        scores = np.zeros(self._padded, dtype=np.float32)
        for word, weight in self._weighted(query).items():
            term = self._terms[word]
            if term in self._rows:
                scores += self._rows[term] * np.float32(weight)
            else:
                docs, weights = self._posting(term)
                np.add.at(scores, docs, weights * np.float32(weight))
        return scores


def _reached(scores: Floats, k: int) -> float:
    """The k-th best score, or the least that counts where there are fewer."""
    return max(float(np.partition(scores, -k)[-k]), TINY) if k <= len(scores) else TINY
