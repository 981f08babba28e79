"""Bags of terms as sparse rows: what a linear model of a speaker sees.

A bag has several spaces (own words, words heard, ...). A term t of a space counts

    (1 + ln n(t)) * idf(t),    idf(t) = ln((1 + N) / (1 + df(t))) + 1

and each space is brought to length 1, so that one who hears much is not drowned in it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from understudy.lexical.rows import Rows

__all__ = ["Bag", "Terms"]

Bag = Mapping[str, Mapping[str, int]]
"""For each space its terms, and how often each comes up."""

FEWEST = 2  # bags that have a term, for it to be learned


class Terms:
    """The terms that some bags have in some of their spaces, numbered."""

    def __init__(self, bags: Sequence[Bag], spaces: Sequence[str]) -> None:
        self._spaces = tuple(spaces)
        seen: dict[str, Counter[str]] = {space: Counter() for space in spaces}
        for bag in bags:
            for space, counter in seen.items():
                counter.update(bag[space].keys())
        self._weights: dict[str, dict[str, tuple[int, float]]] = {}
        self._terms: list[str] = []
        for space, counter in seen.items():
            known = self._weights[space] = {}
            for term, count in counter.items():
                if count >= FEWEST:
                    known[term] = len(self._terms), math.log((1 + len(bags)) / (1 + count)) + 1
                    self._terms.append(term)

    def term(self, number: int) -> str:
        return self._terms[number]

    def rows(self, bags: Sequence[Bag]) -> Rows:
        columns: list[int] = []
        values: list[float] = []
        starts = [0]
        for bag in bags:
            found: list[tuple[int, float]] = []
            for space in self._spaces:
                known = self._weights[space]
                own = [
                    (number, (1 + math.log(count)) * idf)
                    for term, count in bag[space].items()
                    if (entry := known.get(term)) is not None
                    for number, idf in (entry,)
                ]
                length = math.hypot(*(value for _, value in own)) if own else 1.0
                found += [(number, value / length) for number, value in own]
            found.sort()
            columns += [number for number, _ in found]
            values += [value for _, value in found]
            starts.append(len(columns))
        return Rows(
            np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64), np.array(values), len(self._terms)
        )
