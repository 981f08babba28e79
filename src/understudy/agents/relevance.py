"""Does something of a character's past bear on a message? What does not only misleads a model that is shown it.

    relevance(m, e) = sigmoid(w . features(m, e) + b)           shown from THRESHOLD on

Weights were fitted by logistic regression to 707 pairs of a message and a line of the past, marked by hand as bearing
on it or not, of 21 roles in plays, sitcoms, novels and the story that ships (benchmarks/recall_marks.jsonl; the fit is
made again by benchmarks/recall.py). Half of the roles were held back: docs/writer.md has the figures.

Shared words count by how rare they are in the character's own past: everybody says 'okay', 'want' and 'think'. Names
are a feature of their own, as somebody's name is in many lines that are not about them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass

__all__ = ["THRESHOLD", "RelevanceFeatures", "TermRarity", "bears", "bears_by_words", "relevance"]

THRESHOLD = 0.45


@dataclass(frozen=True, slots=True)
class RelevanceFeatures:
    """What is known of a message and an exchange, or a line of somebody else (which has nothing heard before it)."""

    heard_similarity: float
    said_similarity: float
    fit: float
    shared_rarity: float
    """The sum of the rarities of the words that both have, names left out."""
    is_named: float
    """Somebody whom the message names is named there too."""
    is_others: float


WEIGHTS = RelevanceFeatures(1.62, 0.05, 2.36, 0.30, 0.96, 0.73)
BIAS = -3.44
LEAST_COVERAGE = 0.5  # where there is no encoder; not fitted
SMALLEST_PAST = 200  # texts: what is in one of three is not yet a common word


class TermRarity:
    """How rare terms are among the N texts of a past: ln((max(N, 200) + 1) / (n(t) + 1/2))."""

    def __init__(self, texts: Iterable[frozenset[str]], names: frozenset[str]) -> None:
        counts: Counter[str] = Counter()
        self._texts = 0
        for terms in texts:
            counts.update(terms)
            self._texts += 1
        self._texts = max(self._texts, SMALLEST_PAST)
        self._counts: Mapping[str, int] = counts
        self._names = names

    def of(self, terms: Iterable[str]) -> float:
        return math.fsum(math.log((self._texts + 1) / (self._counts.get(term, 0) + 0.5)) for term in terms)

    def shared(self, message: frozenset[str], text: frozenset[str]) -> tuple[float, float, float]:
        """Rarity of what both have without names, the part of the message's rarity, and 1 if they share a name."""
        both = message & text
        return self.of(both - self._names), self.of(both) / (self.of(message) or 1.0), float(bool(both & self._names))


def relevance(features: RelevanceFeatures) -> float:
    score = BIAS + math.fsum(weight * value for weight, value in zip(astuple(WEIGHTS), astuple(features)))
    return 1 / (1 + math.exp(-score))


def bears(features: RelevanceFeatures) -> bool:
    return relevance(features) >= THRESHOLD


def bears_by_words(coverage: float) -> bool:
    """Of a language without an encoder: has the text at least half of what is rare in the message?"""
    return coverage >= LEAST_COVERAGE
