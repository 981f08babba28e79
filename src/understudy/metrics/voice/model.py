"""The trained Japanese voice model, and the features it scores a line with.

The model holds what the characters of many novels teach about how characters differ:

    marks         turns of phrase that several novels have, with a vector each, and how often lines have them
    cohort        the vectors of some hundred characters, to compare with
    first_person  how often 'I' is said in which way; `ending` how often sentences end in which way
    things        in how many novels a noun is used; one that is not listed is in one at most
    weights       of the parts of the score, and what is added

A line's vector is the sum of its marks' vectors over sqrt(marks + 5); a character's is the mean over its lines, brought
to length 1. Vectors were trained so that a line's product with its own speaker's vector is larger than with others'.

The features of a line u with marks f, for a character p with n lines, others o of the same story and a cohort of other
stories' characters; e(u) and v(p) are the vectors of line and character:

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

A feature is 0 where the line has nothing to compute it from: first_person is 0 for a line without 'I'. The last three
are the metrics of those names over words and marks: they depend on which words are used, the others on how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from understudy.language.lexical.rows import Ints, Reals, SparseRows, segment_sums
from understudy.language.model_folder import ModelFolder, Tensors, read_model, texts_as_tensor
from understudy.metrics.line_metric import Samples
from understudy.metrics.psprob import weighted_psprob
from understudy.metrics.ptsal import ptsal_ends
from understudy.metrics.uppl import uppl
from understudy.metrics.voice.traits import Traits, traits_of

PARTS = ("manner", "phrase", "first_person", "ending", "own_things", "foreign_things", "speaker", "salient", "usual")
FEW_MARKS = 5  # added to the number of a line's marks: three marks are weak evidence

PHRASES_HELD = 100.0  # lines of everybody's talk that a character's own are mixed with
OTHERS_HELD = 100.0
CHOICES_HELD = 3.0
ENOUGH_LINES = 8  # of another speaker, to have a vector of their own
SURE = 1e-6  # a probability is at least so far from 0 and 1
UNSALIENT = 1e-4
OWN = "own"


@dataclass(frozen=True, slots=True)
class SpeakerLines:
    """Encoded lines of a speaker; `marks` are those the model knows, 1 each, and are no longer among the traits."""

    marks: SparseRows
    traits: tuple[Traits, ...]

    def __len__(self) -> int:
        return len(self.traits)

    @property
    def texts(self) -> list[str]:
        return [line.text for line in self.traits]

    def counts(self) -> Reals:
        """For each mark, how many of the lines have it."""
        return np.bincount(self.marks.columns, minlength=self.marks.width).astype(np.float64)

    def some(self, indices: Sequence[int]) -> SpeakerLines:
        return SpeakerLines(
            self.marks.take(np.asarray(indices, dtype=np.int64)), tuple(self.traits[index] for index in indices)
        )

    @property
    def scale(self) -> Reals:
        """What a sum over a line's marks is divided by."""
        scale: Reals = np.sqrt(np.diff(self.marks.starts) + FEW_MARKS)
        return scale


@dataclass(frozen=True, slots=True)
class VoiceModel:
    marks: Mapping[str, int]
    vectors: Reals
    rates: Reals
    cohort: Reals
    first_person: Mapping[str, float]
    ending: Mapping[str, float]
    things: Mapping[str, float]
    novels: float
    weights: Reals

    @classmethod
    def of(cls, model: ModelFolder) -> VoiceModel:
        marks = model.texts("marks")
        width = model.tensor("vectors", len(marks), None).shape[1]

        def valued(name: str) -> dict[str, float]:
            texts = model.texts(f"{name}.texts")
            return dict(zip(texts, model.tensor(name, len(texts)).tolist()))

        return cls(
            {mark: number for number, mark in enumerate(marks)},
            model.tensor("vectors", len(marks), width).astype(np.float64),
            model.tensor("rates", len(marks)).astype(np.float64),
            model.tensor("cohort", None, width).astype(np.float64),
            valued("first_person"),
            valued("ending"),
            valued("things"),
            model.number("novels", low=1, high=1e9),
            model.tensor("weights", len(PARTS) + 1).astype(np.float64),
        )

    def tensors(self) -> Tensors:
        """As they are written."""
        numbers = {"vectors": self.vectors, "rates": self.rates, "cohort": self.cohort, "weights": self.weights}
        listed = {"first_person": self.first_person, "ending": self.ending, "things": self.things}
        return {
            "marks": texts_as_tensor(self.marks),
            **{name: array.astype(np.float32) for name, array in numbers.items()},
            **{name: np.array(list(values.values()), dtype=np.float32) for name, values in listed.items()},
            **{f"{name}.texts": texts_as_tensor(values) for name, values in listed.items()},
        }

    def encode(self, lines: Iterable[str]) -> SpeakerLines:
        return self.encode_traits(map(traits_of, lines))

    def encode_traits(self, traits: Iterable[Traits]) -> SpeakerLines:
        """Marks become ids and leave the traits: as texts they take a hundred times the memory of the line."""
        rows, without_marks = [np.zeros(0, dtype=np.int64)], []
        for line in traits:
            rows.append(self.numbers(line))
            without_marks.append(replace(line, marks=frozenset()))
        starts = np.cumsum([len(row) for row in rows])
        columns = np.concatenate(rows)
        return SpeakerLines(SparseRows(starts, columns, np.ones(len(columns)), len(self.marks)), tuple(without_marks))

    def numbers(self, traits: Traits) -> Ints:
        """The marks of one line that the model knows."""
        return np.array(sorted(self.marks[mark] for mark in traits.marks if mark in self.marks), dtype=np.int64)

    def line_vectors(self, speech: SpeakerLines) -> Reals:
        """A row for each line."""
        rows = speech.marks
        return (
            np.stack([segment_sums(column[rows.columns], rows.starts) for column in self.vectors.T], axis=1)
            / (speech.scale[:, None])
        )

    def speaker_vector(self, speech: SpeakerLines) -> Reals:
        mean: Reals = self.line_vectors(speech).mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)

    def rarity(self, thing: str) -> float:
        """ln(novels / (1 + novels that name the thing))"""
        return float(np.log(self.novels / (1 + self.things.get(thing, 1.0))))


