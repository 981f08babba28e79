"""The base class of metrics that score single lines: made once for a persona, then applied to many lines.

zita = psprob(samples, "Zita")
zita(["The tide is out."])          a Score each, with its reason
zita.values(samples.tokenize(lines))     the values alone, NaN where one is missing: for a million lines
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from understudy.language.lexical import Lines
from understudy.language.lexical.rows import Reals
from understudy.metrics.samples import Samples
from understudy.story.dialogue import Score

__all__ = ["NO_WORDS", "LineMetric", "TextMetric"]

NO_WORDS = "the line has no words"


class LineMetric(ABC):
    """A metric of lines for one persona. `missing` says why it can score nothing at all; empty where it can."""

    words_alone = False  # are marks left out before lines are looked at?

    def __init__(self, name: str, samples: Samples, missing: str = "") -> None:
        self.name, self.samples, self.missing = name, samples, missing

    def __call__(self, lines: Sequence[str] | Lines) -> list[Score]:
        """A score for each line, in their order, with what made it."""
        tokenized = lines if isinstance(lines, Lines) else self.samples.tokenize(lines)
        return [
            Score(self.name, None if math.isnan(value) else value, self.reason(tokenized, index, value))
            for index, value in enumerate(self.values(tokenized).tolist())
        ]

    def values(self, lines: Lines) -> Reals:
        """The value of each line; NaN where there is none."""
        if self.missing or not len(lines):
            return np.full(len(lines), np.nan)
        measured = self.measured(lines.plain if self.words_alone else lines)
        return np.where(lines.plain.lengths > 0, measured, np.nan)

    def reason(self, lines: Lines, index: int, value: float) -> str:
        """What made the value of one line, or why it has none."""
        lines = lines.plain if self.words_alone else lines
        return (self.missing or self.lack(lines, index)) if math.isnan(value) else self.why(lines, index)

    @abstractmethod
    def measured(self, lines: Lines) -> Reals:
        """The value of each line that has words, NaN where there is none; of the other lines, anything."""

    def lack(self, lines: Lines, index: int) -> str:  # noqa: ARG002
        """Why one line has no value."""
        return NO_WORDS

    @abstractmethod
    def why(self, lines: Lines, index: int) -> str:
        """Which terms, or which sample line, made the value of one line."""


class TextMetric(LineMetric):
    """A metric that looks at each text by itself: made from a function that gives a text's value and the reason.

    `samples` say how lines are tokenized.
    """

    words_alone = True

    def __init__(
        self, name: str, samples: Samples, score_text: Callable[[str], tuple[float, str]], missing: str = ""
    ) -> None:
        super().__init__(name, samples, missing)
        self._score_text = score_text

    def measured(self, lines: Lines) -> Reals:
        return np.array([self._score_text(text)[0] for text in lines.texts], dtype=np.float64)

    def why(self, lines: Lines, index: int) -> str:
        return self._score_text(lines.texts[index])[1]
