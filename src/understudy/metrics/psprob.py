"""PSProb: how probable is it that this line was said by this persona, rather than by one of the others?

    PSProb(u, p) = P(p | u) = exp(w_p . x(u) + b_p) / sum over q of exp(w_q . x(u) + b_q)

x(u) are the words of u weighted by tf-idf and brought to length 1; w and b are a multinomial logistic regression
(see `understudy.lexical.logistic`) on sample lines, the same number of each persona. The larger, the closer.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.lexical import Lines, Rows
from understudy.lexical.logistic import fit
from understudy.lexical.rows import Reals
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples

__all__ = ["Speakers", "balanced", "psprob"]

TELLING = 3  # words named as reasons


def balanced(counts: Mapping[str, int], always: str | None = None) -> tuple[tuple[str, ...], int]:
    """Which personas are told apart, and by how many lines each, so that the most lines are used in all.

    n lines of everybody who has n: a few lines of many personas, or many lines of a few. `always` is one of them, and
    there are at least two, where there are two.
    """
    most = counts.get(always, 0) if always is not None else max(counts.values(), default=0)
    sizes = sorted((count for count in counts.values() if count), reverse=True)
    choices = [(rank * min(count, most), min(count, most)) for rank, count in enumerate(sizes, 1) if rank > 1]
    each = max(choices, default=(0, 0))[1]
    return tuple(name for name, count in counts.items() if count >= each > 0), each


class Speakers:
    """Who says a line like this? A classifier of the personas that have enough sample lines."""

    def __init__(self, samples: Samples, always: str | None = None, seed: int = 0, c: float = 1.0) -> None:
        self.samples = samples
        counts = {name: samples.count(name) for name in samples.names}
        self.names, self.lines_each = balanced(counts, always)
        self._trained = len(self.names) > 1
        if not self._trained:
            return
        rng = np.random.default_rng(seed)
        drawn = [
            samples.span(name)[0] + np.sort(rng.choice(counts[name], self.lines_each, replace=False))
            for name in self.names
        ]
        bags = samples.corpus.lines.bags().some(np.concatenate(drawn))
        frequencies = np.bincount(bags.columns, minlength=bags.width)
        words = np.flatnonzero(frequencies)
        self._idf = np.log((1 + len(bags)) / (1 + frequencies[words])) + 1
        self._features = np.full(samples.corpus.size, -1)
        self._features[words] = np.arange(len(words))
        labels = np.repeat(np.arange(len(self.names)), self.lines_each)
        self._model = fit(self._weighted(bags), labels, len(self.names), c)

    def __contains__(self, name: str) -> bool:
        return self._trained and name in self.names

    def probabilities(self, lines: Lines) -> Reals:
        """A row for each line, a column for each of `names`."""
        return self._model.probabilities(self._weighted(lines.bags()))

    def telling(self, name: str, lines: Lines, place: int) -> list[tuple[str, float]]:
        """The words of a line, and how much each speaks for a persona against the others' average; strongest first."""
        row = self._weighted(lines.bags().some(np.array([place])))
        weights = self._model.weights[:, row.columns]
        for_name = (weights[self.names.index(name)] - weights.mean(axis=0)) * row.values
        known = [number for number in lines.bags().some(np.array([place])).columns.tolist() if self._known(number)]
        found = zip((lines.word(number) for number in known), for_name.tolist())
        return sorted(found, key=lambda pair: -abs(pair[1]))

    def _known(self, number: int) -> bool:
        return number < len(self._features) and self._features[number] >= 0

    def _weighted(self, bags: Rows) -> Rows:
        """Bags of words as tf-idf of length 1, over the words that were drawn."""
        drawn = np.zeros(max(bags.width, len(self._features)), dtype=np.bool_)
        drawn[: len(self._features)] = self._features >= 0
        known = bags.kept(drawn[bags.columns])
        columns = self._features[known.columns]
        return Rows(known.starts, columns, known.values * self._idf[columns], len(self._idf)).unit()


def psprob(samples: Samples, name: str, speakers: Speakers | None = None, seed: int = 0) -> LineMetric:
    """The metric for a persona; `speakers` may be shared by several."""
    if not samples.count(name):
        return PSProb(samples, name, None, f"no sample lines of {name}")
    if len(samples.names) < 2:
        return PSProb(samples, name, None, f"nobody but {name} has sample lines: there is no one to tell apart")
    told = speakers or Speakers(samples, always=name, seed=seed)
    return PSProb(samples, name, told, "" if name in told else f"{name} has too few sample lines")


class PSProb(LineMetric):
    def __init__(self, samples: Samples, persona: str, speakers: Speakers | None, missing: str) -> None:
        super().__init__("psprob", samples, missing)
        self.persona = persona
        self._speakers = speakers

    def measured(self, lines: Lines) -> Reals:
        assert self._speakers is not None
        return self._speakers.probabilities(lines)[:, self._speakers.names.index(self.persona)]

    def why(self, lines: Lines, place: int) -> str:
        assert self._speakers is not None
        telling = self._speakers.telling(self.persona, lines, place)
        if not telling:
            return f"none of its words is in the lines that {len(self._speakers.names)} personas are told apart by"
        speaks_for = [word for word, weight in telling if weight > 0][:TELLING]
        against = [word for word, weight in telling if weight < 0][:TELLING]
        parts = [f"{said}: {', '.join(words)}" for said, words in (("for", speaks_for), ("against", against)) if words]
        return "; ".join(parts)
