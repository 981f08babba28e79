"""Do two people say the same about what telling masked speakers took? Cohen's kappa of their annotations.

Only speakers that both have annotated are looked at. Of evidence, what somebody says is the whole set of kinds: to
leave one out is to disagree. Intervals are bootstraps over scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from understudy.errors import InputError
from understudy.metrics.agreement import kappa_interval
from understudy.metrics.estimates import Estimate
from understudy.readers.annotations import Annotation

__all__ = ["PAPER_AGREEMENT", "agreement_of_pairs", "annotation_agreement"]

Row = dict[str, Any]
SAID: Mapping[str, Callable[[Annotation], Hashable]] = {
    "coarse evidence": lambda annotation: frozenset(annotation.coarse_evidence),
    "evidence": lambda annotation: frozenset(annotation.evidence),
    "direct history": lambda annotation: annotation.needs_history == "direct",
    "history": lambda annotation: annotation.needs_history,
    "reasoning": lambda annotation: annotation.reasoning,
}
PAPER_AGREEMENT = {
    "coarse evidence": 0.8153,
    "evidence": 0.8099,
    "direct history": 0.8202,
    "history": 0.7551,
    "reasoning": 0.8721,
}
"""Of the two annotators of TVShowGuess."""


def annotation_agreement(ours: Sequence[Annotation], theirs: Sequence[Annotation], seed: int = 0) -> list[Row]:
    """A row for each thing that annotations tell."""
    by_instance = {annotation.instance: annotation for annotation in theirs}
    pairs = [
        (annotation, by_instance[annotation.instance]) for annotation in ours if annotation.instance in by_instance
    ]
    if not pairs:
        raise InputError("the two tables have no speaker of a scene in common: they must be about the same scenes")
    return agreement_of_pairs(pairs, [annotation.instance[:2] for annotation, _ in pairs], seed)


def agreement_of_pairs(
    pairs: Sequence[tuple[Annotation, Annotation]], scenes: Sequence[Hashable], seed: int = 0
) -> list[Row]:
    """A row for each thing that annotations tell, of pairs about the same speakers and the scenes they are of."""
    rows = []
    for name, said in SAID.items():
        tables = _tables(
            [
                (scene, said(annotation), said(counterpart))
                for scene, (annotation, counterpart) in zip(scenes, pairs, strict=True)
            ]
        )
        kappa = Estimate.of(
            "kappa", kappa_interval(tables, seed=seed), len(pairs), "both say one and the same throughout"
        )
        rows.append({"annotation": name, **kappa.row(), "paper": PAPER_AGREEMENT[name]})
    return rows


def _tables(labelled: Sequence[tuple[Hashable, Hashable, Hashable]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each scene, how often one said the row while the other said the column."""
    scenes: dict[Hashable, int] = {}
    answers: dict[Hashable, int] = {}
    cells = [
        (scenes.setdefault(scene, len(scenes)), *(answers.setdefault(answer, len(answers)) for answer in said))
        for scene, *said in labelled
    ]
    counts = np.zeros((len(scenes), len(answers), len(answers)))
    np.add.at(counts, tuple(np.array(cells).T), 1.0)
    return counts
