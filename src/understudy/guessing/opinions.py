"""What the words around a mask say about who it is: models of the main characters, each with an opinion of its own.

How far each can be believed is learned later, from opinions about scenes that it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from understudy.guessing.pooling import Vectors, learn_pooling
from understudy.guessing.terms import Terms
from understudy.lexical.logistic import fit
from understudy.lexical.rows import Ints, Reals, Rows, index_ranges

__all__ = ["MEANING", "OPINIONS", "Evidence", "Judges", "Regressed"]

C = 8.0
PRECISION = 1e-3  # beyond it nothing changes but the last digits, at eight times the time


class Regressed:
    """Logistic regression over the terms of some spaces."""

    def __init__(self, terms: Terms, counted: Rows, labels: Ints, classes: int, spaces: Sequence[str]) -> None:
        self.view = terms.view(spaces)
        self.model = fit(self.view.weighed(counted), labels, classes, C, tolerance=PRECISION)

    def scores(self, counted: Rows) -> Reals:
        """A row for each mask, a column for each main character; larger is likelier."""
        return self.view.weighed(counted).product(self.model.weights) + self.model.intercepts


OPINIONS: dict[str, Callable[[Terms, Rows, Ints, int], Regressed]] = {
    "what it says": partial(Regressed, spaces=("own", "shape")),
    "what it says and hears": partial(Regressed, spaces=("own", "heard", "answer", "shape")),
}
"""How each opinion is learned."""

MEANING = "what its lines mean"
"""The opinion of an encoder, where there is one: attention over the vectors of lines."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What opinions are made from, a row for each mask: counts of terms and, with an encoder, vectors of lines."""

    counted: Rows
    vectors: Vectors | None = None
    starts: Ints | None = None

    def some(self, rows: Ints) -> Evidence:
        if self.vectors is None or self.starts is None:
            return Evidence(self.counted.take(rows))
        lengths = np.diff(self.starts)[rows]
        places = index_ranges(self.starts[rows], lengths)
        return Evidence(self.counted.take(rows), self.vectors[places], np.concatenate(([0], np.cumsum(lengths))))


class Judges:
    """All opinions together."""

    def __init__(self, terms: Terms, evidence: Evidence, labels: Ints, classes: int) -> None:
        self.of_words = {name: learn(terms, evidence.counted, labels, classes) for name, learn in OPINIONS.items()}
        self._of_meaning = None
        if evidence.vectors is not None and evidence.starts is not None:
            self._of_meaning = learn_pooling(evidence.vectors, evidence.starts, labels, classes)

    def scores(self, evidence: Evidence) -> Reals:
        """`[mask, main character, opinion]`, meaning last; 0 where there is no encoder."""
        found = [opinion.scores(evidence.counted) for opinion in self.of_words.values()]
        if self._of_meaning is None or evidence.vectors is None or evidence.starts is None:
            found.append(np.zeros(found[0].shape))
        else:
            found.append(self._of_meaning.scores(evidence.vectors, evidence.starts))
        return np.stack(found, axis=2)
