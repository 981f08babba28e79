"""Rankers whose weights are fitted on sessions: `fitted`, and `fitted+repeats`, which remembers replies as well.

    score(c) = w . z(c)              z: standardised features of the reply (`features`), w: see `choice_model`

What a session has is its features with whatever is given of the question: given nothing but the candidates, all that
is left is the reply's own text. `fitted+repeats` has one feature more: whether the reply was a candidate in another
session, where nearly all are wrong. That tells of how HPD was made (one proposal stands in many sessions), not of
replies; it says how far remembering goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.language.lexical.rows import Reals
from understudy.papers.hpd.choice_model import ChoiceModel, cross_validate, fit_choice
from understudy.papers.hpd.features import (
    ATTRIBUTES,
    NAMES_SAID,
    RELATIONS,
    SHARED_WORDS,
    FeatureGroup,
    Meaning,
    feature_rows,
    features_of,
)
from understudy.papers.hpd.own_text import OWN_TEXT
from understudy.story.dialogue import Example, Situation, Turn
from understudy.text import fold

__all__ = ["FITTED", "FITTED_AGENTS", "FittedRanker", "FittingSessions", "feature_groups"]

FITTED = "fitted"
FITTED_AGENTS = {FITTED: False, "fitted+repeats": True}
"""Whether each of them remembers the replies it was fitted on."""


def feature_groups() -> list[FeatureGroup]:
    """All but the reranker's, which not every installation has."""
    return [OWN_TEXT, SHARED_WORDS, NAMES_SAID, Meaning(), ATTRIBUTES, RELATIONS]


@dataclass(frozen=True, slots=True)
class FittingSessions:
    """Sessions with the features of their candidates, on which rankers are fitted and judged."""

    examples: Sequence[Example]
    groups: Sequence[FeatureGroup]
    rows: Sequence[Reals]

    def fit(self, indices: Sequence[int], remembers: bool = False) -> FittedRanker:
        """A ranker that has seen these sessions, and no others."""
        signs = [feature.sign for feature in features_of(self.groups)]
        rows, gold = [self.rows[index] for index in indices], [self.examples[index].gold for index in indices]
        if not remembers:
            return FittedRanker(self.groups, fit_choice(rows, gold, signs))
        texts = [[fold(text) for text in self.examples[index].candidates] for index in indices]
        sessions = Counter(text for own in texts for text in set(own))
        rows = [_with_repeats(row, [sessions[text] > 1 for text in own]) for row, own in zip(rows, texts)]
        return FittedRanker(self.groups, fit_choice(rows, gold, [*signs, -1]), frozenset(sessions))

    def scores(self, ranker: FittedRanker, index: int) -> list[float]:
        return ranker.choose(self.rows[index], self.examples[index].candidates)

    def held_out_scores(self, scenes: Sequence[str], remembers: bool, seed: int) -> list[list[list[float]]]:
        """For each repeat of the cross-validation, scores of every session by a ranker that has not seen it."""
        return cross_validate(scenes, lambda indices: self.fit(indices, remembers), self.scores, seed)


@dataclass(frozen=True, slots=True)
class FittedRanker:
    """A ranker: features and their weights; and the candidates it remembers, if it does."""

    groups: Sequence[FeatureGroup]
    model: ChoiceModel
    remembered: frozenset[str] | None = None

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        example = Example(situation, tuple(history), tuple(candidates), frozenset())
        return self.choose(feature_rows(self.groups, [example])[0], candidates) if candidates else []

    def choose(self, rows: Reals, candidates: Sequence[str]) -> list[float]:
        """The scores of candidates whose features are known."""
        if self.remembered is not None:
            rows = _with_repeats(rows, [fold(text) in self.remembered for text in candidates])
        return self.model.scores(rows)

    def weights(self) -> dict[str, float]:
        names = [feature.name for feature in features_of(self.groups)]
        names += [] if self.remembered is None else ["repeated"]
        return {name: round(float(weight), 4) for name, weight in zip(names, self.model.weights, strict=True)}


def _with_repeats(rows: Reals, repeated: Sequence[bool]) -> Reals:
    return np.column_stack([rows, np.array(repeated, dtype=np.float64)])
