"""An interpolated Kneser-Ney trigram language model, in plain numpy.

    P_3(w | u v) = max(c(u v w) - D_3, 0) / c(u v .)  +  D_3 * N(u v .) / c(u v .) * P_2(w | v)
    P_2(w | v)   = the same with a(v w) in the place of c, and P_1
    P_1(w)       = the same with a(w), and P_0(w)

c counts; a counts how many different words come before; N(h .) is how many different words come after h, and
D = n_1 / (n_1 + 2 n_2), n_k being how many counts are k. The first word of a line has only the boundary before it, and
nothing precedes that, so there P_2 uses counts as P_3 does. The words of the corpus, the end of a line, and one that
stands for all unknown words: over these every P sums to 1. An unseen history backs off to the next shorter one. P_0 is
the same for all words by default, or the relative frequencies of the whole corpus (`unigram_shares`):

    P_0(w) = 1/2 c(w) / c(.) + 1/2 1 / V          an unknown word counts as one that was said once
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.language.lexical.corpus import BOUNDARY, Corpus, Lines
from understudy.language.lexical.rows import Ints, Reals

__all__ = ["KneserNey", "unigram_shares"]

LEAST, MOST = 0.05, 0.95  # bounds of a discount, however few counts it is estimated from


class KneserNey:
    """The model of some lines of a corpus; histories and words are the corpus's ids."""

    def __init__(self, corpus: Corpus, chosen: NDArray[np.bool_], base: Reals | None = None) -> None:
        self._size = corpus.size
        lines = corpus.lines
        positions = np.append(np.repeat(chosen, lines.lengths + 1), False)  # no n-gram begins at the last boundary
        pairs, triples = lines.grams(2), lines.grams(3)
        endings = np.zeros(corpus.grams(3), dtype=np.int64)  # the pair that a triple ends with
        there = np.flatnonzero(triples >= 0)
        endings[triples[there]] = pairs[there + 1]

        seen_triples = np.bincount(triples[positions & (triples >= 0)], minlength=corpus.grams(3))
        seen_pairs = np.bincount(pairs[positions & (pairs >= 0)], minlength=corpus.grams(2))
        firsts, lasts = corpus.split(2)
        before_pair = np.bincount(endings[seen_triples > 0], minlength=corpus.grams(2))
        before_pair = np.where(firsts == BOUNDARY, seen_pairs, before_pair)
        before_word = np.bincount(lasts[seen_pairs > 0], minlength=self._size)

        self._triples, self._after_pair = _shares(seen_triples, corpus.split(3)[0], corpus.grams(2))
        self._pairs, self._after_word = _shares(before_pair, firsts, self._size)
        words, left = _shares(before_word, np.zeros(self._size, dtype=np.int64), 1)
        # The last of them stands for unknown words.
        self._words = words + left[0] * (np.full(self._size + 1, 1 / (self._size + 1)) if base is None else base)

    def probabilities(self, lines: Lines) -> Reals:
        """For every position but the first, the probability of its word (or of the end of the line) there."""
        pairs, triples = lines.grams(2), lines.grams(3)
        words = np.minimum(lines.ids, self._size)
        result: Reals = self._words[words[1:]]
        result = self._pairs[pairs[:-1]] + self._after_word[words[:-1]] * result
        result[1:] = self._triples[triples[:-2]] + self._after_pair[pairs[:-2]] * result[1:]
        return result


def unigram_shares(corpus: Corpus) -> Reals:
    """How often each word of a corpus is said, the end of a line among them; the last stands for unknown words."""
    counts = np.bincount(corpus.lines.ids[1:], minlength=corpus.size)
    counts = np.append(counts, 1)
    shares: Reals = (counts / counts.sum() + 1 / len(counts)) / 2
    return shares


def _shares(counts: Ints, histories: Ints, size: int) -> tuple[Reals, Reals]:
    """Each count's discounted share, and the mass each history leaves to shorter ones; the last of both is for -1."""
    singletons, doubletons = int(np.count_nonzero(counts == 1)), int(np.count_nonzero(counts == 2))
    discount = min(max(singletons / max(singletons + 2 * doubletons, 1), LEAST), MOST)
    totals = np.bincount(histories, counts, minlength=size)
    followers = np.bincount(histories[counts > 0], minlength=size)
    shares = np.maximum(counts - discount, 0) / np.maximum(totals, 1)[histories]
    left = np.where(totals > 0, discount * followers / np.maximum(totals, 1), 1.0)
    return np.append(shares, 0.0), np.append(left, 1.0)
