"""How a character's own lines score by `voice`: what the voice of a new line is to be compared with.

Own lines do not all score alike: a 'Yes.' sounds like anybody. So a line is told by its place among them:

    percentile(v) = (own lines below v + half of those equal to v) / own lines

Each own line is scored as if it had not been heard: by a metric made of the other four fifths of the character's lines,
and of everybody else's. Without that they would score too high, and every new line would seem out of character.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.language.lexical.rows import Reals
from understudy.metrics.samples import Samples
from understudy.metrics.voice import FIFTHS, voice

__all__ = ["VoiceSpread", "voice_spread"]

MOST_LINES = 500  # of a character that are scored, evenly spread


@dataclass(frozen=True, slots=True)
class VoiceSpread:
    """The `voice` of a character's own lines that were held back, from the lowest to the highest."""

    values: Reals

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        return float(self.values.std())

    def quantile(self, share: float) -> float:
        """What a share of the own lines is at or below: `quantile(0.05)` is low for this character."""
        return float(np.quantile(self.values, share))

    def percentile(self, value: float) -> float:
        """The share of the own lines that score lower, from 0 to 1."""
        below, upto = (int(np.searchsorted(self.values, value, side)) for side in ("left", "right"))
        return (below + upto) / 2 / len(self.values)


def voice_spread(samples: Samples, name: str) -> VoiceSpread | None:
    """The spread of a character's voice; None where `voice` has no value for it with a fifth of the lines held back."""
    own = list(samples.lines(name))
    everybody = {other: samples.lines(other) for other in samples.names}
    step = max(len(own) / MOST_LINES, 1.0)
    chosen = np.unique(np.arange(0, len(own), step).astype(np.int64))
    values = []
    for fifth in range(FIFTHS):
        held_back = [int(index) for index in chosen if index % FIFTHS == fifth]
        if not held_back:
            continue
        heard = [line for index, line in enumerate(own) if index % FIFTHS != fifth]
        others = Samples({**everybody, name: heard}, samples.language)
        metric = voice(others, name)
        if metric.missing:
            return None
        values.append(metric.values(others.tokenize([own[index] for index in held_back])))
    scored = np.concatenate(values) if values else np.empty(0)
    scored = np.sort(scored[~np.isnan(scored)])
    return VoiceSpread(scored) if len(scored) else None
