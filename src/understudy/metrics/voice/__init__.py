"""`voice`: how much a line sounds like a character, from 0 to 1, from sample lines alone.

The value is the probability that the character said it, if it is as likely that the character speaks as that somebody
else does. Nothing is known of the character but sample lines, and no reference is needed.

In Japanese nine features are weighed by a model trained on the characters of other novels (see `model`), so that it
works for a character it was not trained on:

    voice = 1 / (1 + exp(-(w . features + w_0)))

In other languages, for which there is no trained model, the character's lines are compared with the rest of the cast's
(see `contrast`).
"""

from __future__ import annotations

import numpy as np

from understudy.lexical import Lines
from understudy.lexical.logistic import sigmoid
from understudy.lexical.rows import Reals
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.samples import Samples
from understudy.metrics.voice.contrast import ENOUGH_LINES, Contrast
from understudy.metrics.voice.model import SpeakerComparison, VoiceModel, shipped_voice_model

__all__ = ["ContrastVoice", "TrainedVoice", "VoiceCast", "voice"]

HEARD_FROM = 5  # sample lines that the trained model needs
NAMED = 3  # reasons named
AT_ONCE = 2000  # lines scored at once, so that memory does not grow with their number


class VoiceCast:
    """The encoded lines of a whole cast, shared by the metrics of several of its characters."""

    def __init__(self, samples: Samples, model: VoiceModel | None = None) -> None:
        self.model = model or shipped_voice_model()
        self._lines = {name: self.model.encode(samples.lines(name)) for name in samples.names}

    def comparison(self, name: str) -> SpeakerComparison:
        company = [speech for other, speech in self._lines.items() if other != name]
        return SpeakerComparison(self.model, self._lines[name], company)


def voice(samples: Samples, name: str, cast: VoiceCast | None = None) -> LineMetric:
    """The metric for a character; a Japanese `cast` may be shared by several."""
    japanese = samples.language == "ja"
    count, enough = samples.count(name), HEARD_FROM if japanese else ENOUGH_LINES
    missing = ""
    if count < enough:
        missing = f"{name} has {count or 'no'} sample lines: a voice is heard from {enough} on"
    elif not japanese and len(samples.names) < 2:
        missing = f"nobody but {name} has sample lines: there is no one to tell apart"
    if japanese:
        return TrainedVoice(samples, name, cast, missing)
    return ContrastVoice(samples, name, missing)


class TrainedVoice(LineMetric):
    """By the model that was trained on other stories' characters."""

    words_alone = True

    def __init__(self, samples: Samples, name: str, cast: VoiceCast | None, missing: str) -> None:
        super().__init__("voice", samples, missing)
        if not missing:
            voices = cast or VoiceCast(samples)
            self._model, self._comparison = voices.model, voices.comparison(name)

    def measured(self, lines: Lines) -> Reals:
        weights = self._model.weights
        parts = [
            self._comparison.parts(self._model.encode(lines.texts[first : first + AT_ONCE]))
            for first in range(0, len(lines), AT_ONCE)
        ]
        return sigmoid(np.concatenate(parts) @ weights[:-1] + weights[-1])

    def why(self, lines: Lines, index: int) -> str:
        return _describe(
            self._comparison.telling(self._model.encode([lines.texts[index]]), 0), "its manner of speaking"
        )


class ContrastVoice(LineMetric):
    """By contrast with the rest of the cast."""

    def __init__(self, samples: Samples, name: str, missing: str) -> None:
        super().__init__("voice", samples, missing)
        if not missing:
            self._contrast = Contrast(samples, name)

    def measured(self, lines: Lines) -> Reals:
        return self._contrast.values(lines)

    def why(self, lines: Lines, index: int) -> str:
        return _describe(self._contrast.telling(lines, index), "none of its words has been said by anybody")


def _describe(telling: list[tuple[str, float]], otherwise: str) -> str:
    sides = (("for", [what for what, weight in telling if weight > 0]),
             ("against", [what for what, weight in telling if weight < 0]))  # fmt: skip
    return "; ".join(f"{side}: {', '.join(some[:NAMED])}" for side, some in sides if some) or otherwise
