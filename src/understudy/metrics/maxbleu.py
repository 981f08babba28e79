"""MaxBLEU: how near does this line come to something the persona has said? The largest BLEU against any sample line.

    BLEU(u, r) = min(1, exp(1 - |r| / |u|)) * (p_1 * p_2 * p_3) ^ (1 / 3)
    p_n        = sum over n-grams g of min(count(g, u), count(g, r)) / (|u| - n + 1)

as multi-bleu counts it: nothing is smoothed, so a pair that shares no three words in a row has 0, and so has a
line of fewer than three words. That is what makes it fast: only pairs that meet in the postings of a trigram are looked
at, and lower orders are counted only where they could change which sample line is nearest. The larger, the closer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from understudy.language.lexical import Lines, SparseRows
from understudy.language.lexical.rows import Ints, Reals, index_ranges, segment_sums
from understudy.metrics.generation import bleu_of_counts
from understudy.metrics.line_metric import LineMetric, Samples

ORDER = 3  # words of the longest n-gram
WORK = 1 << 21  # words of sample lines looked at at once, so that memory does not grow with the lines
ROUNDING = 1e-12  # by which a bound may fall short of the score it bounds
QUOTED = 80  # characters of the sample line that is a reason


def maxbleu(samples: Samples, name: str) -> LineMetric:
    """The metric for a persona."""
    return MaxBLEU(samples, name)


class MaxBLEU(LineMetric):
    def __init__(self, samples: Samples, persona: str) -> None:
        super().__init__("maxbleu", samples, samples.lack_of(persona))
        self.persona = persona
        own = np.arange(*samples.span(persona))
        self._lengths = samples.corpus.lines.lengths[own]
        self._bags = [samples.corpus.lines.bags(n).take(own) for n in range(1, ORDER + 1)]
        self._postings = self._bags[-1].transpose()
        self._work = segment_sums(self._lengths[self._postings.columns].astype(np.float64), self._postings.starts)

    def measured(self, lines: Lines) -> Reals:
        return self.nearest(lines)[0]

    def why(self, lines: Lines, index: int) -> str:
        if lines.lengths[index] < ORDER:
            return f"has fewer than {ORDER} words"
        _, (sample,) = self.nearest(self.samples.tokenize([lines.texts[index]]))
        if sample < 0:
            return f"shares no {ORDER} words in a row with a line of {self.persona}"
        text = self.samples.lines(self.persona)[sample]
        return f"nearest: {text if len(text) <= QUOTED else text[:QUOTED] + '...'}"

    def nearest(self, lines: Lines) -> tuple[Reals, Ints]:
        """For each line the best score, and the first of the persona's lines that has it: -1 where the best is 0."""
        best, which = np.zeros(len(lines)), np.full(len(lines), -1)
        bags = [_known(lines, n) for n in range(1, ORDER + 1)]
        work = np.concatenate(([0], np.cumsum(self._work[bags[-1].columns])))[bags[-1].starts]
        for first, last in _pieces(work):
            pairs = self._meeting(bags[-1], first, last)
            lengths = lines.lengths[pairs.lines]
            leaders = _first_best(pairs.lines, _bleu(self._most(pairs, lengths), lengths, self._lengths[pairs.samples]))
            least = np.zeros(last - first)
            least[pairs.lines[leaders] - first] = self._scores(pairs.some(leaders), lengths[leaders], bags, 0.0)
            scores = self._scores(pairs, lengths, bags, least[pairs.lines - first])
            winners = _first_best(pairs.lines, scores)
            best[pairs.lines[winners]], which[pairs.lines[winners]] = scores[winners], pairs.samples[winners]
        return best, which

    def _meeting(self, bags: SparseRows, first: int, last: int) -> LinePairs:
        """The pairs of a line and a sample line that share an n-gram of the highest order, by line, then by sample."""
        span = slice(bags.starts[first], bags.starts[last])
        grams = bags.columns[span]
        begins = self._postings.starts[grams]
        lengths = self._postings.starts[grams + 1] - begins
        indices = index_ranges(begins, lengths)
        shared = np.minimum(np.repeat(bags.values[span], lengths), self._postings.values[indices])
        lines = np.repeat(np.repeat(np.arange(first, last), np.diff(bags.starts[first : last + 1])), lengths)
        keys = lines * len(self._lengths) + self._postings.columns[indices]
        order = np.argsort(keys)
        changes = np.flatnonzero(np.diff(keys[order], prepend=-1))
        line_ids, samples = np.divmod(keys[order][changes], len(self._lengths))
        return LinePairs(line_ids, samples, segment_sums(shared[order], np.append(changes, len(order))))

    def _most(self, pairs: LinePairs, lengths: Ints) -> list[Reals]:
        """How many n-grams of each order a pair shares at most: of lower orders, as many as fit into both."""
        both = np.minimum(lengths, self._lengths[pairs.samples]).astype(np.float64)
        return [*(both - n + 1 for n in range(1, ORDER)), pairs.shared]

    def _scores(self, pairs: LinePairs, lengths: Ints, bags: list[SparseRows], least: Reals | float) -> Reals:
        """The score of each pair that reaches `least`; of one that does not, something below it.

        Lower orders are counted one after another, and only for pairs that could still reach it.
        """
        theirs, shared = self._lengths[pairs.samples], self._most(pairs, lengths)
        for n in reversed(range(1, ORDER)):
            left = np.flatnonzero(_bleu(shared, lengths, theirs) * (1 + ROUNDING) >= least)
            shared[n - 1][left] = _shared(pairs.some(left), bags[n - 1], self._bags[n - 1])
        return _bleu(shared, lengths, theirs)


