"""How good a ranking is, and how sure one can be of it. A metric is a plain function with its formula beside it."""

from __future__ import annotations

from understudy.metrics.ranking import RANKING, gold_places, per_item
from understudy.metrics.significance import Interval, holm, interval, paired_p

__all__ = ["RANKING", "Interval", "gold_places", "holm", "interval", "paired_p", "per_item"]
