"""`voice`: how much a line sounds like a character, from 0 to 1, from sample lines alone.

The value is the probability that the character said it, if it is as likely that the character speaks as that somebody
else does. Nothing is known of the character but sample lines, and no reference is needed.

In Japanese nine features are weighed by a model trained on the characters of other novels (see `model`), so that it
works for a character it was not trained on:

    voice = 1 / (1 + exp(-(w . features + w_0)))

In other languages, for which there is no trained model, the character's lines are compared with the rest of the cast's
by naive Bayes. Over the words and pairs of words f of a line u that the cast has said, with n lines of the character
and m of others:

    r(u)     = sum over f of ln(q_f / b_f) / sqrt(number of f + 5)
    q_f      = (lines of the character that have f + 10 n / (n + m)) / n
    b_f      = (lines of the others that have f + 10 m / (n + m)) / m
    voice(u) = 1 / (1 + exp(-(a r(u) + c)))

a and c are fitted on the cast's own lines: each fifth of them is scored by the other four fifths, and the character's
lines together count as much as everybody else's. Where those held-back lines are not told from the others' with an AUC
of .6, nothing is said of new ones: `psprob-weighted` has a value there, and from fewer lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.language.lexical import Lines
from understudy.language.lexical.logistic import fit_binary
from understudy.language.lexical.rows import Reals, SparseRows, segment_sums, sigmoid
from understudy.metrics.line_metric import ALONE, LineMetric, Samples, describe_telling
from understudy.metrics.statistics import auc
from understudy.metrics.voice.model import SpeakerComparison, VoiceModel, shipped_voice_model

__all__ = ["ENOUGH_LINES", "MIN_TRAINED_LINES", "VoiceCast", "voice"]

ORDERS = (1, 2)
HELD = 10.0  # lines that are taken to have any term, as many as fit of the character and of the others
FEW_TERMS = 5
FIFTHS = 5
ENOUGH_LINES = 20  # of the character: with fewer, a fifth of them is too small
MIN_AUC = 0.6  # AUC on the lines held back; below it later lines are hardly told from those of others
INSTEAD = "psprob-weighted says who is likelier to have said a line"

Chosen = NDArray[np.bool_]

MIN_TRAINED_LINES = 5  # sample lines that the trained model needs
AT_ONCE = 2000  # lines scored at once, so that memory does not grow with their number


class Contrast:
    def __init__(self, samples: Samples, name: str) -> None:
        own = np.zeros(samples.said, dtype=np.bool_)
        own[slice(*samples.span(name))] = True
        bags = [samples.corpus.lines.bags(order).take(np.arange(samples.said)) for order in ORDERS]
        position = np.zeros(samples.said, dtype=np.int64)  # of the character's lines, of the others' lines
        position[own], position[~own] = np.arange(own.sum()), np.arange((~own).sum())
        scores = np.zeros(samples.said)
        for fifth in range(FIFTHS):
            held_back = position % FIFTHS == fifth
            leanings = [_leanings(bag, own & ~held_back, ~own & ~held_back) for bag in bags]
            indices = np.flatnonzero(held_back)
            scores[indices] = _scores([bag.take(indices) for bag in bags], leanings)
        share = np.where(own, 1 / own.sum(), 1 / (~own).sum())
        self.held_back_auc = auc(scores, own)
        self.slope, self.shift = fit_binary(scores[:, None], own.astype(np.float64), share).tolist()
        self._leanings = [_leanings(bag, own, ~own) for bag in bags]

    def values(self, lines: Lines) -> Reals:
        scores = _scores([lines.bags(order) for order in ORDERS], self._leanings)
        return sigmoid(self.slope * scores + self.shift)

    def telling(self, lines: Lines, index: int) -> list[tuple[str, float]]:
        """The words of a line that speak for the character (above 0) or against it, strongest first."""
        row = _said(lines.bags().take(np.array([index])), self._leanings[0])
        terms = zip((lines.word(number) for number in row.columns.tolist()), self._leanings[0][row.columns].tolist())
        return sorted(terms, key=lambda pair: -abs(pair[1]))


def _leanings(bags: SparseRows, own: Chosen, others: Chosen) -> Reals:
    """For each term, ln of how much more often the character's lines have it than the others'; NaN if nobody's do."""
    counts, usual = (
        np.bincount(bags.take(np.flatnonzero(some)).columns, minlength=bags.width).astype(np.float64)
        for some in (own, others)
    )
    own_lines, other_lines = max(int(own.sum()), 1), max(int(others.sum()), 1)
    shared = HELD / (own_lines + other_lines)
    leanings = np.log((counts / own_lines + shared) / (usual / other_lines + shared))
    return np.where(counts + usual > 0, leanings, np.nan)


def _said(bags: SparseRows, leanings: Reals) -> SparseRows:
    """The terms that somebody in the cast has said."""
    known = bags.filter_values(bags.columns < len(leanings))
    return known.filter_values(~np.isnan(leanings[known.columns]))


def _scores(bags: Sequence[SparseRows], leanings: Sequence[Reals]) -> Reals:
    known = [_said(bag, some) for bag, some in zip(bags, leanings)]
    total = np.sum([segment_sums(some[bag.columns], bag.starts) for bag, some in zip(known, leanings)], axis=0)
    terms = np.sum([np.diff(bag.starts) for bag in known], axis=0)
    scores: Reals = total / np.sqrt(terms + FEW_TERMS)
    return scores


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
    count, enough = samples.count(name), MIN_TRAINED_LINES if japanese else ENOUGH_LINES
    missing = ""
    if count < enough:
        missing = f"{name} has {count or 'no'} sample lines: a voice is heard from {enough} on"
        missing += f"; {INSTEAD}" if count and not japanese else ""
    elif not japanese:
        missing = samples.lack_of(name, ALONE)
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
        return describe_telling(
            self._comparison.telling(self._model.encode([lines.texts[index]]), 0), "its manner of speaking"
        )


class ContrastVoice(LineMetric):
    """By contrast with the rest of the cast."""

    def __init__(self, samples: Samples, name: str, missing: str) -> None:
        super().__init__("voice", samples, missing)
        if not missing:
            self._contrast = Contrast(samples, name)
            if (area := self._contrast.held_back_auc) < MIN_AUC:
                unclear = f"{name}'s lines are not told from those of others (AUC {area:.2f} held back)"
                self.missing = f"{unclear}; {INSTEAD}"

    def measured(self, lines: Lines) -> Reals:
        return self._contrast.values(lines)

    def why(self, lines: Lines, index: int) -> str:
        return describe_telling(self._contrast.telling(lines, index), "none of its words has been said by anybody")


# A character's own lines do not all score alike: a 'Yes.' sounds like anybody. So a new line is told by its percentile
# among them, (own lines below it + half of those equal to it) / own lines. Each own line is scored as if it had not
# been heard, by a metric made of the other four fifths of the character's lines and of everybody else's: else they
# would score too high, and every new line would seem out of character.

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
        remaining = [line for index, line in enumerate(own) if index % FIFTHS != fifth]
        others = Samples({**everybody, name: remaining}, samples.language)
        metric = voice(others, name)
        if metric.missing:
            return None
        values.append(metric.values(others.tokenize([own[index] for index in held_back])))
    scored = np.concatenate(values) if values else np.empty(0)
    scored = np.sort(scored[~np.isnan(scored)])
    return VoiceSpread(scored) if len(scored) else None
