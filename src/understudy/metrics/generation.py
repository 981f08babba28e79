"""What replies are like as texts: BLEU, F1, how varied and how repetitive they are.

    BLEU-N  = BP * (p_1 * ... * p_N) ^ (1 / N),   BP = min(1, exp(1 - r / h))
    p_n     = sum over replies and their n-grams g of min(count(g, reply), max over references of count(g, reference))
              / sum over replies of (their n-grams)
    h, r    = words of all replies; of the references, the one nearest to its reply in length, the shorter of two

as multi-bleu counts it over a whole corpus: nothing is smoothed, so that a set without a common N-gram has 0.

    F1      = max over references of 2 P R / (P + R),   P = shared / |reply|,   R = shared / |reference|

over words, one counting as often as both have it, as ParlAI does it: lower case, every ASCII punctuation mark a blank
(so "don't" is two words), no 'a', 'an', 'the'. `overlap.unigram_f1` cuts words as the rest of Understudy does ("don't"
is one word, articles count); Japanese and Chinese, which have no blanks, are cut that way here too.

    dist-n  = different n-grams of all replies / n-grams of all replies                         (Li et al. 2016)
    rep     = mean over replies of 1 - different 4-grams / 4-grams, 0 for a reply shorter than that
                                                                              (seq-rep-4, Welleck et al. 2020)
    rep_turn = share of replies that say word for word what their speaker has said before in the dialogue

BLEU, dist and rep look at words and marks in lower case, as MaxBLEU does. dist-n falls with the number of replies: only
figures of equally many compare. A resampled set has replies twice, and so too few different n-grams; the interval of
dist-n is therefore a jackknife's: value ± 1.96 sqrt((G - 1) / G * sum over groups g of (dist without g - their mean)²).
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from understudy.language.lexical import Corpus
from understudy.language.lexical.rows import Reals
from understudy.metrics.overlap import bag_f1, unigram_f1
from understudy.metrics.statistics import Interval, Z, totals_interval
from understudy.text import UNSPACED_LANGUAGES
from understudy.text import words as words_of

ORDER = 4
REPEATED = 4  # words of a repeated n-gram
ARTICLE = re.compile(r"\b(?:a|an|the)\b")
AS_BLANKS = str.maketrans(dict.fromkeys(string.punctuation, " "))
Words = Sequence[str]


def tokenize_replies(texts: Sequence[str], language: str = "en") -> list[list[str]]:
    """The words and marks of each text, in lower case."""
    lines = Corpus(texts, language, marks=True).lines
    return [lines.words(index) for index in range(len(texts))]


def bleu_of_counts(shared: Sequence[Reals], totals: Sequence[Reals], lengths: Reals, theirs: Reals) -> Reals:
    """BLEU from counts: n-grams shared and n-grams in all by order, and the lengths of replies and of references."""
    product = np.ones(np.shape(lengths))
    for common, total in zip(shared, totals, strict=True):
        product = product * (common / np.maximum(total, 1))
    shortness = np.minimum(1.0, np.exp(1 - theirs / np.maximum(lengths, 1)))
    score: Reals = shortness * product ** (1 / len(shared))
    return score


def corpus_bleu(
    replies: Sequence[Words],
    references: Sequence[Sequence[Words]],
    order: int = ORDER,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Interval:
    """BLEU of all replies together, each with its references, and the 95% interval; texts are tokenized."""
    counts = [_bleu_counts(reply, theirs, order) for reply, theirs in zip(replies, references, strict=True)]

    def score(sums: Reals) -> Reals:
        shared, totals = ([sums[..., start + n] for n in range(order)] for start in (0, order))
        return bleu_of_counts(shared, totals, sums[..., -2], sums[..., -1])

    return totals_interval(counts, score, groups, seed)


def _bleu_counts(reply: Words, references: Sequence[Words], order: int) -> list[int]:
    """n-grams shared by order, n-grams by order, and the two lengths."""
    shared, totals = list[int](), list[int]()
    for n in range(1, order + 1):
        ours, theirs = Counter(_grams(reply, n)), Counter[tuple[str, ...]]()
        for reference in references:
            theirs |= Counter(_grams(reference, n))
        shared.append((ours & theirs).total())
        totals.append(ours.total())
    nearest = min((len(reference) for reference in references), key=lambda size: (abs(size - len(reply)), size))
    return [*shared, *totals, len(reply), nearest]


def _grams(words: Words, n: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)))


def reference_f1(reply: str, references: Sequence[str], language: str = "en") -> float:
    """F1 of one reply, the best over its references."""
    if language != "en":
        return max(unigram_f1(reply, reference, language) for reference in references)
    ours = _parlai_words(reply)
    return max(bag_f1(ours, _parlai_words(reference)) for reference in references)


def _parlai_words(text: str) -> list[str]:
    return ARTICLE.sub(" ", text.lower().translate(AS_BLANKS)).split()


def distinct(replies: Sequence[Words], n: int, groups: Sequence[Hashable] | None = None) -> Interval:
    """dist-n of all replies together, with a jackknife's 95% interval over groups."""
    owners: dict[tuple[str, ...], Hashable] = {}
    counts = Counter[Hashable]()
    only_here = Counter[Hashable]()  # n-grams that no other group has
    shared_by_groups = object()
    for index, reply in enumerate(replies):
        group = index if groups is None else groups[index]
        for gram in _grams(reply, n):
            counts[group] += 1
            owner = owners.setdefault(gram, group)
            if owner != group:
                owners[gram] = shared_by_groups
    total = counts.total()
    if not total:
        raise ValueError(f"no reply has {n} words: there is nothing to tell apart")
    only_here.update(owner for owner in owners.values() if owner is not shared_by_groups)
    value = len(owners) / total
    every = range(len(replies)) if groups is None else set(groups)
    without = [(len(owners) - only_here[group]) / (total - counts[group]) for group in every if counts[group] < total]
    if len(without) < 2:
        return Interval(value, value, value)
    error = math.sqrt((len(without) - 1) / len(without) * sum((each - np.mean(without)) ** 2 for each in without))
    return Interval(value, max(0.0, value - Z * error), min(1.0, value + Z * error))