@cache
def shipped_voice_model() -> VoiceModel:
    """The model that comes with the package."""
    with as_file(files("understudy") / "models" / "voice") as folder:
        return VoiceModel.of(read_model(Path(folder), "voice"))


class SpeakerComparison:
    def __init__(self, model: VoiceModel, own: SpeakerLines, company: Sequence[SpeakerLines]) -> None:
        self._model = model
        self._vector = model.speaker_vector(own)
        company_vectors = [model.speaker_vector(speech) for speech in company if len(speech) >= ENOUGH_LINES]
        self._company = np.stack(company_vectors) if company_vectors else model.cohort
        said = sum((speech.counts() for speech in company), np.zeros(len(model.rates)))
        lines = sum(len(speech) for speech in company)
        usual = (model.rates + (said + OTHERS_HELD * model.rates) / (lines + OTHERS_HELD)) / 2
        used = (own.counts() + PHRASES_HELD * usual) / (len(own) + PHRASES_HELD)
        self._phrases = np.log(used / usual)
        self._first_person = _leanings(
            model.first_person, (choice for line in own.traits for choice in line.first_persons)
        )
        self._ending = _leanings(model.ending, (choice for line in own.traits for choice in line.endings))
        self._own_things = {thing for line in own.traits for thing in line.things}
        self._known = self._own_things.union(*(line.things for speech in company for line in speech.traits))

        said_by = {OWN: own.texts, **{f"{number}": speech.texts for number, speech in enumerate(company)}}
        self._samples = Samples(said_by, "ja")
        self._psprob, self._ptsal, self._uppl = (
            create(self._samples, OWN) for create in (weighted_psprob, ptsal_ends, uppl)
        )

    def parts(self, speech: SpeakerLines) -> Reals:
        """A row for each line, a column for each of PARTS."""
        vectors = self._model.line_vectors(speech)
        against = np.logaddexp(_log_mean(vectors @ self._model.cohort.T), _log_mean(vectors @ self._company.T))
        return np.stack(
            [
                vectors @ self._vector - (against - np.log(2)),
                segment_sums(self._phrases[speech.marks.columns], speech.marks.starts) / speech.scale,
                np.array([_mean(self._first_person, line.first_persons) for line in speech.traits]),
                np.array([_mean(self._ending, line.endings) for line in speech.traits]),
                np.array([self._rarities(line.things, line.things & self._own_things) for line in speech.traits]),
                np.array([self._rarities(line.things, line.things - self._known) for line in speech.traits]),
                *self._by_words(speech.texts),
            ],
            axis=1,
        )

    def _by_words(self, texts: Sequence[str]) -> tuple[Reals, Reals, Reals]:
        """Neutral values where a line has no words, or there is nobody else to compare with."""
        lines = self._samples.tokenize(texts)
        speaker = np.clip(np.nan_to_num(self._psprob.values(lines), nan=0.5), SURE, 1 - SURE)
        salient = np.nan_to_num(self._ptsal.values(lines), nan=0.0)
        usual = np.nan_to_num(-np.log(self._uppl.values(lines)), nan=0.0)
        return np.log(speaker / (1 - speaker)), np.log(salient + UNSALIENT), usual

    def telling(self, speech: SpeakerLines, index: int) -> list[tuple[str, float]]:
        """What speaks for the character (above 0) or against it in one line, strongest first."""
        line = speech.traits[index]
        weights = dict(zip(("first_person", "ending", "own", "foreign"), self._model.weights[2:6].tolist()))
        evidence = {
            choice: weights["first_person"] * self._first_person.get(choice, 0.0) for choice in line.first_persons
        }
        evidence |= {
            f"an ending, {choice}": weights["ending"] * self._ending.get(choice, 0.0) for choice in line.endings
        }
        for kind, things in (("own", line.things & self._own_things), ("foreign", line.things - self._known)):
            evidence |= {thing: weights[kind] * self._rarities(line.things, {thing}) for thing in sorted(things)}
        return sorted(((what, weight) for what, weight in evidence.items() if weight), key=lambda pair: -abs(pair[1]))

    def _rarities(self, things: Iterable[str], some: Iterable[str]) -> float:
        return sum(self._model.rarity(thing) for thing in some) / float(np.sqrt(1 + len(set(things))))


def _leanings(usual: Mapping[str, float], chosen: Iterable[str]) -> dict[str, float]:
    """For each choice, ln of how much more often it was made than is usual."""
    counts = Counter(choice for choice in chosen if choice in usual)
    total = counts.total() + CHOICES_HELD
    return {
        choice: float(np.log((counts[choice] + CHOICES_HELD * rate) / total / rate)) for choice, rate in usual.items()
    }


def _mean(leanings: Mapping[str, float], chosen: Iterable[str]) -> float:
    known = [leanings[choice] for choice in chosen if choice in leanings]
    return sum(known) / len(known) if known else 0.0


def _log_mean(products: Reals) -> Reals:
    """ln of the mean of exp, along the rows."""
    top = products.max(axis=1)
    result: Reals = top + np.log(np.exp(products - top[:, None]).mean(axis=1))
    return result
