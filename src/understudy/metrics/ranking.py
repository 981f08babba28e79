"""Where the right reply stands among the candidates, and what that is worth.

    hits@k  = 1 if a right reply is among the first k, else 0
    mrr     = 1 / place of the first right reply
    map     = mean over right replies of (right replies up to and including it) / (its place)

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

__all__ = ["RANKING", "Places", "gold_places", "per_item"]

RANKING = ("hits@1", "hits@5", "mrr")
"""The metrics of reply ranking, in the order they are reported."""

Places = tuple[int, ...]
"""The places of the right replies in one ranking, best first, counted from 1."""


def gold_places(scores: Sequence[float], gold: Collection[int]) -> Places:
    """Where the right replies stand when candidates are put in order of their scores, ties against them.

    place(g) = |{c wrong : score(c) >= score(g)}| + |{c right : c ranked at or before g}|
    """
    if not gold or not all(0 <= place < len(scores) for place in gold):
        raise ValueError("gold names at least one candidate, by its place")
    if any(math.isnan(score) for score in scores):
        raise AgentError("a score is not a number (NaN): every candidate needs a score that can be compared")
    wrong = [score for place, score in enumerate(scores) if place not in gold]
    right = sorted((scores[place] for place in set(gold)), reverse=True)
    return tuple(sum(other >= score for other in wrong) + nth for nth, score in enumerate(right, 1))


def per_item(places: Sequence[Places], metric: str) -> NDArray[np.float64]:
    """A metric's value for each item, from the places of its right replies.

    Every value is worked out by ir_measures (trec_eval's definitions), once for each different set of places.
    """
    kinds = sorted(set(places))
    if not kinds:
        return np.zeros(0)
    measure = _measure(metric)
    import ir_measures

    right = {str(number): {f"c{place}": 1 for place in kind} for number, kind in enumerate(kinds)}
    ranked = {
        str(number): {f"c{place}": float(-place) for place in range(1, kind[-1] + 1)}
        for number, kind in enumerate(kinds)
    }
    found = {kinds[int(one.query_id)]: one.value for one in ir_measures.iter_calc([measure], right, ranked)}
    return np.array([found[kind] for kind in places], dtype=np.float64)


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
