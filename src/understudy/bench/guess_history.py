"""What history adds to guessing, and whether the scenes that were needed are found.

history_gain        accuracy of a model less that of the same model without history, on the same speakers
history_recall@k    the share of speakers for whom one of the first k earlier scenes found was one that was needed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.bench.guess_annotated import annotated
from understudy.bench.guessed import Guessed
from understudy.bench.published_guess import PAPER_RECALL
from understudy.metrics.significance import holm, interval, paired_p
from understudy.readers.annotations import Annotation, Instance

__all__ = ["RECALLED", "WINDOW", "history_gain", "retrieval_rows"]

Row = dict[str, Any]
WINDOW = 20  # earlier scenes among which those that were needed are looked for
RECALLED = (1, 3, 5)
NEEDS: Mapping[str, tuple[str, ...]] = {
    "needed": ("direct", "indirect"),
    "direct": ("direct",),
    "indirect": ("indirect",),
    "none": ("none",),
}


def history_gain(
    guessed: Sequence[Guessed], annotations: Sequence[Annotation], model: str, without: str, seed: int = 0
) -> list[Row]:
    """A row for speakers who take history, for each way of taking it, and for those who take none."""
    about = annotated(guessed, annotations)
    theirs = {one.key: one for one in guessed if one.model == without}
    pairs = [(one, theirs[one.key]) for one in guessed if one.model == model and one.key in theirs]
    what = {"model": model, "without": without, "show": "all"}
    rows = []
    for name, kinds in NEEDS.items():
        told = [pair for pair in pairs if pair[0].key in about and about[pair[0].key].needs_history in kinds]
        row: Row = {**what, "history": name, "metric": "history_gain", "value": None, "low": None, "high": None}
        row |= {"n": len(told), "paper": None}
        if told:
            scenes = [(one.show, one.episode, one.scene) for one, _ in told]
            a, b = (np.array([pair[side].right for pair in told], dtype=np.float64) for side in (0, 1))
            apart = interval(a - b, scenes, seed)
            row |= {"value": apart.value, "low": apart.low, "high": apart.high, "p": paired_p(a, b, scenes, seed)}
        else:
            row["reason"] = f"no speaker judged under both names is annotated with {name} history"
        rows.append(row)
    tested = [row for row in rows if "p" in row]
    for row, adjusted in zip(tested, holm([row["p"] for row in tested])):
        row["p_adjusted"] = adjusted
    return rows


def retrieval_rows(
    model: str, ranked: Mapping[Instance, Sequence[int]], needed: Mapping[Instance, frozenset[int]], seed: int = 0
) -> list[Row]:
    """`ranked` has the earlier scenes found for each speaker, best first, out of the last WINDOW scenes."""
    asked = [instance for instance in ranked if needed.get(instance)]
    rows = []
    for k in RECALLED:
        row: Row = {"model": model, "metric": f"history_recall@{k}", "value": None, "low": None, "high": None}
        row |= {"n": len(asked), "paper": PAPER_RECALL.get(k)}
        if asked:
            hits = [bool(needed[instance] & set(ranked[instance][:k])) for instance in asked]
            found = interval(hits, [instance[:2] for instance in asked], seed)
            row |= {"value": found.value, "low": found.low, "high": found.high}
        else:
            row["reason"] = "no file says which earlier scenes were needed"
        rows.append(row)
    return rows
