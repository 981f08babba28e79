"""What a part of a session adds: scene, attributes or relations, given to an agent beside the dialogue or withheld.

    d = mean over sessions of (mark with the part - mark without it)

with its 95% interval and paired p value, sessions of one group together, Holm-adjusted over all such differences of an
agent, file and metric. A part is added to the dialogue, or to all but it; and all of it to the candidates alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from understudy.bench.generation.reply_metrics import Row, figure_row
from understudy.bench.items import Items, groups_of
from understudy.metrics.statistics import holm, interval, paired_p

__all__ = ["CANDIDATES", "parts_of", "what_parts_add"]

CANDIDATES = "candidates"
PARTS = frozenset({"scene", "attributes", "relations"})


def parts_of(given: str) -> frozenset[str]:
    """Those of scene, attributes and relations that are given."""
    return frozenset(given.split("+")) & PARTS


def what_parts_add(items: Sequence[Items], metrics: Sequence[str], seed: int) -> list[Row]:
    """For two of one agent and file, one given more than the other: how much better it does, and how sure that is."""
    rows: list[Row] = []
    for metric in metrics:
        having = [item for item in items if metric in item.marks]
        for kind in dict.fromkeys(_file_and_agent(item) for item in having):
            own = [item for item in having if _file_and_agent(item) == kind]
            fullest = max((item.judged["given"] for item in own), key=_amount)
            family = [
                row
                for barer, fuller in permutations(own, 2)
                if (added := _added(fuller.judged["given"], barer.judged["given"], fullest))
                and (row := _difference(fuller, barer, added, metric, seed)) is not None
            ]
            for row, adjusted in zip(family, holm([row["p_value"] for row in family])):
                row["p_adjusted"] = adjusted
            rows += family
    return rows


def _file_and_agent(item: Items) -> tuple[str, str]:
    return item.judged.get("file", ""), item.judged["agent"]


def _amount(given: str) -> int:
    """How much is given: nothing, the dialogue, and so many parts beside it."""
    return 0 if given == CANDIDATES else 1 + len(parts_of(given))


def _added(fuller: str, barer: str, fullest: str) -> str:
    """What of the one the other lacks; blank where the two are not to be compared."""
    if CANDIDATES in (fuller, barer):
        return fuller if barer == CANDIDATES and fuller == fullest else ""
    parts, fewer = parts_of(fuller), parts_of(barer)
    added = parts - fewer
    is_told = len(added) == 1 or added == {"attributes", "relations"}
    if not fewer < parts or not is_told or (fewer and fuller != fullest):
        return ""
    return "+".join(part for part in fuller.split("+") if part in added)


def _difference(fuller: Items, barer: Items, added: str, metric: str, seed: int) -> Row | None:
    """None where no session has a mark in both."""
    with_part, without = fuller.values()[metric], barer.values()[metric]
    known = ~np.isnan(with_part) & ~np.isnan(without)
    if not known.any():
        return None
    groups = [group for group, both in zip(groups_of(fuller.names), known) if both]
    with_part, without = with_part[known], without[known]
    what = {**fuller.judged, "adds": added, "to": barer.judged["given"]}
    row = figure_row(what, metric, (interval(with_part - without, groups, seed), len(groups)))
    return row | {"p_value": paired_p(with_part, without, groups, seed)}
