"""Ranking metrics: where the right replies stand among the candidates.

    hits@k  = 1 if a right reply is among the first k, else 0
    mrr     = 1 / rank of the first right reply
    map     = mean over right replies of (right replies up to and including it) / (its rank)

each for one item; a run's figure is the mean over its items. A tie counts against the agent: a right reply stands
after every wrong one with the same score. So neither the order in which candidates are listed (some data sets list
the right one first, some last) nor an agent that scores everything alike can gain by it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.errors import AgentError, MissingExtra

if TYPE_CHECKING:
    from ir_measures.measures import Measure


RANKING = ("hits@1", "hits@5", "mrr")
"""The metrics of reply ranking, in the order they are reported."""

Ranks = tuple[int, ...]
"""The ranks of the right replies of one item, best first, counted from 1."""


def gold_ranks(scores: Sequence[float], gold: Collection[int]) -> Ranks:
    """Where the right replies stand when candidates are put in order of their scores, ties against them.

    rank(g) = |{c wrong : score(c) >= score(g)}| + |{c right : c ranked at or before g}|
    """
    if not gold or not all(0 <= index < len(scores) for index in gold):
        raise ValueError("gold names at least one candidate, by its index")
    if any(math.isnan(score) for score in scores):
        raise AgentError("a score is not a number (NaN): every candidate needs a score that can be compared")
    wrong = [score for index, score in enumerate(scores) if index not in gold]
    right = sorted((scores[index] for index in set(gold)), reverse=True)
    return tuple(sum(wrong_score >= score for wrong_score in wrong) + rank for rank, score in enumerate(right, 1))


def per_item(ranks: Sequence[Ranks], metric: str) -> NDArray[np.float64]:
    """A metric's value for each item, from the ranks of its right replies.

    Every value is worked out by ir_measures (trec_eval's definitions), once for each different tuple of ranks.
    """
    kinds = sorted(set(ranks))
    if not kinds:
        return np.zeros(0)
    measure = _measure(metric)
    import ir_measures

    right = {str(number): {f"c{rank}": 1 for rank in kind} for number, kind in enumerate(kinds)}
    ranked = {
        str(number): {f"c{rank}": float(-rank) for rank in range(1, kind[-1] + 1)} for number, kind in enumerate(kinds)
    }
    values = {kinds[int(result.query_id)]: result.value for result in ir_measures.iter_calc([measure], right, ranked)}
    return np.array([values[kind] for kind in ranks], dtype=np.float64)


def _measure(metric: str) -> Measure:
    try:
        from ir_measures import AP, RR, Success
    except ImportError as error:
        raise MissingExtra("judging rankings", "bench") from error
    if metric == "mrr":
        return RR
    if metric == "map":
        return AP
    name, _, depth = metric.partition("@")
    if name != "hits" or not depth.isdecimal() or int(depth) < 1:
        raise ValueError(f"no ranking metric '{metric}': hits@k, mrr or map")
    return Success @ int(depth)
