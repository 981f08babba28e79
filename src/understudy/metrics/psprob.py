"""PSProb: how probable is it that this line was said by this persona, rather than by one of the others?

    PSProb(u, p) = P(p | u) = exp(w_p . x(u) + b_p) / sum over q of exp(w_q . x(u) + b_q)

x(u) are the words and marks of u weighted by tf-idf and brought to length 1; w and b are a multinomial logistic
regression (see `understudy.lexical.logistic`) on sample lines. Personas count alike, however much they talk: a line
counts the less the more lines its speaker has, which is what drawing the same number of lines from each aims at, and no
line is lost. Those who talk most are told apart one by one, all the others together are one more q. The larger, the
closer.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.lexical import Lines, Rows
from understudy.lexical.logistic import balanced_weights, fit
from understudy.lexical.rows import Ints, Reals
from understudy.metrics.measure import LineMetric
from understudy.metrics.samples import Samples

__all__ = ["Speakers", "psprob", "told_apart"]

TELLING = 3  # words named as reasons
MOST = 12  # personas that are told apart one by one
ENOUGH_LINES = 10  # that one of them must have


def told_apart(counts: Mapping[str, int], always: str | None = None) -> tuple[str, ...]:
    """Which personas are told apart one by one, from how many lines each has: two at least, where there are two.

    `always` is one of them if it has a line; the others are those who talk most.
    """
    most = sorted((name for name in counts if counts[name]), key=lambda name: (name != always, -counts[name]))
    chosen = {name for place, name in enumerate(most[:MOST]) if place < 2 or counts[name] >= ENOUGH_LINES}
    return tuple(name for name in counts if name in chosen)


class Speakers:
    """Who says a line like this? A classifier of the personas with the most sample lines, and of all the others."""

    def __init__(self, samples: Samples, always: str | None = None, c: float = 1.0) -> None:
        self.samples = samples
        self.names = told_apart({name: samples.count(name) for name in samples.names}, always)
        self._trained = len(self.names) > 1
        if not self._trained:
            return
        labels = self._labels()
        bags = samples.corpus.lines.bags().take(np.arange(samples.said))
        frequencies = np.bincount(bags.columns, minlength=bags.width)
        words = np.flatnonzero(frequencies)
        self._idf = np.log((1 + len(bags)) / (1 + frequencies[words])) + 1
        self._features = np.full(samples.corpus.size, -1)
        self._features[words] = np.arange(len(words))
        classes = int(labels.max()) + 1
        self._model = fit(self._weighted(bags), labels, classes, c, row_weights=balanced_weights(labels, classes))

    def _labels(self) -> Ints:
        """For each sample line the place of its speaker among the names; all others have the place after the last."""
        places = {name: place for place, name in enumerate(self.names)}
        spoken = [(places.get(name, len(places)), self.samples.count(name)) for name in self.samples.names]
        return np.repeat([place for place, _ in spoken], [count for _, count in spoken])

    def __contains__(self, name: str) -> bool:
        return self._trained and name in self.names

    def probabilities(self, lines: Lines) -> Reals:
        """A row for each line, a column for each of `names`, and one for all others where there are any."""
        return self._model.probabilities(self._weighted(lines.bags()))

    def telling(self, name: str, lines: Lines, place: int) -> list[tuple[str, float]]:
        """The words of a line, and how much each speaks for a persona against the others' average; strongest first."""
        row = self._weighted(lines.bags().take(np.array([place])))
        weights = self._model.weights[:, row.columns]
        for_name = (weights[self.names.index(name)] - weights.mean(axis=0)) * row.values
        known = [number for number in lines.bags().take(np.array([place])).columns.tolist() if self._known(number)]
        found = zip((lines.word(number) for number in known), for_name.tolist())
        return sorted(found, key=lambda pair: -abs(pair[1]))

    def _known(self, number: int) -> bool:
        return number < len(self._features) and self._features[number] >= 0

    def _weighted(self, bags: Rows) -> Rows:
        """Bags of words as tf-idf of length 1, over the words that the personas have said."""
        said = np.zeros(max(bags.width, len(self._features)), dtype=np.bool_)
        said[: len(self._features)] = self._features >= 0
        known = bags.filter_values(said[bags.columns])
        columns = self._features[known.columns]
        return Rows(known.starts, columns, known.values * self._idf[columns], len(self._idf)).normalized()


def psprob(samples: Samples, name: str, speakers: Speakers | None = None) -> LineMetric:
    """The metric for a persona; `speakers` may be shared by several."""
    if not samples.count(name):
        return PSProb(samples, name, None, f"no sample lines of {name}")
    if len(samples.names) < 2:
        return PSProb(samples, name, None, f"nobody but {name} has sample lines: there is no one to tell apart")
    told = speakers or Speakers(samples, always=name)
    return PSProb(samples, name, told, "" if name in told else f"{name} is not among those told apart")


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
