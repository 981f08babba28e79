"""PTSal: how salient are this line's terms for this persona? A term is two words, or marks, in a row.

    PTSal(u, p)   = mean over terms t of u of UttFreq(t, p) * SpkrRarity(t)
    UttFreq(t, p) = n(t, p) / m(p)          the share of p's sample lines that have t
    SpkrRarity(t) = ln(|P| / s(t))          s(t): how many of the personas P use t

The first word after the line's beginning is a term too, and the last before its end: how a line is begun and ended is
much of a manner. P are those of whom there are five lines. A term that occurs twice in u counts twice. A term that
nobody uses adds nothing, nor does one that everybody uses. The larger, the closer.
"""

from __future__ import annotations

import numpy as np

from understudy.lexical import Corpus, Lines
from understudy.lexical.rows import Reals, segment_sums
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.samples import Samples

__all__ = ["ptsal"]

TERM = 2  # words
NAMED = 3  # terms named as reasons


def ptsal(samples: Samples, name: str) -> LineMetric:
    """The metric for a persona."""
    if not samples.count(name):
        return PTSal(samples, name, f"no sample lines of {name}")
    if len(samples.names) < 2:
        return PTSal(samples, name, f"nobody but {name} has sample lines: no term is rarer than another")
    return PTSal(samples, name, "")


class PTSal(LineMetric):
    def __init__(self, samples: Samples, persona: str, missing: str) -> None:
        super().__init__("ptsal", samples, missing)
        self.persona = persona
        if missing:
            return
        frequency = samples.uses(persona, TERM) / samples.count(persona)
        self._salience = np.append(frequency * samples.rarity(TERM), 0.0)  # the last stands for what is unknown

    def measured(self, lines: Lines) -> Reals:
        # A term at a place is the pair of words that begins there; the pair at a line's first place begins with its
        # boundary, that at its last ends with the next.
        return segment_sums(self._salience[lines.grams(TERM)[:-1]], lines.starts) / (lines.lengths + 1)

    def why(self, lines: Lines, index: int) -> str:
        terms = np.unique(lines.grams(TERM)[lines.starts[index] : lines.starts[index + 1]])
        salience = self._salience[terms]
        best = [terms[position] for position in np.argsort(-salience, kind="stable")[:NAMED] if salience[position] > 0]
        if not best:
            return f"no pair of its words is {self.persona}'s own"
        named = [_describe(lines.corpus, lines.corpus.gram(TERM, term)) for term in best]
        return f"{self.persona}'s own: {', '.join(named)}"


def _describe(corpus: Corpus, term: tuple[str, ...]) -> str:
    first, last = term
    if not first:
        return f"{last} at the beginning"
    return corpus.joined(term) if last else f"{first} at the end"
