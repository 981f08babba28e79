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
    "coarse evidence": lambda one: frozenset(one.coarse_evidence),
    "evidence": lambda one: frozenset(one.evidence),
    "direct history": lambda one: one.needs_history == "direct",
    "history": lambda one: one.needs_history,
    "reasoning": lambda one: one.reasoning,
}


def annotation_agreement(ours: Sequence[Annotation], theirs: Sequence[Annotation], seed: int = 0) -> list[Row]:
    """A row for each thing that annotations tell."""
    others = {one.instance: one for one in theirs}
    pairs = [(one, others[one.instance]) for one in ours if one.instance in others]
    if not pairs:
        raise InputError("the two tables have no speaker of a scene in common: they must be about the same scenes")
    rows = []
    for name, said in SAID.items():
        tables = _tables([(one.instance[:2], said(one), said(other)) for one, other in pairs])
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


def _tables(told: Sequence[tuple[Hashable, Hashable, Hashable]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each scene, how often one said the row while the other said the column."""
    scenes: dict[Hashable, int] = {}
    answers: dict[Hashable, int] = {}
    places = [
        (scenes.setdefault(scene, len(scenes)), *(answers.setdefault(one, len(answers)) for one in said))
        for scene, *said in told
    ]
    counts = np.zeros((len(scenes), len(answers), len(answers)))
    np.add.at(counts, tuple(np.array(places).T), 1.0)
    return counts


def _drawn(tables: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Kappa of scenes drawn with replacement."""
    scenes = len(tables)
    times = np.random.default_rng(seed).multinomial(scenes, np.full(scenes, 1 / scenes), RESAMPLES)
    return cohens_kappa(np.tensordot(times, tables, axes=1))
