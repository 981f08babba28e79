"""PSProb: how probable is it that this line was said by this persona, rather than by one of the others?

    PSProb(u, p) = P(p | u) = exp(w_p . x(u) + b_p) / sum over q of exp(w_q . x(u) + b_q)

x(u) are the words and marks of u weighted by tf-idf and brought to length 1; w and b are a multinomial logistic
regression (see `language.lexical.logistic`) on sample lines. The larger, the closer. Which lines it learns from:

    psprob            as many of each persona, drawn at random, as the one with the fewest has. What one draw finds is
                      luck where that is few, so P(p | u) is the mean over five of them
    psprob-weighted   all lines: a line weighs the less the more lines its speaker has, so that personas weigh alike
                      and no line is lost. Those who talk most are classes of their own, all the others are one more

Drawn are lines of the persona and of everybody who has twenty; where nobody else has so many, n lines of everybody who
has n, as many in all as can be had. Which lines of somebody are drawn depends on nobody else.

Two accuracies use such a classifier. They judge whole sets of lines, never a single one; lines without words are left
out:

    accuracy(U) = |{u in U : the most probable class of u is the wanted one}| / |U|

    personality classification accuracy    the classes are speakers, learnt from their sample lines as for `psprob`
    persona accuracy                       the classes are 'expresses the description' and 'does not', learnt from
                                           lines that people have judged, as for `psprob-weighted`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.language.lexical import Lines, SparseRows
from understudy.language.lexical.logistic import balanced_weights, fit
from understudy.language.lexical.rows import Ints, Reals
from understudy.metrics.line_metric import ALONE, LineMetric, Samples, describe_telling
from understudy.story.dialogue import Score

MOST = 12  # personas that have a class of their own where all lines are used
ENOUGH_LINES = 10  # that one of them must have
DRAWN_FROM = 20  # lines that a persona must have to be drawn from, where two have so many
DRAWS = 5
FEWEST_TOLD_APART = 4  # fewer are told apart by anything that one of them says


def speaker_classes(counts: Mapping[str, int], always: str | None = None) -> tuple[str, ...]:
    """Which personas get a class of their own, from how many lines each has: two at least, where there are two.

    `always` is one of them if it has a line; the others are those who talk most.
    """
    most = sorted((name for name in counts if counts[name]), key=lambda name: (name != always, -counts[name]))
    chosen = {name for rank, name in enumerate(most[:MOST]) if rank < 2 or counts[name] >= ENOUGH_LINES}
    return tuple(name for name in counts if name in chosen)


def drawn_from(counts: Mapping[str, int], always: str | None = None) -> tuple[str, ...]:
    """Of which personas equal numbers of lines are drawn, from how many lines each has; `always` is one of them."""
    enough = tuple(name for name in counts if name == always or counts[name] >= DRAWN_FROM)
    if len(enough) > 1:
        return enough
    sizes = sorted(counts.values(), reverse=True)
    limit = counts.get(always or "", max(sizes, default=0))
    draws = [(rank * min(size, limit), min(size, limit)) for rank, size in enumerate(sizes, 1) if rank > 1]
    _, size = max(draws, default=(0, 1))
    return tuple(name for name in counts if counts[name] >= size)


class Speakers:
    """Who says a line like this? A classifier of personas, learnt from their sample lines: `drawn` or `weighted`.

    `draws` are the lines of the samples that it is learnt from, once or several times.
    """

    def __init__(self, samples: Samples, names: Sequence[str], labels: Ints, draws: Sequence[Ints]) -> None:
        """A label is the place in `names` of who says a line of a draw; all others have the one after the last."""
        self.samples, self.names, self.draws = samples, tuple(names), draws
        bags = samples.corpus.lines.bags()
        self._fits = [SpeakerFit(samples.corpus.size, bags.take(rows), labels) for rows in draws if len(self.names) > 1]

    @classmethod
    def drawn(cls, samples: Samples, always: str | None = None) -> Speakers:
        """From as many lines of each as the one with the fewest has."""
        names = drawn_from({name: samples.count(name) for name in samples.names}, always)
        counts = [samples.count(name) for name in names]
        size = min(counts, default=0)
        draws = [
            np.concatenate([np.empty(0, np.int64), *(samples.span(name)[0] + _draw(name, count, size, number)
                                                     for name, count in zip(names, counts))])
            for number in range(DRAWS if max(counts, default=0) > size else 1)
        ]  # fmt: skip
        return cls(samples, names, np.repeat(np.arange(len(names)), size), draws)

    @classmethod
    def weighted(cls, samples: Samples, always: str | None = None) -> Speakers:
        """From all lines of those who talk most, and of all the others together."""
        names = speaker_classes({name: samples.count(name) for name in samples.names}, always)
        classes = {name: label for label, name in enumerate(names)}
        labels = [classes.get(name, len(classes)) for name in samples.names]
        counts = [samples.count(name) for name in samples.names]
        return cls(samples, names, np.repeat(labels, counts), [np.arange(samples.said)])

    def __contains__(self, name: str) -> bool:
        return bool(self._fits) and name in self.names

    def probabilities(self, lines: Lines) -> Reals:
        """A row for each line, a column for each of `names`, and one for all others where there are any."""
        bags = lines.bags()
        return _mean([fitted.probabilities(bags) for fitted in self._fits])

    def telling(self, name: str, lines: Lines, index: int) -> list[tuple[str, float]]:
        """The words of a line, and how much each speaks for a persona against the others' average; strongest first."""
        row = lines.bags().take(np.array([index]))
        weights = _mean([fitted.evidence(self.names.index(name), row) for fitted in self._fits])
        known = np.flatnonzero(np.any([fitted.knows(row) for fitted in self._fits], axis=0)).tolist()
        weighed = [(lines.word(int(row.columns[position])), float(weights[position])) for position in known]
        return sorted(weighed, key=lambda pair: -abs(pair[1]))


