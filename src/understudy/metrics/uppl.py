"""uPPL: how surprised is a language model of this persona by the line? The perplexity of its words.

    uPPL(u, p) = exp(- mean over tokens w of u of ln P_p(w | what stands before it))

Any `LanguageModel` can be asked. Without one, P_p is an n-gram model (see `understudy.lexical.kneserney`) of what
everybody says, the background, drawn towards the persona:

    P_p = s * P(. | the persona's lines) + (1 - s) * P(. | the other lines)

where s is the share under which lines of the persona that were held back are most probable. The end of the line counts
as a token. The smaller, the closer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.dialogue import LanguageModel, Situation, Turn
from understudy.lexical import Lines
from understudy.lexical.kneserney import KneserNey
from understudy.lexical.rows import Reals, sums
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples
from understudy.persona import Persona

__all__ = ["PersonaModel", "uppl"]

HELD_BACK = 10  # every tenth line
EVEN = 0.5  # the share where too few lines can be held back
ROUNDS = 20  # of looking for the share
NAMED = 3  # words named as reasons


def uppl(
    samples: Samples, name: str, model: LanguageModel | None = None, situation: Situation | None = None
) -> LineMetric:
    """The metric for a persona. A `model` of one's own is asked in a `situation`: the persona's bare name if none."""
    if model is not None:
        asked = situation or Situation(Persona(name, language=samples.language))
        return Perplexity(samples, model, asked)
    return NgramPerplexity(samples, name)


class PersonaModel:
    """What everybody says, drawn towards one persona. It is a `LanguageModel` that looks at the line alone."""

    def __init__(self, samples: Samples, name: str) -> None:
        self._samples = samples
        own = np.zeros(len(samples.corpus.lines), dtype=np.bool_)
        own[slice(*samples.span(name))] = True
        self._own = KneserNey(samples.corpus, own)
        self._others = KneserNey(samples.corpus, ~own)
        self.share = _share(samples, own, self._others)

    def probabilities(self, lines: Lines) -> Reals:
        """For every place of the lines but the first, how probable its word (or the end of the line) is there."""
        return self.share * self._own.probabilities(lines) + (1 - self.share) * self._others.probabilities(lines)

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:  # noqa: ARG002
        """Of the words of a text and of its end."""
        found: list[float] = np.log(self.probabilities(self._samples.cut([text]))).tolist()
        return found


def _share(samples: Samples, own: np.ndarray[tuple[int], np.dtype[np.bool_]], others: KneserNey) -> float:
    """How much of the mixture is the persona's, so that its lines that were held back are most probable (by EM)."""
    if own.all():
        return 1.0
    chosen = np.flatnonzero(own)
    held_back = chosen[HELD_BACK - 1 :: HELD_BACK]
    if not len(held_back):
        return EVEN
    kept = own.copy()
    kept[held_back] = False
    lines = samples.cut([samples.corpus.lines.texts[place] for place in held_back.tolist()])
    ours, theirs = KneserNey(samples.corpus, kept).probabilities(lines), others.probabilities(lines)
    share = EVEN
    for _ in range(ROUNDS):
        share = float(np.mean(share * ours / (share * ours + (1 - share) * theirs)))
    return share


class NgramPerplexity(LineMetric):
    def __init__(self, samples: Samples, persona: str) -> None:
        super().__init__("uppl", samples, "" if samples.count(persona) else f"no sample lines of {persona}")
        self.persona = persona
        self.model = PersonaModel(samples, persona)

    def measured(self, lines: Lines) -> Reals:
        surprise = -np.log(self.model.probabilities(lines))
        return np.exp(sums(surprise, lines.starts) / (lines.lengths + 1))

    def why(self, lines: Lines, place: int) -> str:
        words = lines.words(place)
        found = self.model.probabilities(self.samples.cut([lines.texts[place]]))[: len(words)]
        least = list(dict.fromkeys(words[at] for at in np.argsort(found, kind="stable").tolist()))[:NAMED]
        return "least expected: " + ", ".join(least)


class Perplexity(LineMetric):
    """By any language model, in its own tokens."""

    def __init__(self, samples: Samples, model: LanguageModel, situation: Situation) -> None:
        super().__init__("uppl", samples)
        self._model, self._situation = model, situation

    def measured(self, lines: Lines) -> Reals:
        found = [self._model.log_probs(self._situation, (), text) for text in lines.texts]
        return np.array([np.exp(-np.mean(one)) if one else np.nan for one in found])

    def why(self, lines: Lines, place: int) -> str:
        found = self._model.log_probs(self._situation, (), lines.texts[place])
        return f"{len(found)} tokens, the least expected one with probability {np.exp(min(found)):.2g}"
