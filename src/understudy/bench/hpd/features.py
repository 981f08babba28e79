"""Features of a candidate reply: numbers that a choice among replies can be fitted on.

A group computes some features of every candidate of a question, from the parts of the question that it reads; a part
that is withheld leaves them 0 for all candidates alike. A feature never depends on the other candidates. Where it is
known beforehand which way a feature counts, it says so by its sign (see `choice_model`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from understudy.dialogue import Example
from understudy.lexical.rows import Reals
from understudy.progress import Progress, ignore_progress

__all__ = ["Feature", "FeatureGroup", "SlowFeatures", "TextFeatures", "feature_rows", "features_of"]


class Feature(NamedTuple):
    """`sign` is 1 where more of it can only speak for a reply, -1 where only against it, 0 where that is open."""

    name: str
    sign: int = 0


class FeatureGroup(Protocol):
    @property
    def features(self) -> Sequence[Feature]: ...

    def values(self, example: Example) -> Reals:
        """A row for each candidate, a column for each feature."""
        ...


@runtime_checkable
class SlowFeatures(Protocol):
    """A group that takes long, and is told beforehand what it will be asked, so that it can say how far it is."""

    def precompute(self, examples: Sequence[Example], progress: Progress) -> None: ...


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """Features that are functions of one candidate's text, prepared once for each question."""

    features: Sequence[Feature]
    prepare: Callable[[Example], Callable[[str], Sequence[float]]]

    def values(self, example: Example) -> Reals:
        of_text = self.prepare(example)
        rows = [of_text(text) for text in example.candidates]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.features))


def features_of(groups: Iterable[FeatureGroup]) -> list[Feature]:
    return [feature for group in groups for feature in group.features]


def feature_rows(
    groups: Sequence[FeatureGroup], examples: Sequence[Example], progress: Progress = ignore_progress
) -> list[Reals]:
    """For each question, a row for each candidate."""
    for group in groups:
        if isinstance(group, SlowFeatures):
            group.precompute(examples, progress)
    rows: list[Reals] = []
    for done, example in enumerate(examples, 1):
        rows.append(np.concatenate([group.values(example) for group in groups], axis=1))
        progress("features", done, len(examples))
    return rows
