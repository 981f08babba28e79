"""`voice`: how much does this line sound like this character? From 0 to 1, from sample lines alone.

The value is the probability that the character said it, if it is as likely that the character speaks as that somebody
else does. Nothing is known of the character but sample lines, and no reference is needed.

In Japanese nine parts are weighed by a model trained on the characters of other novels (see `hearing`), so that it
works for a character that nobody has trained on:

    voice = 1 / (1 + exp(-(w . parts + w_0)))

In other languages the model has nothing to say, and the character is heard against the rest of the cast (see
`contrast`).
"""

from __future__ import annotations

import numpy as np

from understudy.lexical import Lines
from understudy.lexical.rows import Reals
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples
from understudy.metrics.voice.contrast import ENOUGH_LINES, Contrast
from understudy.metrics.voice.hearing import Hearing
from understudy.metrics.voice.model import EarModel, shipped_ear
from understudy.metrics.voice.weighing import sigmoid

__all__ = ["Cast", "Contrasted", "Heard", "voice"]

HEARD_FROM = 5  # sample lines, below which a model trained on others has nothing to go by
NAMED = 3  # reasons named
AT_ONCE = 2000  # lines heard at once, so that memory does not grow with their number


class Cast:
    """The lines of a whole cast as a model hears them, for several characters of it."""

    def __init__(self, samples: Samples, model: EarModel | None = None) -> None:
        self.model = model or shipped_ear()
        self._speech = {name: self.model.hear(samples.lines(name)) for name in samples.names}

    def hearing(self, name: str) -> Hearing:
        others = [speech for other, speech in self._speech.items() if other != name]
        return Hearing(self.model, self._speech[name], others)


def voice(samples: Samples, name: str, cast: Cast | None = None) -> LineMetric:
    """The metric for a character; a Japanese `cast` may be shared by several."""
    japanese = samples.language == "ja"
    count, enough = samples.count(name), HEARD_FROM if japanese else ENOUGH_LINES
    missing = ""
    if count < enough:
        missing = f"{name} has {count or 'no'} sample lines: a voice is heard from {enough} on"
    elif not japanese and len(samples.names) < 2:
        missing = f"nobody but {name} has sample lines: there is no one to tell apart"
    if japanese:
        return Heard(samples, name, cast, missing)
    return Contrasted(samples, name, missing)


class Heard(LineMetric):
    """By the model that was trained on other stories' characters."""

    words_alone = True

    def __init__(self, samples: Samples, name: str, cast: Cast | None, missing: str) -> None:
        super().__init__("voice", samples, missing)
        if not missing:
            told = cast or Cast(samples)
            self._model, self._hearing = told.model, told.hearing(name)

    def measured(self, lines: Lines) -> Reals:
        weights = self._model.weights
        parts = [
            self._hearing.parts(self._model.hear(lines.texts[first : first + AT_ONCE]))
            for first in range(0, len(lines), AT_ONCE)
        ]
        return sigmoid(np.concatenate(parts) @ weights[:-1] + weights[-1])

    def why(self, lines: Lines, place: int) -> str:
        return _told(self._hearing.telling(self._model.hear([lines.texts[place]]), 0), "its manner of speaking")


class Contrasted(LineMetric):
    """By contrast with the rest of the cast."""

    def __init__(self, samples: Samples, name: str, missing: str) -> None:
        super().__init__("voice", samples, missing)
        if not missing:
            self._contrast = Contrast(samples, name)

    def measured(self, lines: Lines) -> Reals:
        return self._contrast.values(lines)

    def why(self, lines: Lines, place: int) -> str:
        return _told(self._contrast.telling(lines, place), "none of its words has been said by anybody")


def _told(telling: list[tuple[str, float]], otherwise: str) -> str:
    sides = (("for", [what for what, weight in telling if weight > 0]),
             ("against", [what for what, weight in telling if weight < 0]))  # fmt: skip
    return "; ".join(f"{side}: {', '.join(some[:NAMED])}" for side, some in sides if some) or otherwise
