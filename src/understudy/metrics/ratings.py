"""What people answered, as a matrix of items by people for each question.

A `Scale` says what the answers to a question mean, after Stevens' levels of measurement:

    nominal    answers are only equal or not: which of several was chosen
    ordinal    they have an order: unlikely, unsure, likely; points from 1 to 5
    interval   they are numbers, and differences mean the same everywhere on the scale
    ratio      they are numbers from 0 up, and 0 means nothing of it

Without a scale, numbers are taken as ordinal and words as nominal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from understudy.errors import InputError
from understudy.language.lexical.rows import Ints, Reals

__all__ = ["Answered", "Level", "Rating", "RatingTable", "Scale", "rating_tables"]

Answered = str | float
Level = Literal["nominal", "ordinal", "interval", "ratio"]
MISSING = -1


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's answer to one question about one item; None where it was left open."""

    item: str
    person: str
    question: str
    value: Answered | None


@dataclass(frozen=True, slots=True)
class Scale:
    """A level of measurement, and the possible answers in their order where that is not the order of numbers."""

    level: Level
    values: tuple[Answered, ...] = ()

    def __post_init__(self) -> None:
        if self.level not in get_args(Level):
            raise InputError(f"'{self.level}' is no level of measurement: use one of {', '.join(get_args(Level))}")
        if len(set(self.values)) < len(self.values):
            raise InputError("a scale names an answer twice: name each once, in order")
        words = any(isinstance(value, str) for value in self.values)
        if words and self.level in ("interval", "ratio"):
            raise InputError(f"answers in words have no distances: call the scale ordinal or nominal, not {self.level}")
        if self.level == "ratio" and any(float(value) < 0 for value in self.values):
            raise InputError("a ratio scale begins at 0: call a scale with negative numbers interval")


@dataclass(frozen=True, slots=True, eq=False)
class RatingTable:
    """The answers to one question: `codes[item, person]` is an index into `scale.values`, or -1 where there is none."""

    question: str
    scale: Scale
    items: tuple[str, ...]
    people: tuple[str, ...]
    codes: Ints = field(repr=False)

    @property
    def counts(self) -> Reals:
        """How many people gave each answer, items by answers."""
        rows, columns = np.nonzero(self.codes != MISSING)
        counts = np.zeros((len(self.items), len(self.scale.values)))
        np.add.at(counts, (rows, self.codes[rows, columns]), 1.0)
        return counts

    @property
    def numbers(self) -> Reals:
        """The answers as numbers, items by people, NaN where there is none; words count from 1 in their order."""
        values = self.scale.values
        if any(isinstance(value, str) for value in values):
            if self.scale.level == "nominal":
                raise InputError(f"the answers to '{self.question}' are names, which have no mean: take shares of them")
            values = tuple(float(rank) for rank in range(1, len(values) + 1))
        return np.append(np.array(values, dtype=np.float64), np.nan)[self.codes]

    def means(self) -> dict[str, float]:
        """The mean answer of each item that has one."""
        numbers = self.numbers
        answered = ~np.isnan(numbers)
        sums, sizes = np.where(answered, numbers, 0.0).sum(axis=1), answered.sum(axis=1)
        return {item: float(total / size) for item, total, size in zip(self.items, sums, sizes) if size}


def rating_tables(ratings: Iterable[Rating], scales: Mapping[str, Scale] | None = None) -> dict[str, RatingTable]:
    """The table of each question, items and people in the order in which they come up.

    Answers must be on the question's scale where one is named, and nobody may answer a question twice for an item.
    """
    by_question: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_question.setdefault(rating.question, []).append(rating)
    return {question: _table(question, some, (scales or {}).get(question)) for question, some in by_question.items()}


def _table(question: str, ratings: Sequence[Rating], scale: Scale | None) -> RatingTable:
    answers = {rating.value for rating in ratings if rating.value is not None}
    scale = _scale(question, answers, scale)
    items = {item: index for index, item in enumerate(dict.fromkeys(rating.item for rating in ratings))}
    people = {person: index for index, person in enumerate(dict.fromkeys(rating.person for rating in ratings))}
    index_of = {value: index for index, value in enumerate(scale.values)}
    codes = np.full((len(items), len(people)), MISSING, dtype=np.int64)
    seen = set[tuple[str, str]]()
    for rating in ratings:
        if (rating.item, rating.person) in seen:
            raise InputError(
                f"'{rating.person}' answers '{question}' twice for item '{rating.item}': keep one of the answers"
            )
        seen.add((rating.item, rating.person))
        if rating.value is not None:
            codes[items[rating.item], people[rating.person]] = index_of[rating.value]
    return RatingTable(question, scale, tuple(items), tuple(people), codes)


def _scale(question: str, answers: set[Answered], scale: Scale | None) -> Scale:
    """The scale with all its answers named."""
    words = sorted(value for value in answers if isinstance(value, str))
    numbers = sorted(value for value in answers if not isinstance(value, str))
    if words and numbers:
        raise InputError(
            f"the answers to '{question}' are numbers and words ({numbers[0]:g}, '{words[0]}'): give all as one of them"
        )
    if not all(math.isfinite(number) for number in numbers):
        raise InputError(f"an answer to '{question}' is not a finite number: leave it open (None) instead")
    if scale is None:
        return Scale("nominal" if words else "ordinal", (*words, *numbers))
    if scale.values:
        unknown = [value for value in (*words, *numbers) if value not in scale.values]
        if unknown:
            raise InputError(f"{unknown[0]!r} is no answer to '{question}': its scale has {list(scale.values)}")
        return scale
    if scale.level == "ordinal" and len(words) > 1:
        raise InputError(f"the answers to '{question}' are words of no known order: name them in order in its scale")
    return Scale(scale.level, (*words, *numbers))
