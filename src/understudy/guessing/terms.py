"""Bags of terms as sparse rows: what a linear model of a speaker sees.

A bag has several spaces (own words, words heard, ...), and a term of one is another in another. Terms are counted once;
each model takes the spaces it wants. There a term t counts

    (1 + ln n(t)) * idf(t),    idf(t) = ln((1 + N) / (1 + df(t))) + 1

and each space is brought to length 1, so that one who hears much is not drowned in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.lexical.rows import Ints, Reals, Rows

__all__ = ["Bag", "Terms", "View"]

Bag = Mapping[str, Mapping[str, int]]
"""For each space its terms, and how often each comes up."""

FEWEST = 2  # bags that have a term, for it to be learned
FEWEST_PAIRS = 3  # the same for a pair of words


class Terms:
    """The terms that some bags have, numbered space by space."""

    def __init__(self, bags: Sequence[Bag], spaces: Sequence[str]) -> None:
        self.spaces = tuple(spaces)
        self._numbers: dict[str, dict[str, int]] = {}
        self._terms: list[str] = []
        frequencies: list[int] = []
        self._ends: list[int] = []
        for space in spaces:
            seen: Counter[str] = Counter()
            for bag in bags:
                seen.update(bag[space].keys())
            kept = [term for term, count in seen.items() if count >= (FEWEST_PAIRS if " " in term else FEWEST)]
            first = len(self._terms)
            self._numbers[space] = dict(zip(kept, range(first, first + len(kept))))
            self._terms += kept
            frequencies += [seen[term] for term in kept]
            self._ends.append(len(self._terms))
        self._idf = np.log((1 + len(bags)) / (1 + np.array(frequencies, dtype=np.float64))) + 1

    def __len__(self) -> int:
        return len(self._terms)

    def term(self, number: int) -> str:
        return self._terms[number]

    def space(self, number: int) -> str:
        return self.spaces[int(np.searchsorted(self._ends, number, side="right"))]

    def space_of(self) -> list[str]:
        """The space of each term."""
        counts = np.diff([0, *self._ends]).tolist()
        return [space for space, count in zip(self.spaces, counts) for _ in range(count)]

    def words(self, space: str) -> tuple[Ints, Reals]:
        """For every term, in whatever space, its number among the single words of one space (-1: it is none); and
        how rare each of those is, as ln((1 + N) / (1 + df))."""
        known = {term: place for place, term in enumerate(term for term in self._numbers[space] if " " not in term)}
        rarity = self._idf[[self._numbers[space][term] for term in known]] - 1
        return np.array([known.get(term, -1) for term in self._terms], dtype=np.int64), rarity

    def counted(self, bags: Sequence[Bag]) -> Rows:
        """How often each bag has each term; terms that are not known are left out."""
        columns: list[int] = []
        counts: list[int] = []
        starts = [0]
        for bag in bags:
            found: dict[int, int] = {}
            for space, known in self._numbers.items():
                found.update((known[term], count) for term, count in bag[space].items() if term in known)
            for number in sorted(found):
                columns.append(number)
                counts.append(found[number])
            starts.append(len(columns))
        return Rows(
            np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64),
            np.array(counts, dtype=np.float64), len(self._terms),
        )  # fmt: skip

    def view(self, spaces: Sequence[str]) -> View:
        """Some of the spaces, as a model sees them."""
        begins = [0, *self._ends]
        wanted = np.zeros(len(self._terms), dtype=np.bool_)
        which = np.zeros(len(self._terms), dtype=np.int64)
        for place, space in enumerate(spaces):
            at = self.spaces.index(space)
            wanted[begins[at] : begins[at + 1]] = True
            which[begins[at] : begins[at + 1]] = place
        return View(np.flatnonzero(wanted), which, np.where(wanted, self._idf, 0.0), len(spaces))


@dataclass(frozen=True, slots=True)
class View:
    """The terms of some spaces, numbered anew: `numbers` are those they have among all."""

    numbers: Ints
    which: Ints
    idf: Reals
    spaces: int

    def counts(self, counted: Rows) -> Rows:
        """The counts of these terms alone."""
        kept = counted.filter_values(self.idf[counted.columns] > 0)
        return Rows(kept.starts, np.searchsorted(self.numbers, kept.columns), kept.values, len(self.numbers))

    def weighed(self, counted: Rows) -> Rows:
        """Terms by how much they count."""
        kept = counted.filter_values(self.idf[counted.columns] > 0)
        values = (1 + np.log(kept.values)) * self.idf[kept.columns]
        stretch = kept.owners * self.spaces + self.which[kept.columns]
        lengths = np.sqrt(np.bincount(stretch, values**2))
        columns = np.searchsorted(self.numbers, kept.columns)
        return Rows(kept.starts, columns, values / lengths[stretch], len(self.numbers))