def repeated_share(reply: Words, n: int = REPEATED) -> float:
    """Of one reply: 1 - different n-grams / n-grams."""
    grams = list(_grams(reply, n))
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def repeats_turn(reply: str, earlier: Iterable[str], language: str = "en") -> bool:
    """Does the reply say, marks aside, what one of the earlier turns said? A reply without words repeats nothing."""
    said = words_of(reply, language)
    return bool(said) and any(words_of(turn, language) == said for turn in earlier)


# Perplexity of a set of replies under a language model, and how far it tells right replies from wrong ones.
#
#     PPL(S)  = exp(- sum over replies of S of ln P(reply) / sum over replies of S of units(reply))
#     units   = words + 1 for the end of the reply   (per word: models that cut words into tokens differently compare)
#             = tokens, the end among them           (per token)
#     deltaP  = (PPL(negatives) - PPL(positives)) / (PPL(negatives) + PPL(positives))
#
# ln P(reply) is the sum of what `LanguageModel.log_probs` gives. A word is what stands between blanks; of Japanese and
# Chinese, a character. The paper of HPD takes deltaP session by session, from all negatives of a session together, and
# reports the mean: that is the mean of `delta_p_by_item`. `delta_p_of_sets` has the perplexities of all positives and
# of all negatives instead; one session with a very improbable reply weighs more in it. deltaP lies between -1 and 1
# (the paper's 0 to 1 holds where every negative is the less probable), and with it
#
#     deltaP  = tanh((ln PPL(negatives) - ln PPL(positives)) / 2)
#
# so that it does not overflow where a perplexity would. Groups (dialogues) are resampled for intervals, and the ratio
# of sums is taken anew each time.


LARGEST = 700.0  # exp of more overflows


class SetLikelihood(NamedTuple):
    """For each item the summed log-probability of its replies, and of how many units (words or tokens) it is."""

    log_probs: Sequence[float] | Reals
    units: Sequence[int] | Reals


def word_units(text: str, language: str = "en") -> int:
    """The words of a reply, and one for its end."""
    words = text.split()
    return 1 + (sum(map(len, words)) if language in UNSPACED_LANGUAGES else len(words))


def perplexity(replies: SetLikelihood, groups: Sequence[Hashable] | None = None, seed: int = 0) -> Interval:
    """PPL of all replies together, with its 95% interval."""
    return totals_interval(_columns(replies), lambda totals: np.exp(_surprise(totals)), groups, seed)


def delta_p_by_item(positive: SetLikelihood, negative: SetLikelihood) -> Reals:
    """deltaP of each item; its mean is the paper's figure."""
    return _delta(np.concatenate([_columns(positive), _columns(negative)], axis=-1))


def delta_p_of_sets(
    positive: SetLikelihood, negative: SetLikelihood, groups: Sequence[Hashable] | None = None, seed: int = 0
) -> Interval:
    """deltaP of the perplexities of all positives and all negatives, with its 95% interval."""
    columns = np.concatenate([_columns(positive), _columns(negative)], axis=-1)
    return totals_interval(columns, _delta, groups, seed)


def _columns(replies: SetLikelihood) -> Reals:
    columns = np.stack([np.asarray(values, dtype=np.float64) for values in replies], axis=-1)
    if not (columns[:, 1] > 0).all():
        raise ValueError("an item without words or tokens has no perplexity")
    return columns


def _surprise(totals: Reals) -> Reals:
    """ln PPL from the sum of log-probabilities and the number of units."""
    return np.minimum(-totals[..., 0] / totals[..., 1], LARGEST)


def _delta(totals: Reals) -> Reals:
    difference: Reals = np.tanh((_surprise(totals[..., 2:]) - _surprise(totals[..., :2])) / 2)
    return difference
