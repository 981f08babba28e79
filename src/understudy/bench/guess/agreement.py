"""Do two people say the same about what telling a masked speaker took? Cohen's kappa of two tables.

Only speakers that both tables have are looked at. Of evidence, what somebody says is the whole set of kinds: to leave
one out is to disagree. Intervals are bootstraps over scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from understudy.bench.published import PAPER_AGREEMENT
from understudy.errors import InputError
from understudy.metrics.agreement import cohens_kappa
from understudy.metrics.significance import RESAMPLES
from understudy.readers.annotations import Annotation

__all__ = ["annotation_agreement"]

Row = dict[str, Any]
SAID: Mapping[str, Callable[[Annotation], Hashable]] = {
    "coarse evidence": lambda annotation: frozenset(annotation.coarse_evidence),
    "evidence": lambda annotation: frozenset(annotation.evidence),
    "direct history": lambda annotation: annotation.needs_history == "direct",
    "history": lambda annotation: annotation.needs_history,
    "reasoning": lambda annotation: annotation.reasoning,
}


def annotation_agreement(ours: Sequence[Annotation], theirs: Sequence[Annotation], seed: int = 0) -> list[Row]:
    """A row for each thing that annotations tell."""
    by_instance = {annotation.instance: annotation for annotation in theirs}
    pairs = [
        (annotation, by_instance[annotation.instance]) for annotation in ours if annotation.instance in by_instance
    ]
    if not pairs:
        raise InputError("the two tables have no speaker of a scene in common: they must be about the same scenes")
    rows = []
    for name, said in SAID.items():
        tables = _tables(
            [(annotation.instance[:2], said(annotation), said(counterpart)) for annotation, counterpart in pairs]
        )
        value = float(cohens_kappa(tables.sum(axis=0)))
        row: Row = {"annotation": name, "metric": "kappa", "value": None, "low": None, "high": None}
        row |= {"n": len(pairs), "paper": PAPER_AGREEMENT[name]}
        if np.isnan(value):
            row["reason"] = "both say one and the same throughout"
        else:
            low, high = np.nanpercentile(_drawn(tables, seed), [2.5, 97.5])
            row |= {"value": value, "low": float(low), "high": float(high)}
        rows.append(row)
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


def _drawn(tables: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Kappa of scenes drawn with replacement."""
    scenes = len(tables)
    times = np.random.default_rng(seed).multinomial(scenes, np.full(scenes, 1 / scenes), RESAMPLES)
    return cohens_kappa(np.tensordot(times, tables, axes=1))
