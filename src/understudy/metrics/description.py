"""P-F1 and P-Cover: how much of a persona's description is said in this line?

W_u are the words of the line u that are no stop words, W_i those of sentence i of the description.

    P-F1(u)    = 2 R P / (R + P),   R = max_i |W_u & W_i| / |W_i|,   P = max_i |W_u & W_i| / |W_u|
    P-Cover(u) = max_i (sum over w in W_u & W_i of a(w)) / |W_u & W_i|
    a(w)       = 1 / (1 + ln(1 + tf(w))),   tf(w) = 1e6 / rank(w)^1.07

rank(w) is the place of w among all words from the most frequent down: in a file of GloVe vectors, which lie in that
order, or in the sample lines; a word that is not there comes after all that are. The larger, the closer; a line that
shares nothing has 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from understudy.errors import InputError
from understudy.lexical import Lines, Rows
from understudy.lexical.corpus import BOUNDARY
from understudy.lexical.rows import Reals, segment_sums
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples
from understudy.text import stop_words, tokenizer

__all__ = ["glove_ranks", "p_cover", "p_f1"]

NO_DESCRIPTION = "no description of the persona"


def p_f1(samples: Samples, description: Sequence[str]) -> LineMetric:
    """The metric for a persona described in sentences; `samples` say how lines are cut."""
    return PF1(samples, description)


def p_cover(samples: Samples, description: Sequence[str], ranks: Mapping[str, int] | None = None) -> LineMetric:
    """The metric for a persona described in sentences; without `ranks`, words rank as in the sample lines."""
    return PCover(samples, description, _corpus_ranks(samples) if ranks is None else ranks)


def glove_ranks(path: Path) -> dict[str, int]:
    """The place of every word in a file of GloVe vectors: a word, a space and numbers on each line."""
    ranks: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for place, line in enumerate(file, 1):
                word, space, _ = line.partition(" ")
                if not space:
                    raise InputError("is not a GloVe file: a word and its numbers on each line", path, place)
                ranks.setdefault(word, place)
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8: give GloVe's text file, unpacked", path) from error
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error
    return ranks


def _corpus_ranks(samples: Samples) -> dict[str, int]:
    corpus = samples.corpus
    counts = np.bincount(corpus.lines.plain.ids, minlength=corpus.size)
    counts[BOUNDARY] = 0
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return {corpus.word(number): place for place, number in enumerate(order.tolist(), 1)}


class Described(LineMetric):
    """What both have in common: the telling words of each sentence, and how many of them a line has."""

    words_alone = True

    def __init__(self, name: str, samples: Samples, description: Sequence[str]) -> None:
        cut, stops = tokenizer(samples.language), stop_words(samples.language)
        self._stops = stops
        sentences = {sentence: frozenset(cut(sentence)) - stops for sentence in description}
        self._sentences = {sentence: words for sentence, words in sentences.items() if words}
        super().__init__(name, samples, "" if self._sentences else NO_DESCRIPTION)

    def _told(self, lines: Lines) -> tuple[Rows, Reals]:
        """The words of each line that are no stop words, and how many it shares with each sentence (a row each)."""
        bags = lines.bags()
        telling = bags.filter_values(lines.valued(dict.fromkeys(self._stops, 1.0))[bags.columns] == 0)
        return telling, np.stack([self._summed(lines, telling, words) for words in self._sentences.values()])

    def _summed(self, lines: Lines, telling: Rows, words: frozenset[str]) -> Reals:
        return segment_sums(lines.valued(dict.fromkeys(words, 1.0))[telling.columns], telling.starts)

    def why(self, lines: Lines, place: int) -> str:
        said = frozenset(lines.words(place))
        sentence, words = max(self._sentences.items(), key=lambda pair: self._worth(said & pair[1], pair[1]))
        if not said & words:
            return "shares no telling word with the description"
        shared = [word for word in dict.fromkeys(lines.words(place)) if word in words]
        return f"{', '.join(shared)}: {sentence}"

    def _worth(self, shared: frozenset[str], words: frozenset[str]) -> float:
        return len(shared) / len(words)


class PF1(Described):
    def __init__(self, samples: Samples, description: Sequence[str]) -> None:
        super().__init__("p_f1", samples, description)

    def measured(self, lines: Lines) -> Reals:
        telling, shared = self._told(lines)
        sizes = np.array([len(words) for words in self._sentences.values()])
        recall: Reals = (shared / sizes[:, None]).max(axis=0)
        precision: Reals = shared.max(axis=0) / np.maximum(np.diff(telling.starts), 1)
        both: Reals = np.maximum(recall + precision, np.finfo(float).tiny)  # 0 only where both are
        return 2 * recall * precision / both


class PCover(Described):
    def __init__(self, samples: Samples, description: Sequence[str], ranks: Mapping[str, int]) -> None:
        super().__init__("p_cover", samples, description)
        after_all = len(ranks) + 1
        self._weights = {
            word: 1 / (1 + float(np.log1p(1e6 / ranks.get(word, after_all) ** 1.07)))
            for words in self._sentences.values()
            for word in words
        }

    def measured(self, lines: Lines) -> Reals:
        telling, shared = self._told(lines)
        weights = lines.valued(self._weights)
        found = np.zeros(len(lines))
        for words, common in zip(self._sentences.values(), shared):
            here = lines.valued(dict.fromkeys(words, 1.0)) * weights
            found = np.maximum(found, segment_sums(here[telling.columns], telling.starts) / np.maximum(common, 1))
        return found

    def _worth(self, shared: frozenset[str], words: frozenset[str]) -> float:  # noqa: ARG002
        return sum(self._weights[word] for word in shared) / max(len(shared), 1)
