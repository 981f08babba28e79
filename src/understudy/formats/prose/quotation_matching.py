"""Finding quotations again in a text that was edited since.

    1  words that stand once in the list and once in the text, and are long enough to be no chance, are matched;
       each of these pairs tells by how much the text has moved there
    2  of equal words ("Yes.") those go together that have the same text around them, then those that are nearest to
       where they would stand if they had moved as their neighbours did
    3  what is left may have been edited itself: the most similar quotation near where it would stand

A pair that nothing but short equal words speaks for is no match: a decision is rather lost, and said to be, than given
to a quotation it was not made about.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from understudy.novels.prose import Prose, Quotation, Span

__all__ = ["LONGEST_QUOTE", "QuotationContext", "context_of", "match_quotations"]

LONGEST_QUOTE = 200
AROUND = 200  # characters of context that are kept
COMPARED = 30  # of them that are compared
TELLING = 25  # characters of a quotation that is not said twice by chance
NEAR = 2_000  # characters
SIMILAR = 0.75


class QuotationContext(NamedTuple):
    """A quotation's words, where it stood, and the text before and after it."""

    quote: str
    span: Span
    before: str = ""
    after: str = ""


def context_of(prose: Prose, quotation: Quotation) -> QuotationContext:
    start, end = quotation.span
    before = " ".join(prose.text[max(0, start - AROUND) : start].split())
    after = " ".join(prose.text[end : end + AROUND].split())
    return QuotationContext(prose.said(quotation)[:LONGEST_QUOTE], quotation.span, before, after)


def match_quotations(entries: Sequence[QuotationContext], prose: Prose) -> dict[int, int]:
    """The position of each entry that is found again -> the index of its quotation."""
    return _Matching(entries, prose).run() if entries else {}


class _Matching:
    def __init__(self, entries: Sequence[QuotationContext], prose: Prose) -> None:
        self.entries, self.prose = entries, prose
        self.contexts: dict[int, QuotationContext] = {}
        self.matched: dict[int, int] = {}
        self.taken: set[int] = set()
        self.starts = [quotation.span.start for quotation in prose.quotations]
        self.moved: list[tuple[int, int]] = []

    def run(self) -> dict[int, int]:
        positions, indexes = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for position, entry in enumerate(self.entries):
            positions[entry.quote].append(position)
        for index, quotation in enumerate(self.prose.quotations):
            if (quote := self.prose.said(quotation)[:LONGEST_QUOTE]) in positions:
                indexes[quote].append(index)
        for quote, same in positions.items():
            if len(same) == len(indexes[quote]) == 1 and len(quote) >= TELLING:
                self._take(same[0], indexes[quote][0])
        self.moved = sorted((self.entries[p].span.start, self.starts[i]) for p, i in self.matched.items())
        for quote, same in positions.items():
            self._match_equal(same, indexes[quote])
        for position in range(len(self.entries)):
            if position not in self.matched:
                self._match_edited(position)
        return self.matched

    def _match_equal(self, positions: Sequence[int], indexes: Sequence[int]) -> None:
        pairs = []
        for position in positions:
            if position in self.matched:
                continue
            for index in indexes:
                alike, distance = self._same_context(position, index), self._distance(position, index)
                if alike or distance <= NEAR or len(self.entries[position].quote) >= TELLING:
                    pairs.append((-alike, distance, position, index))
        for _, _, position, index in sorted(pairs):
            if position not in self.matched and index not in self.taken:
                self._take(position, index)

    def _match_edited(self, position: int) -> None:
        entry, expected = self.entries[position], self._expected(position)
        best, best_ratio = -1, SIMILAR
        for index in range(bisect_left(self.starts, expected - NEAR), bisect_left(self.starts, expected + NEAR)):
            if index in self.taken:
                continue
            said = self.prose.said(self.prose.quotations[index])[:LONGEST_QUOTE]
            matcher = SequenceMatcher(None, entry.quote, said, autojunk=False)
            if matcher.quick_ratio() > best_ratio and (ratio := matcher.ratio()) > best_ratio:
                best, best_ratio = index, ratio
        if best >= 0:
            self._take(position, best)

    def _take(self, position: int, index: int) -> None:
        self.matched[position] = index
        self.taken.add(index)

    def _same_context(self, position: int, index: int) -> int:
        """How many of the two sides read as they did."""
        entry = self.entries[position]
        if index not in self.contexts:
            self.contexts[index] = context_of(self.prose, self.prose.quotations[index])
        context = self.contexts[index]
        before = bool(entry.before) and entry.before[-COMPARED:] == context.before[-COMPARED:]
        return before + (bool(entry.after) and entry.after[:COMPARED] == context.after[:COMPARED])

    def _distance(self, position: int, index: int) -> int:
        return abs(self.starts[index] - self._expected(position))

    def _expected(self, position: int) -> int:
        """Where an entry would stand now if it had moved as the nearest one that is surely found."""
        start = self.entries[position].span.start
        at = bisect_left(self.moved, (start, 0))
        near = self.moved[max(0, at - 1) : at + 1]
        if not near:
            return start
        old, new = min(near, key=lambda pair: abs(pair[0] - start))
        return start + new - old