class LinePairs:
    """Pairs of a line and a sample line, with how many n-grams of the highest order they share."""

    def __init__(self, lines: Ints, samples: Ints, shared: Reals) -> None:
        self.lines, self.samples, self.shared = lines, samples, shared

    def some(self, indices: Ints) -> LinePairs:
        return LinePairs(self.lines[indices], self.samples[indices], self.shared[indices])


def _known(lines: Lines, n: int) -> SparseRows:
    """The n-grams of each line that the corpus has."""
    bags = lines.bags(n)
    return bags.filter_values(bags.columns < lines.corpus.size) if n == 1 else bags


def _pieces(before: Reals) -> Iterator[tuple[int, int]]:
    """Lines to look at together, from how much work stands before each; one line of too much is a piece alone."""
    first, count = 0, len(before) - 1
    while first < count:
        last = int(np.searchsorted(before, before[first] + WORK, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _shared(pairs: LinePairs, ours: SparseRows, theirs: SparseRows) -> Reals:
    """How many n-grams each pair shares, one counting as often as both have it."""
    if not len(pairs.lines):
        return np.zeros(0)
    first, last = int(pairs.lines[0]), int(pairs.lines[-1]) + 1
    span = slice(ours.starts[first], ours.starts[last])
    owners = np.repeat(np.arange(first, last), np.diff(ours.starts[first : last + 1]))
    keys, counts = owners * ours.width + ours.columns[span], ours.values[span]
    begins = theirs.starts[pairs.samples]
    lengths = theirs.starts[pairs.samples + 1] - begins
    indices = index_ranges(begins, lengths)
    wanted = np.repeat(pairs.lines * ours.width, lengths) + theirs.columns[indices]
    positions = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    both = np.where(keys[positions] == wanted, np.minimum(counts[positions], theirs.values[indices]), 0.0)
    return segment_sums(both, np.concatenate(([0], np.cumsum(lengths))))


def _bleu(shared: list[Reals], lengths: Ints, theirs: Ints) -> Reals:
    own = lengths.astype(np.float64)
    return bleu_of_counts(shared, [own - n + 1 for n in range(1, len(shared) + 1)], own, theirs.astype(np.float64))


def _first_best(groups: Ints, scores: Reals) -> Ints:
    """The place of the largest score of each group, the first of equals; groups lie together."""
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    begins = np.flatnonzero(np.diff(groups, prepend=-1))
    highest = np.repeat(np.maximum.reduceat(scores, begins), np.diff(begins, append=len(groups)))
    reached = np.flatnonzero(scores == highest)
    return reached[np.flatnonzero(np.diff(groups[reached], prepend=-1))]
