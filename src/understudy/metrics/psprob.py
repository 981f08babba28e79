"""PSProb: how probable is it that this line was said by this persona, rather than by one of the others?

    PSProb(u, p) = P(p | u) = exp(w_p . x(u) + b_p) / sum over q of exp(w_q . x(u) + b_q)

x(u) are the words and marks of u weighted by tf-idf and brought to length 1; w and b are a multinomial logistic
regression (see `understudy.lexical.logistic`) on sample lines. Personas weigh alike, however much they talk: a line
weighs the less the more lines its speaker has, which is what drawing the same number of lines from each aims at, and no
line is lost. Those who talk most are classes of their own, all the others together are one more class. The larger,
the closer.

Two accuracies use the same classifier. They judge whole sets of lines, never a single one; lines without words are left
out:

    accuracy(U) = |{u in U : the most probable class of u is the wanted one}| / |U|

    personality classification accuracy    the classes are speakers, learnt from their sample lines
    persona accuracy                       the classes are 'expresses the description' and 'does not', learnt from
                                           lines that people have judged
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from understudy.dialogue import Score
from understudy.lexical import Lines, Rows
from understudy.lexical.logistic import balanced_weights, fit
from understudy.lexical.rows import Ints, Reals
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.samples import Samples

__all__ = [
    "SetMetric",
    "Speakers",
    "persona_accuracy",
    "personality_classification_accuracy",
    "psprob",
    "small_cast_warning",
    "told_apart",
]

TELLING = 3  # words named as reasons
MOST = 12  # personas that have a class of their own
ENOUGH_LINES = 10  # that one of them must have

FEWEST_TOLD_APART = 4  # fewer are told apart by anything that one of them says

SetMetric = Callable[[Sequence[str] | Lines], Score]
"""Scores a set of lines."""


def told_apart(counts: Mapping[str, int], always: str | None = None) -> tuple[str, ...]:
    """Which personas get a class of their own, from how many lines each has: two at least, where there are two.

    `always` is one of them if it has a line; the others are those who talk most.
    """
    most = sorted((name for name in counts if counts[name]), key=lambda name: (name != always, -counts[name]))
    chosen = {name for rank, name in enumerate(most[:MOST]) if rank < 2 or counts[name] >= ENOUGH_LINES}
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
        """For each sample line the class of its speaker; all who have no class of their own share the last."""
        classes = {name: label for label, name in enumerate(self.names)}
        spoken = [(classes.get(name, len(classes)), self.samples.count(name)) for name in self.samples.names]
        return np.repeat([label for label, _ in spoken], [count for _, count in spoken])

    def __contains__(self, name: str) -> bool:
        return self._trained and name in self.names

    def probabilities(self, lines: Lines) -> Reals:
        """A row for each line, a column for each of `names`, and one for all others where there are any."""
        return self._model.probabilities(self._weighted(lines.bags()))

    def telling(self, name: str, lines: Lines, index: int) -> list[tuple[str, float]]:
        """The words of a line, and how much each speaks for a persona against the others' average; strongest first."""
        row = self._weighted(lines.bags().take(np.array([index])))
        weights = self._model.weights[:, row.columns]
        for_name = (weights[self.names.index(name)] - weights.mean(axis=0)) * row.values
        known = [number for number in lines.bags().take(np.array([index])).columns.tolist() if self._known(number)]
        weighed = zip((lines.word(number) for number in known), for_name.tolist())
        return sorted(weighed, key=lambda pair: -abs(pair[1]))

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
    classifier = speakers or Speakers(samples, always=name)
    return PSProb(samples, name, classifier, "" if name in classifier else f"{name} is not among those told apart")


class PSProb(LineMetric):
    def __init__(self, samples: Samples, persona: str, speakers: Speakers | None, missing: str) -> None:
        super().__init__("psprob", samples, missing)
        self.persona = persona
        self._speakers = speakers

    def measured(self, lines: Lines) -> Reals:
        assert self._speakers is not None
        return self._speakers.probabilities(lines)[:, self._speakers.names.index(self.persona)]

    def why(self, lines: Lines, index: int) -> str:
        assert self._speakers is not None
        telling = self._speakers.telling(self.persona, lines, index)
        if not telling:
            return f"none of its words is in the lines that {len(self._speakers.names)} personas are told apart by"
        speaks_for = [word for word, weight in telling if weight > 0][:TELLING]
        against = [word for word, weight in telling if weight < 0][:TELLING]
        parts = [f"{said}: {', '.join(words)}" for said, words in (("for", speaks_for), ("against", against)) if words]
        return "; ".join(parts)


def personality_classification_accuracy(samples: Samples, name: str, speakers: Speakers | None = None) -> SetMetric:
    """The share of a set that is taken for a persona's, among all personas that have enough sample lines."""
    classifier = speakers or Speakers(samples, always=name)
    return _accuracy("personality_classification_accuracy", classifier, name)


def persona_accuracy(expressing: Iterable[str], others: Iterable[str], language: str = "en") -> SetMetric:
    """The share of a set that expresses a description, learnt from lines that do and lines that do not."""
    judged = Samples({"expressed": expressing, "not expressed": others}, language)
    return _accuracy("persona_accuracy", Speakers(judged), "expressed")


def _accuracy(metric: str, speakers: Speakers, name: str) -> SetMetric:
    def score(lines: Sequence[str] | Lines) -> Score:
        tokenized = lines if isinstance(lines, Lines) else speakers.samples.tokenize(lines)
        if name not in speakers:
            return Score(metric, None, f"no sample lines to tell '{name}' from others by")
        spoken = tokenized.plain.lengths > 0
        if not spoken.any():
            return Score(metric, None, "no line has words")
        hits = speakers.probabilities(tokenized)[spoken].argmax(axis=1) == speakers.names.index(name)
        chance = 1 / len(speakers.names)
        reason = f"{int(hits.sum()):,} of {len(hits):,} lines; by chance {chance:.2f}"
        return Score(metric, float(np.mean(hits)), reason)

    return score


def small_cast_warning(samples: Samples, name: str) -> str:
    """Why psprob says little of somebody: few people to be told from, or few lines of their own; else blank."""
    lines, people = samples.count(name), len(told_apart({who: samples.count(who) for who in samples.names}, name))
    if people > 1 and people < FEWEST_TOLD_APART:
        return (
            f"psprob says little here: it tells {people} people apart, so that any line has {1 / people:.2f} by chance"
        )
    if 0 < lines < ENOUGH_LINES:
        return (
            f"psprob says little here: {name} has {lines} lines by then, and it takes {ENOUGH_LINES} to be told apart"
        )
    return ""