class SpeakerFit:
    """One regression, over the words that are in the lines it is learnt from."""

    def __init__(self, size: int, bags: SparseRows, labels: Ints, c: float = 1.0) -> None:
        frequencies = np.bincount(bags.columns, minlength=bags.width)
        words = np.flatnonzero(frequencies)
        self._idf = np.log((1 + len(bags)) / (1 + frequencies[words])) + 1
        self._features = np.full(max(size, bags.width), -1)
        self._features[words] = np.arange(len(words))
        classes = int(labels.max()) + 1
        self._model = fit(self._tf_idf(bags), labels, classes, c, row_weights=balanced_weights(labels, classes))

    def probabilities(self, bags: SparseRows) -> Reals:
        return self._model.probabilities(self._tf_idf(bags))

    def evidence(self, label: int, row: SparseRows) -> Reals:
        """For each word of one row, how much it speaks for a class against the average of all; 0 where unknown."""
        weighted = self._tf_idf(row)
        weights = self._model.weights[:, weighted.columns]
        evidence = np.zeros(len(row.columns))
        evidence[self.knows(row)] = (weights[label] - weights.mean(axis=0)) * weighted.values
        return evidence

    def knows(self, bags: SparseRows) -> NDArray[np.bool_]:
        """Of each value of the rows, whether its word is among those learnt from."""
        known: NDArray[np.bool_] = bags.columns < len(self._features)
        known[known] = self._features[bags.columns[known]] >= 0
        return known

    def _tf_idf(self, bags: SparseRows) -> SparseRows:
        """Bags of words as tf-idf of length 1."""
        known = bags.filter_values(self.knows(bags))
        columns = self._features[known.columns]
        return SparseRows(known.starts, columns, known.values * self._idf[columns], len(self._idf)).normalized()


def _mean(arrays: Sequence[Reals]) -> Reals:
    return arrays[0] if len(arrays) == 1 else np.mean(arrays, axis=0)


def _draw(name: str, count: int, size: int, number: int) -> Ints:
    """Which of somebody's lines are drawn, in order: it depends on nobody else."""
    return np.sort(np.random.default_rng([number, *name.encode()]).permutation(count)[:size])


