"""Words that a line shares with a text: P-F1, P-Cover and copying (of a persona's description), unigram F1.

W_u are the words of the line u that are no stop words, W_i those of sentence i of the description.

    P-F1(u)    = 2 R P / (R + P),   R = max_i |W_u & W_i| / |W_i|,   P = max_i |W_u & W_i| / |W_u|
    P-Cover(u) = max_i (sum over w in W_u & W_i of a(w)) / |W_u & W_i|
    a(w)       = 1 / (1 + ln(1 + tf(w))),   tf(w) = 1e6 / rank(w)^1.07

    copying(u) = |{words of u that lie in a run of u which is also a run of a sentence of the description}| / |u|

rank(w) is the rank of w among all words from the most frequent down: in a file of GloVe vectors, which are in that
order, or in the sample lines; a word that is not there comes after all that are. A run is three words, or a whole
sentence that is shorter but has at least two: single words in common are no copying. Runs overlap, so that a longer
repetition counts in full. All are 0 where nothing is shared; lines collected about profiles are refused near a copying
of 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from understudy.errors import InputError
from understudy.language.lexical import Lines, SparseRows
from understudy.language.lexical.corpus import BOUNDARY
from understudy.language.lexical.rows import Ints, Reals, segment_sums
from understudy.metrics.line_metric import LineMetric, Samples
from understudy.text import stop_words, tokenizer
from understudy.text import words as words_of

NO_DESCRIPTION = "no description of the persona"

RUN = 3  # words
SHORTEST = 2


def p_f1(samples: Samples, description: Sequence[str]) -> LineMetric:
    """The metric for a persona described in sentences; `samples` say how lines are tokenized."""
    return PF1(samples, description)


def p_cover(samples: Samples, description: Sequence[str], ranks: Mapping[str, int] | None = None) -> LineMetric:
    """The metric for a persona described in sentences; without `ranks`, words rank as in the sample lines."""
    return PCover(samples, description, corpus_ranks(samples) if ranks is None else ranks)


def glove_ranks(path: Path) -> dict[str, int]:
    """The rank of every word in a file of GloVe vectors: a word, a space and numbers on each line."""
    ranks: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for rank, line in enumerate(file, 1):
                word, space, _ = line.partition(" ")
                if not space:
                    raise InputError("is not a GloVe file: a word and its numbers on each line", path, rank)
                ranks.setdefault(word, rank)
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8: give GloVe's text file, unpacked", path) from error
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error
    return ranks


def corpus_ranks(samples: Samples) -> dict[str, int]:
    """The rank of every word in the sample lines and their background."""
    corpus = samples.corpus
    counts = np.bincount(corpus.lines.plain.ids, minlength=corpus.size)
    counts[BOUNDARY] = 0
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return {corpus.word(number): rank for rank, number in enumerate(order.tolist(), 1)}


class DescriptionMetric(LineMetric):
    """What P-F1 and P-Cover have in common: the content words of each sentence, and how many of them a line has."""

    words_alone = True

    def __init__(self, name: str, samples: Samples, description: Sequence[str]) -> None:
        cut, stops = tokenizer(samples.language), stop_words(samples.language)
        self._stops = stops
        sentences = {sentence: frozenset(cut(sentence)) - stops for sentence in description}
        self._sentences = {sentence: words for sentence, words in sentences.items() if words}
        super().__init__(name, samples, "" if self._sentences else NO_DESCRIPTION)

    def _shared_counts(self, lines: Lines) -> tuple[SparseRows, Reals]:
        """The words of each line that are no stop words, and how many it shares with each sentence (a row each)."""
        bags = lines.bags()
        content = bags.filter_values(lines.valued(dict.fromkeys(self._stops, 1.0))[bags.columns] == 0)
        return content, np.stack([self._summed(lines, content, words) for words in self._sentences.values()])

    def _summed(self, lines: Lines, content: SparseRows, words: frozenset[str]) -> Reals:
        return segment_sums(lines.valued(dict.fromkeys(words, 1.0))[content.columns], content.starts)

    def why(self, lines: Lines, index: int) -> str:
        said = frozenset(lines.words(index))
        sentence, words = max(self._sentences.items(), key=lambda pair: self._worth(said & pair[1], pair[1]))
        if not said & words:
            return "shares no telling word with the description"
        shared = [word for word in dict.fromkeys(lines.words(index)) if word in words]
        return f"{', '.join(shared)}: {sentence}"

    def _worth(self, shared: frozenset[str], words: frozenset[str]) -> float:
        return len(shared) / len(words)


class PF1(DescriptionMetric):
    def __init__(self, samples: Samples, description: Sequence[str]) -> None:
        super().__init__("p_f1", samples, description)

    def measured(self, lines: Lines) -> Reals:
        content, shared = self._shared_counts(lines)
        sizes = np.array([len(words) for words in self._sentences.values()])
        recall: Reals = (shared / sizes[:, None]).max(axis=0)
        precision: Reals = shared.max(axis=0) / np.maximum(np.diff(content.starts), 1)
        both: Reals = np.maximum(recall + precision, np.finfo(float).tiny)  # 0 only where both are
        return 2 * recall * precision / both


class PCover(DescriptionMetric):
    def __init__(self, samples: Samples, description: Sequence[str], ranks: Mapping[str, int]) -> None:
        super().__init__("p_cover", samples, description)
        after_all = len(ranks) + 1
        self._weights = {
            word: 1 / (1 + float(np.log1p(1e6 / ranks.get(word, after_all) ** 1.07)))
            for words in self._sentences.values()
            for word in words
        }

    def measured(self, lines: Lines) -> Reals:
        content, shared = self._shared_counts(lines)
        weights = lines.valued(self._weights)
        best = np.zeros(len(lines))
        for words, common in zip(self._sentences.values(), shared):
            here = lines.valued(dict.fromkeys(words, 1.0)) * weights
            best = np.maximum(best, segment_sums(here[content.columns], content.starts) / np.maximum(common, 1))
        return best

    def _worth(self, shared: frozenset[str], words: frozenset[str]) -> float:  # noqa: ARG002
        return sum(self._weights[word] for word in shared) / max(len(shared), 1)


def copying(samples: Samples, profile: Sequence[str]) -> LineMetric:
    """The metric for a profile; `samples` say how lines are tokenized."""
    return Copying(samples, profile)


class Copying(LineMetric):
    words_alone = True

    def __init__(self, samples: Samples, profile: Sequence[str]) -> None:
        cut = tokenizer(samples.language)
        self._sentences = [words for words in map(cut, profile) if len(words) >= SHORTEST]
        super().__init__("copying", samples, "" if self._sentences else "no profile of the persona")
        words = dict.fromkeys(word for sentence in self._sentences for word in sentence)
        self._numbers = {word: float(number) for number, word in enumerate(words, 1)}
        texts: dict[int, set[int]] = {SHORTEST: set(), RUN: set()}
        for sentence in self._sentences:
            length = min(len(sentence), RUN)
            numbers = [int(self._numbers[word]) for word in sentence]
            texts[length].update(self._key(numbers[at : at + length]) for at in range(len(numbers) - length + 1))
        self._runs = {length: np.array(sorted(keys), dtype=np.int64) for length, keys in texts.items() if keys}

    def measured(self, lines: Lines) -> Reals:
        copied = segment_sums(self._copied(lines)[:-1].astype(np.float64), lines.starts)
        return copied / np.maximum(lines.lengths, 1)

    def why(self, lines: Lines, index: int) -> str:
        first, last = lines.starts[index] + 1, lines.starts[index + 1]
        copied = self._copied(lines)[first:last]
        if not copied.any():
            return "repeats no run of the profile"
        runs_by_copied = [
            (there, list(run)) for there, run in groupby(zip(lines.words(index), copied), key=lambda pair: pair[1])
        ]
        texts = [lines.corpus.joined(word for word, _ in run) for there, run in runs_by_copied if there]
        return f"repeats: {', '.join(texts)}"

    def _key(self, numbers: Sequence[int]) -> int:
        key = 0
        for number in numbers:
            key = key * (len(self._numbers) + 1) + number
        return key

    def _copied(self, lines: Lines) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """For every position of the lines, is its word part of a run of the profile?"""
        numbers: Ints = lines.valued(self._numbers).astype(np.int64)[lines.ids]  # 0: not a word of the profile
        copied = np.zeros(len(numbers), dtype=np.bool_)
        for length, texts in self._runs.items():
            windows = max(len(numbers) - length + 1, 0)
            keys, whole = np.zeros(windows, dtype=np.int64), np.ones(windows, dtype=np.bool_)
            for at in range(length):
                here = numbers[at : at + windows]
                keys = keys * (len(self._numbers) + 1) + here
                whole &= here > 0
            begins = np.flatnonzero(whole & np.isin(keys, texts))
            for at in range(length):
                copied[begins + at] = True
        return copied


def unigram_f1(said: str, meant: str, language: str = "en") -> float:
    """`bag_f1` of two texts' words."""
    return bag_f1(words_of(said, language), words_of(meant, language))


def bag_f1(said: Sequence[str], meant: Sequence[str]) -> float:
    """F1 = 2 * shared / (|said| + |meant|), over words, a word counting as often as both have it; 0 without words."""
    total = len(said) + len(meant)
    return 2 * (Counter(said) & Counter(meant)).total() / total if total else 0.0
