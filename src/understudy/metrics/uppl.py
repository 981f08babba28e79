"""uPPL: how surprised is a language model of this persona by the line? The perplexity of its words.

    uPPL(u, p) = exp(- mean over tokens w of u of ln P_p(w | what stands before it))

P_p is a transformer's, or by default that of a trigram model of the persona's lines (interpolated Kneser-Ney). It backs
off to the unigram frequencies of all characters and the background, so that a word which the persona happened
not to say is no surprise where it is usual. The end of the line counts as a token. The smaller, the closer. A
transformer is asked in its own tokens, for each line alone.

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

import math

import numpy as np
from numpy.typing import NDArray

from understudy.language.backends.transformer import Transformer
from understudy.language.lexical import Lines
from understudy.language.lexical.corpus import BOUNDARY, Corpus
from understudy.language.lexical.rows import Ints, Reals, segment_sums
from understudy.metrics.line_metric import LineMetric, Samples

NAMED = 3  # words or tokens named as reasons
LARGEST = 700.0  # exp of more overflows
LEAST, MOST = 0.05, 0.95  # bounds of a discount, however few counts it is estimated from


def uppl(samples: Samples, name: str) -> LineMetric:
    """The metric for a persona."""
    return NgramPerplexity(samples, name)


class NgramPerplexity(LineMetric):
    def __init__(self, samples: Samples, persona: str) -> None:
        super().__init__("uppl", samples, samples.lack_of(persona))
        own = np.zeros(len(samples.corpus.lines), dtype=np.bool_)
        own[slice(*samples.span(persona))] = True
        self._model = KneserNey(samples.corpus, own, unigram_shares(samples.corpus))

    def measured(self, lines: Lines) -> Reals:
        surprise = -np.log(self._model.probabilities(lines))
        return np.exp(segment_sums(surprise, lines.starts) / (lines.lengths + 1))

    def why(self, lines: Lines, index: int) -> str:
        words = lines.words(index)
        probabilities = self._model.probabilities(self.samples.tokenize([lines.texts[index]]))[: len(words)]
        least = list(dict.fromkeys(words[at] for at in np.argsort(probabilities, kind="stable").tolist()))[:NAMED]
        return "least expected: " + ", ".join(least)


class TransformerPerplexity(LineMetric):
    """uPPL by a transformer, in its own tokens."""

    def __init__(self, samples: Samples, model: Transformer) -> None:
        super().__init__("uppl", samples)
        self._model = model
        self._last: tuple[Lines, list[list[float]]] | None = None

    def measured(self, lines: Lines) -> Reals:
        log_probs = self._model.many(lines.texts)
        self._last = lines, log_probs  # reasons are asked for next, and need not be computed again
        return np.array([perplexity(float(np.mean(values))) if values else np.nan for values in log_probs])

    def why(self, lines: Lines, index: int) -> str:
        text = lines.texts[index]
        known = self._last is not None and self._last[0] is lines
        log_probs = self._last[1][index] if known and self._last else self._model.many([text])[0]
        tokens = self._model.tokens(text)
        least = dict.fromkeys(tokens[position] for position in np.argsort(log_probs, kind="stable").tolist())
        more = len(self._model.tokenizer(text, add_special_tokens=False)["input_ids"]) - len(tokens)
        cut = f"; {more:,} more tokens are beyond what the model reads" if more > 0 else ""
        return f"least expected: {', '.join(list(least)[:NAMED])}{cut}"


def perplexity(mean_log_prob: float) -> float:
    """exp(-mean), and a very large number where that would be larger than any."""
    return math.exp(min(-mean_log_prob, LARGEST))


# The trigram model.


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
