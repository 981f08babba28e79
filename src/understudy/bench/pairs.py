"""Agents two by two on the same questions: how far apart they are, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from understudy.bench.items import Items, groups_of
from understudy.metrics.significance import holm, interval, paired_p

__all__ = ["compared"]

Row = dict[str, Any]


def compared(items: Sequence[Items], metrics: Sequence[str], on: str, seed: int = 0) -> list[Row]:
    """Differences of those judged `on` the same thing; p values are adjusted over all comparisons of a metric."""
    values = [one.values() for one in items]
    found: list[Row] = []
    for metric in metrics:
        family: list[Row] = []
        for (place, first), (other, second) in combinations(enumerate(items), 2):
            if first.judged[on] != second.judged[on] or list(first.names) != list(second.names):
                continue
            groups, ours, theirs = groups_of(first.names), values[place][metric], values[other][metric]
            difference = interval(ours - theirs, groups, seed)
            family.append(
                {
                    on: first.judged[on],
                    "metric": metric,
                    "agents": [first.judged["agent"], second.judged["agent"]],
                    "difference": difference.value,
                    "low": difference.low,
                    "high": difference.high,
                    "p_value": paired_p(ours, theirs, groups, seed),
                    "n": len(groups),
                }
            )
        for told, adjusted in zip(family, holm([told["p_value"] for told in family])):
            told["p_adjusted"] = adjusted
        found += family
    return found
