"""A row of a bench: a figure with its interval, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from understudy.metrics.statistics import Interval

__all__ = ["Figure", "PaperFigure", "Row", "figure_row", "no_paper"]

Row = dict[str, Any]
Figure = tuple[Interval, int] | str
"""A value with its interval and of how many items it is; or the reason why it cannot be had."""
PaperFigure = Callable[[str], float | None]
"""The paper's figure for a metric, None where it has none."""


def no_paper(metric: str) -> None:
    """For what no paper has figures of."""


def figure_row(what: Mapping[str, Any], metric: str, figure: Figure, paper: float | None = None) -> Row:
    """`what` says what was judged: agent, condition and so on."""
    if isinstance(figure, str):
        cells: Row = {"value": None, "low": None, "high": None, "n": 0, "paper": paper, "reason": figure}
    else:
        cells = {**figure[0]._asdict(), "n": figure[1], "paper": paper}
    return {**what, "metric": metric, **cells}
