"""PTSal: how salient are this line's terms for this persona? A term is two words, or marks, in a row.

    PTSal(u, p)   = mean over terms t of u of UttFreq(t, p) * SpkrRarity(t)
    UttFreq(t, p) = n(t, p) / m(p)          the share of p's sample lines that have t
    SpkrRarity(t) = ln(|P| / s(t))          s(t): how many of the personas P use t

A term that occurs twice in u counts twice. A term that nobody uses adds nothing, nor does one that everybody uses. The
larger, the closer. P and the terms are

    ptsal        everybody who has a sample line, and the pairs of words inside a line
    ptsal-ends   those of whom there are five lines; the first word after the line's beginning is a term too, and the
                 last before its end, for how a line is begun and ended is much of a manner
"""

from __future__ import annotations

import numpy as np

from understudy.language.lexical import Corpus, Lines
from understudy.language.lexical.rows import Reals, segment_sums
from understudy.metrics.line_metric import NO_WORDS, LineMetric, Samples

TERM = 2  # words
NAMED = 3  # terms named as reasons
MIN_LINES = 5  # lines that a persona must have to count in `ptsal-ends`


def ptsal(samples: Samples, name: str) -> LineMetric:
    """The metric for a persona."""
    return PTSal("ptsal", samples, name)


def ptsal_ends(samples: Samples, name: str) -> LineMetric:
    """The same with a line's beginning and end among its terms, of those who have some lines."""
    return PTSal("ptsal-ends", samples, name, MIN_LINES, ends=True)


class PTSal(LineMetric):
    def __init__(self, metric: str, samples: Samples, persona: str, least: int = 1, ends: bool = False) -> None:
        super().__init__(metric, samples, samples.lack_of(persona, "no term is rarer than another"))
        self.persona, self._ends = persona, ends
        if self.missing:
            return
        frequency = samples.uses(persona, TERM) / samples.count(persona)
        self._salience = np.append(frequency * samples.rarity(TERM, least), 0.0)  # the last stands for what is unknown

    def measured(self, lines: Lines) -> Reals:
        # A term at a place is the pair of words that begins there; the pair at a line's first place begins with its
        # boundary, that at its last ends with the next.
        salience = self._salience[lines.grams(TERM)[:-1]]
        if self._ends:
            return segment_sums(salience, lines.starts) / (lines.lengths + 1)
        salience[lines.starts[:-1]] = salience[lines.starts[1:] - 1] = 0.0
        terms = lines.lengths - 1
        return np.where(terms > 0, segment_sums(salience, lines.starts) / np.maximum(terms, 1), np.nan)

    def lack(self, lines: Lines, index: int) -> str:
        return "the line is one word, and has no pair of words" if lines.plain.lengths[index] else NO_WORDS

    def why(self, lines: Lines, index: int) -> str:
        first, last = lines.starts[index], lines.starts[index + 1]
        terms = np.unique(lines.grams(TERM)[first:last] if self._ends else lines.grams(TERM)[first + 1 : last - 1])
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
