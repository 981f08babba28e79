"""A figure with its interval, or the reason why there is none: what every statistic of people's answers gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from understudy.metrics.statistics import Interval

__all__ = ["Estimate"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of `n` items (or comparisons) and its 95% interval.

    `value` is None, and `reason` says why, where the figure cannot be had; a figure of one item alone has no interval.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""

    @classmethod
    def of(cls, name: str, figure: Interval, n: int, reason_if_nan: str) -> Estimate:
        if math.isnan(figure.value):
            return cls.missing(name, n, reason_if_nan)
        low, high = (None if math.isnan(bound) else bound for bound in figure[1:])
        return cls(name, figure.value, low, high, n)

    @classmethod
    def missing(cls, name: str, n: int, reason: str) -> Estimate:
        return cls(name, None, None, None, n, reason)

    def row(self) -> dict[str, Any]:
        """As benches and studies report it."""
        row = {"metric": self.name, "value": self.value, "low": self.low, "high": self.high, "n": self.n, "paper": None}
        return {**row, "reason": self.reason} if self.reason else row
