"""PTSal: how salient are this line's terms for this persona? A term is a run of two words.

    PTSal(u, p)   = mean over terms t of u of UttFreq(t, p) * SpkrRarity(t)
    UttFreq(t, p) = n(t, p) / m(p)          the share of p's sample lines that have t
    SpkrRarity(t) = ln(|P| / s(t))          s(t): how many of the personas P use t

A term that occurs twice in u counts twice. A term that nobody uses adds nothing, nor does one that everybody uses. A
line of one word has no term, and so no mean: there is no value. The larger, the closer.
"""

from __future__ import annotations

import numpy as np

from understudy.lexical import Lines
from understudy.lexical.rows import Reals, sums
from understudy.metrics.measure import LineMetric
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
        # A term at a place is the pair of words that begins there, so a line's terms are its places but the last.
        inside = self._salience[lines.grams(TERM)][:-1]
        inside[lines.starts[:-1]] = 0.0
        inside[lines.starts[1:] - 1] = 0.0
        terms = lines.lengths - TERM + 1
        return np.where(terms > 0, sums(inside, lines.starts) / np.maximum(terms, 1), np.nan)

    def lack(self, lines: Lines, place: int) -> str:
        return "a line of one word has no pair of words" if lines.lengths[place] else super().lack(lines, place)

    def why(self, lines: Lines, place: int) -> str:
        terms = lines.bags(TERM).some(np.array([place])).columns
        salience = self._salience[terms]
        best = [terms[at] for at in np.argsort(-salience, kind="stable")[:NAMED] if salience[at] > 0]
        if not best:
            return f"no pair of its words is {self.persona}'s own"
        return f"{self.persona}'s own: " + ", ".join(
            lines.corpus.joined(lines.corpus.gram(TERM, term)) for term in best
        )
