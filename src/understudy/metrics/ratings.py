"""What people answered, as a matrix of items by people for each question, and how automatic measures go with it.

A `Scale` says what the answers to a question mean, after Stevens' levels of measurement:

    nominal    answers are only equal or not: which of several was chosen
    ordinal    they have an order: unlikely, unsure, likely; points from 1 to 5
    interval   they are numbers, and differences mean the same everywhere on the scale
    ratio      they are numbers from 0 up, and 0 means nothing of it

Without a scale, numbers are taken as ordinal and words as nominal.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from understudy.errors import InputError
from understudy.language.lexical.rows import Ints, Reals
from understudy.metrics.statistics import SHUFFLES, Estimate, Z, holm, spearman_interval, spearman_p_values
from understudy.story.dialogue import Score

__all__ = [
    "Answered",
    "Correlation",
    "Rating",
    "RatingTable",
    "Scale",
    "correlations",
    "items_needed",
    "people_needed",
    "rating_tables",
    "variance_components",
]

Answered = str | float
Level = Literal["nominal", "ordinal", "interval", "ratio"]
MISSING = -1
FEWEST = 10  # items that a correlation is taken of
Measure = TypeVar("Measure", bound=Hashable)


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


# How many items, and how many people for each, make an interval as narrow as wanted.
#
# An answer is y_ui = mu + b_u + e_ui: items differ by a variance B (between), people on one item by a variance W
# (within). The mean over I items with R people each, other people for each item, has
#
#     variance   B / I + W / (I R)
#     width      2 z sqrt(variance)                     of its 95% interval, z = 1.96
#
#     items      I = (B + W / R) (2 z / width)²
#     people     R = W / (I (width / 2 z)² - B)         not to be had where I (width / 2 z)² <= B: more people on the
#                                                       same items do not make the items more
#     one item   R = W (2 z / width)²                   for its own mean: B = 0 and I = 1
#
# More items are worth more than more people: R people on each of I items never do better than one on each of I R.
#
# B and W come from an earlier table of ratings (one-way analysis of variance, m_u answers for item u, N in all), or are
# assumed. On a scale from 1 to 5 W is often about 1:
#
#     W = sum over u and i of (y_ui - mean_u)² / (N - I)
#     B = (sum over u of m_u (mean_u - mean)² / (I - 1) - W) / ((N - sum over u of m_u² / N) / (I - 1)),  at least 0
#
# Where the same few people answer everything, the mean also shifts with how strict they are, by the variance between
# people over their number, which more items do not lessen; differences between agents that they all judged are free of
# it.


ROUNDING = 1e-9  # what is a whole number but for rounding is not raised to the next one


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance between items, and of people's answers within one."""

    between: float
    within: float

    def __post_init__(self) -> None:
        if not (self.between >= 0 and self.within >= 0 and math.isfinite(self.between + self.within)):
            raise InputError(f"variances are numbers from 0 up, not {self.between:g} and {self.within:g}")


def variance_components(table: RatingTable) -> VarianceComponents:
    """As they are in a table of ratings, such as a first round with few people."""
    numbers = table.numbers
    answered = ~np.isnan(numbers)
    numbers, answered = numbers[answered.any(axis=1)], answered[answered.any(axis=1)]
    sizes, total, items = answered.sum(axis=1), int(answered.sum()), len(numbers)
    if items < 2 or total == items:
        raise InputError(
            f"'{table.question}' has too few answers to tell items from people: ask two people about two items at least"
        )
    filled = np.where(answered, numbers, 0.0)
    means = filled.sum(axis=1) / sizes
    within = float((np.where(answered, numbers - means[:, None], 0.0) ** 2).sum() / (total - items))
    over_items = float((sizes * (means - filled.sum() / total) ** 2).sum() / (items - 1))
    size = float((total - (sizes**2).sum() / total) / (items - 1))
    return VarianceComponents(max(0.0, (over_items - within) / size), within)


def items_needed(components: VarianceComponents, people: int, width: float) -> Score:
    """Items needed for an interval of the given width, with so many people for each."""
    return _whole("items", (components.between + components.within / people) / _variance(width))


