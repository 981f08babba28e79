"""The shipped ear for Japanese: what was learnt from the characters of many novels about how characters differ.

    marks         turns of phrase that several novels have, with a vector each, and how often lines have them
    cohort        the vectors of some hundred characters, to compare with
    first_person  how often 'I' is said in which way; `ending` how often sentences end in which way
    things        in how many novels a noun is used; one that is not listed is in one at most
    weights       of the parts of the score, and what is added

A line's vector is the sum of its marks' vectors over sqrt(marks + 5); a character's is the mean over its lines, brought
to length 1. Vectors were trained so that a line's product with its own speaker's vector is larger than with others'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from understudy.lexical.rows import Ints, Reals, Rows, sums
from understudy.metrics.voice.traits import Traits, traits_of
from understudy.model_folder import ModelFolder, Tensors, read_model, texts_as_tensor

__all__ = ["PARTS", "EarModel", "Speech", "shipped_ear"]

PARTS = ("manner", "phrase", "first_person", "ending", "own_things", "foreign_things", "speaker", "salient", "usual")
FEW_MARKS = 5  # added to the number of a line's marks: what three marks say is not to be trusted much


@dataclass(frozen=True, slots=True)
class Speech:
    """Lines as the model hears them; `marks` are those it knows, 1 each, and are no longer among the traits."""

    marks: Rows
    traits: tuple[Traits, ...]

    def __len__(self) -> int:
        return len(self.traits)

    @property
    def texts(self) -> list[str]:
        return [told.text for told in self.traits]

    def counts(self) -> Reals:
        """For each mark, how many of the lines have it."""
        return np.bincount(self.marks.columns, minlength=self.marks.width).astype(np.float64)

    def some(self, places: Sequence[int]) -> Speech:
        return Speech(self.marks.some(np.asarray(places, dtype=np.int64)), tuple(self.traits[at] for at in places))

    @property
    def scale(self) -> Reals:
        """What a sum over a line's marks is divided by."""
        found: Reals = np.sqrt(np.diff(self.marks.starts) + FEW_MARKS)
        return found


@dataclass(frozen=True, slots=True)
class EarModel:
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
    def of(cls, model: ModelFolder) -> EarModel:
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

    def hear(self, lines: Iterable[str]) -> Speech:
        return self.heard(map(traits_of, lines))

    def heard(self, traits: Iterable[Traits]) -> Speech:
        """Marks become numbers and are let go of: as texts they would take a hundred times the room of the line."""
        rows, kept = [np.zeros(0, dtype=np.int64)], []
        for one in traits:
            rows.append(self.numbers(one))
            kept.append(replace(one, marks=frozenset()))
        starts = np.cumsum([len(row) for row in rows])
        columns = np.concatenate(rows)
        return Speech(Rows(starts, columns, np.ones(len(columns)), len(self.marks)), tuple(kept))

    def numbers(self, traits: Traits) -> Ints:
        """The marks of one line that the model knows."""
        return np.array(sorted(self.marks[mark] for mark in traits.marks if mark in self.marks), dtype=np.int64)

    def line_vectors(self, speech: Speech) -> Reals:
        """A row for each line."""
        rows = speech.marks
        return (
            np.stack([sums(column[rows.columns], rows.starts) for column in self.vectors.T], axis=1)
            / (speech.scale[:, None])
        )

    def speaker_vector(self, speech: Speech) -> Reals:
        mean: Reals = self.line_vectors(speech).mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)

    def rarity(self, thing: str) -> float:
        """ln(novels / (1 + novels that name the thing))"""
        return float(np.log(self.novels / (1 + self.things.get(thing, 1.0))))


@cache
def shipped_ear() -> EarModel:
    """The model that comes with the package."""
    with as_file(files("understudy") / "models" / "voice") as folder:
        return EarModel.of(read_model(Path(folder), "voice"))