def psprob(samples: Samples, name: str, speakers: Speakers | None = None) -> LineMetric:
    """The metric for a persona, from equal draws; `speakers` may be shared by several."""
    return PSProb("psprob", samples, name, speakers, Speakers.drawn)


def weighted_psprob(samples: Samples, name: str, speakers: Speakers | None = None) -> LineMetric:
    """The same from all lines, for which personas weigh alike."""
    return PSProb("psprob-weighted", samples, name, speakers, Speakers.weighted)


class PSProb(LineMetric):
    def __init__(
        self,
        metric: str,
        samples: Samples,
        persona: str,
        speakers: Speakers | None,
        learn: Callable[[Samples, str], Speakers],
    ) -> None:
        missing = samples.lack_of(persona, ALONE)
        super().__init__(metric, samples, missing)
        self.persona = persona
        if not missing:
            self._speakers = speakers or learn(samples, persona)
            if persona not in self._speakers:
                self.missing = f"{persona} is not among those told apart"

    def measured(self, lines: Lines) -> Reals:
        return self._speakers.probabilities(lines)[:, self._speakers.names.index(self.persona)]

    def why(self, lines: Lines, index: int) -> str:
        unknown = f"none of its words is in the lines that {len(self._speakers.names)} personas are told apart by"
        return describe_telling(self._speakers.telling(self.persona, lines, index), unknown)


class SetMetric:
    """The share of a set of lines taken for one class, from all lines at once or from the counts of its parts."""

    def __init__(self, name: str, speakers: Speakers, wanted: str) -> None:
        self.name, self._speakers, self._wanted = name, speakers, wanted

    def __call__(self, lines: Sequence[str] | Lines) -> Score:
        return self.score(*self.count(lines))

    def count(self, lines: Sequence[str] | Lines) -> tuple[int, int]:
        """How many lines are taken for the class, and how many have words."""
        tokenized = lines if isinstance(lines, Lines) else self._speakers.samples.tokenize(lines)
        spoken = tokenized.plain.lengths > 0
        if self._wanted not in self._speakers or not spoken.any():
            return 0, int(spoken.sum())
        classes = self._speakers.probabilities(tokenized)[spoken].argmax(axis=1)
        return int((classes == self._speakers.names.index(self._wanted)).sum()), len(classes)

    def score(self, hits: int, spoken: int) -> Score:
        if self._wanted not in self._speakers:
            return Score(self.name, None, f"no sample lines to tell '{self._wanted}' from others by")
        if not spoken:
            return Score(self.name, None, "no line has words")
        chance = 1 / len(self._speakers.names)
        return Score(self.name, hits / spoken, f"{hits:,} of {spoken:,} lines; by chance {chance:.2f}")


def personality_classification_accuracy(samples: Samples, name: str) -> SetMetric:
    """The share of a set that is taken for a persona's, among all personas that have enough sample lines."""
    return SetMetric("personality_classification_accuracy", Speakers.drawn(samples, name), name)


def persona_accuracy(expressing: Iterable[str], others: Iterable[str], language: str = "en") -> SetMetric:
    """The share of a set that expresses a description, learnt from lines that do and lines that do not."""
    judged = Samples({"expressed": expressing, "not expressed": others}, language)
    return SetMetric("persona_accuracy", Speakers.weighted(judged), "expressed")


def small_cast_warning(samples: Samples, name: str) -> str:
    """Why psprob says little of somebody: few people to be told from, or few lines of their own; else blank."""
    counts = {who: samples.count(who) for who in samples.names}
    lines, people = samples.count(name), len(drawn_from(counts, name))
    if people > 1 and people < FEWEST_TOLD_APART:
        return (
            f"psprob says little here: it tells {people} people apart, so that any line has {1 / people:.2f} by chance"
        )
    if 0 < lines < ENOUGH_LINES:
        return (
            f"psprob says little here: {name} has {lines} lines by then, and it takes {ENOUGH_LINES} to be told apart"
        )
    return ""
