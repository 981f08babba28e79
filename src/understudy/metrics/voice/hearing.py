"""One character against everybody else: the parts of how much a line sounds like the character.

For a line u with marks f, a character p with n lines, others o of the same story and a cohort of other stories'
characters; e(u) and v(p) are the model's vectors:

    manner         e(u) . v(p) - ln(1/2 mean over the cohort of exp(e(u) . v(c)) + 1/2 mean over o of exp(e(u) . v(o)))
    phrase         sum over f of ln(q_f / b_f) / sqrt(marks of u + 5),   q_f = (n_f + 100 b_f) / (n + 100)
                   b_f: half of how often lines of all novels have f, half of how often lines of the others have it
    first_person   mean over each 'I' of ln(q_i / b_i),   q_i = (n_i + 3 b_i) / (n_I + 3)
    ending         the same over the endings of sentences
    own_things     sum of rarity over nouns that the character's lines have / sqrt(1 + nouns of u)
    foreign_things the same over nouns that nobody in the story has said
    speaker        ln(PSProb / (1 - PSProb))
    salient        ln(PTSal + 0.0001)
    usual          - ln(uPPL)

What is not there counts nothing: a line without 'I' has a first_person of 0. The last three are the metrics of those
names, from the words and marks of the same lines: they hear which words are used, whatever the turn of phrase.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from understudy.lexical.rows import Reals, segment_sums
from understudy.metrics.psprob import psprob
from understudy.metrics.ptsal import ptsal
from understudy.metrics.samples import Samples
from understudy.metrics.uppl import uppl
from understudy.metrics.voice.model import EarModel, Speech

__all__ = ["Hearing"]

PHRASES_HELD = 100.0  # lines of everybody's talk that a character's own are mixed with
OTHERS_HELD = 100.0
CHOICES_HELD = 3.0
ENOUGH_LINES = 8  # of another speaker, to have a vector of their own
SURE = 1e-6  # a probability is at least so far from 0 and 1
UNSALIENT = 1e-4
OWN = "own"


class Hearing:
    def __init__(self, model: EarModel, own: Speech, others: Sequence[Speech]) -> None:
        self._model = model
        self._vector = model.speaker_vector(own)
        company = [model.speaker_vector(speech) for speech in others if len(speech) >= ENOUGH_LINES]
        self._company = np.stack(company) if company else model.cohort
        said = sum((speech.counts() for speech in others), np.zeros(len(model.rates)))
        lines = sum(len(speech) for speech in others)
        usual = (model.rates + (said + OTHERS_HELD * model.rates) / (lines + OTHERS_HELD)) / 2
        used = (own.counts() + PHRASES_HELD * usual) / (len(own) + PHRASES_HELD)
        self._phrases = np.log(used / usual)
        self._first_person = _leanings(model.first_person, (one for told in own.traits for one in told.first_persons))
        self._ending = _leanings(model.ending, (one for told in own.traits for one in told.endings))
        self._own_things = {thing for told in own.traits for thing in told.things}
        self._known = self._own_things.union(*(told.things for speech in others for told in speech.traits))

        said_by = {OWN: own.texts, **{f"{number}": speech.texts for number, speech in enumerate(others)}}
        self._samples = Samples(said_by, "ja")
        self._psprob, self._ptsal, self._uppl = (make(self._samples, OWN) for make in (psprob, ptsal, uppl))

    def parts(self, speech: Speech) -> Reals:
        """A row for each line, a column for each of PARTS."""
        vectors = self._model.line_vectors(speech)
        against = np.logaddexp(_log_mean(vectors @ self._model.cohort.T), _log_mean(vectors @ self._company.T))
        return np.stack(
            [
                vectors @ self._vector - (against - np.log(2)),
                segment_sums(self._phrases[speech.marks.columns], speech.marks.starts) / speech.scale,
                np.array([_mean(self._first_person, told.first_persons) for told in speech.traits]),
                np.array([_mean(self._ending, told.endings) for told in speech.traits]),
                np.array([self._rarities(told.things, told.things & self._own_things) for told in speech.traits]),
                np.array([self._rarities(told.things, told.things - self._known) for told in speech.traits]),
                *self._by_words(speech.texts),
            ],
            axis=1,
        )

    def _by_words(self, texts: Sequence[str]) -> tuple[Reals, Reals, Reals]:
        """Where a line has no words, or there is nobody else to tell apart, nothing speaks for or against."""
        lines = self._samples.tokenize(texts)
        speaker = np.clip(np.nan_to_num(self._psprob.values(lines), nan=0.5), SURE, 1 - SURE)
        salient = np.nan_to_num(self._ptsal.values(lines), nan=0.0)
        usual = np.nan_to_num(-np.log(self._uppl.values(lines)), nan=0.0)
        return np.log(speaker / (1 - speaker)), np.log(salient + UNSALIENT), usual

    def telling(self, speech: Speech, place: int) -> list[tuple[str, float]]:
        """What speaks for the character (above 0) or against it in one line, strongest first."""
        told = speech.traits[place]
        weights = dict(zip(("first_person", "ending", "own", "foreign"), self._model.weights[2:6].tolist()))
        found = {one: weights["first_person"] * self._first_person.get(one, 0.0) for one in told.first_persons}
        found |= {f"an ending, {one}": weights["ending"] * self._ending.get(one, 0.0) for one in told.endings}
        for kind, things in (("own", told.things & self._own_things), ("foreign", told.things - self._known)):
            found |= {thing: weights[kind] * self._rarities(told.things, {thing}) for thing in sorted(things)}
        return sorted(((what, weight) for what, weight in found.items() if weight), key=lambda pair: -abs(pair[1]))

    def _rarities(self, things: Iterable[str], some: Iterable[str]) -> float:
        return sum(self._model.rarity(thing) for thing in some) / float(np.sqrt(1 + len(set(things))))


def _leanings(usual: Mapping[str, float], chosen: Iterable[str]) -> dict[str, float]:
    """For each choice, ln of how much more often it was made than is usual."""
    counts = Counter(one for one in chosen if one in usual)
    total = counts.total() + CHOICES_HELD
    return {one: float(np.log((counts[one] + CHOICES_HELD * rate) / total / rate)) for one, rate in usual.items()}


def _mean(leanings: Mapping[str, float], chosen: Iterable[str]) -> float:
    known = [leanings[one] for one in chosen if one in leanings]
    return sum(known) / len(known) if known else 0.0


def _log_mean(products: Reals) -> Reals:
    """ln of the mean of exp, along the rows."""
    top = products.max(axis=1)
    found: Reals = top + np.log(np.exp(products - top[:, None]).mean(axis=1))
    return found
