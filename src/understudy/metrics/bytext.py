"""A metric that looks at each line's text by itself, instead of at the words of many lines at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.lexical import Lines
from understudy.lexical.rows import Reals
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples

__all__ = ["ByText"]


class ByText(LineMetric):
    """Made from a function that gives a text's value and what made it; `samples` say how lines are cut."""

    words_alone = True

    def __init__(
        self, name: str, samples: Samples, told: Callable[[str], tuple[float, str]], missing: str = ""
    ) -> None:
        super().__init__(name, samples, missing)
        self._told = told

    def measured(self, lines: Lines) -> Reals:
        return np.array([self._told(text)[0] for text in lines.texts], dtype=np.float64)

    def why(self, lines: Lines, place: int) -> str:
        return self._told(lines.texts[place])[1]