def people_needed(components: VarianceComponents, items: int, width: float) -> Score:
    """Raters per item needed for an interval of the given width."""
    left = items * _variance(width) - components.between
    if components.within == 0 and left >= 0:
        return Score("people", 1.0)
    if left <= 0:
        least = math.floor(components.between / _variance(width) + ROUNDING) + 1
        return Score("people", None, f"no number of people is enough with {items} items: take {least} at least")
    return _whole("people", components.within / left)


def _variance(width: float) -> float:
    """Of a mean whose 95% interval has the width."""
    if not width > 0:
        raise InputError(f"an interval cannot be {width:g} wide: name a width above 0")
    return (width / (2 * Z)) ** 2


def _whole(name: str, number: float) -> Score:
    return Score(name, float(max(1, math.ceil(number - ROUNDING))))


# Which automatic measures of an item go with what people say of it.
#
# For each measure r_s (Spearman) with people's scores, a bootstrap interval over items or groups of items, and p by
# shuffling the scores, adjusted after Holm over all measures that were looked at (see `statistics`). An item that a
# measure has no value for is left out of that measure alone.


@dataclass(frozen=True, slots=True)
class Correlation:
    """r_s of a measure with people, how probable it is by chance, and the same after Holm."""

    estimate: Estimate
    p: float | None = None
    p_adjusted: float | None = None

    def row(self) -> dict[str, Any]:
        tested = {} if self.p is None else {"p": self.p, "p_adjusted": self.p_adjusted}
        return {**self.estimate.row(), **tested}


def correlations(
    measures: Mapping[Measure, Reals],
    scores: Reals,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    shuffles: int = SHUFFLES,
    fewest: int = FEWEST,
) -> dict[Measure, Correlation]:
    """Of columns of values, NaN where an item has none, with the scores of the same items."""
    estimates = {key: _estimate(column, scores, groups, seed, fewest) for key, column in measures.items()}
    tested = [key for key, estimate in estimates.items() if estimate.value is not None]
    by_missing: dict[bytes, list[Measure]] = {}
    for key in tested:  # measures that the same items have are shuffled together
        by_missing.setdefault(np.isnan(measures[key]).tobytes(), []).append(key)
    p_values: dict[Measure, float] = {}
    for keys in by_missing.values():
        valid = ~np.isnan(measures[keys[0]])
        columns = [measures[key][valid] for key in keys]
        p_values.update(zip(keys, spearman_p_values(columns, scores[valid], seed, shuffles)))
    adjusted = dict(zip(tested, holm([p_values[key] for key in tested])))
    return {key: Correlation(estimate, p_values.get(key), adjusted.get(key)) for key, estimate in estimates.items()}


def correlations_with_people(
    measures: Mapping[Measure, Mapping[str, float | None]],
    table: RatingTable,
    groups: Mapping[str, Hashable] | None = None,
    seed: int = 0,
    shuffles: int = SHUFFLES,
    fewest: int = FEWEST,
) -> dict[Measure, Correlation]:
    """Of values by item with the mean of what people answered; items that nobody answered are left out."""
    means = table.means()
    columns = {
        key: np.array([np.nan if values.get(item) is None else values[item] for item in means], dtype=np.float64)
        for key, values in measures.items()
    }
    scores = np.array(list(means.values()), dtype=np.float64)
    own_groups = None if groups is None else [groups.get(item, item) for item in means]
    return correlations(columns, scores, own_groups, seed, shuffles, fewest)


def _estimate(column: Reals, scores: Reals, groups: Sequence[Hashable] | None, seed: int, fewest: int) -> Estimate:
    valid = np.flatnonzero(~np.isnan(column))
    if len(valid) < fewest:
        return Estimate.missing("spearman", len(valid), f"fewer than {fewest} items have it")
    ours, theirs = column[valid], scores[valid]
    if np.ptp(theirs) == 0:
        return Estimate.missing("spearman", len(valid), "people gave all items the same")
    own_groups = None if groups is None else [groups[int(index)] for index in valid]
    figure = spearman_interval(ours, theirs, own_groups, seed)
    return Estimate.of("spearman", figure, len(valid), "all items have the same value")
