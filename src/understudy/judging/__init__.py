"""Deciding which lines may be said. Here: rules, and how their bounds are found.

A rule is a metric and a bound. A line passes all rules, or fails one, or cannot be judged by one. To find a bound, each
possible one is looked at: what it would keep, and how much of that is fit.

    precision(b) = fit lines kept / lines kept          of what is kept, how much should be
    recall(b)    = fit lines kept / fit lines           of what should be kept, how much is

Intervals are 95%, over lines drawn with replacement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.metrics.registry import METRICS
from understudy.metrics.statistics import Interval
from understudy.metrics.utterances.record import APPROVED, PENDING, REJECTED
from understudy.sources.jsonstream import json_lines
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Score
from understudy.text import did_you_mean

ALL_GUARDS = "guards"
GUARD_PREFIX = "guard-"
GUARD_NAMES = ("form", "secrets", "knowledge", "address", "outdated", "claims", "identity", "contradiction")
GUARD_RULES = (ALL_GUARDS, *(GUARD_PREFIX + name for name in GUARD_NAMES))
LOWER_IS_CLOSER = frozenset({"uppl", "anachronism", "unwitnessed", "copying", "contradiction", *GUARD_RULES})
"""Metrics of which less is better; of all others, more."""

PATTERN = re.compile(r"\s*([a-z][a-z0-9_-]*)\s*(>=|<=)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")

RESAMPLES = 1000
ROUNDING = 1e-9
MIN_LABELLED = 10  # lines of either kind

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rule:
    """At least, or at most, so much of a metric."""

    metric: str
    at_least: bool
    bound: float

    @classmethod
    def parse(cls, text: str) -> Rule:
        match = PATTERN.fullmatch(text)
        if match is None:
            raise InputError(f"'{text}' is not a rule: write a metric, >= or <=, and a bound, as in psprob>=0.2")
        return cls(match[1], match[2] == ">=", float(match[3]))

    def passes(self, score: Score) -> bool | None:
        """Whether a score is within the bound; None where there is no score."""
        if score.value is None:
            return None
        return score.value >= self.bound if self.at_least else score.value <= self.bound

    def __str__(self) -> str:
        return f"{self.metric}{'>=' if self.at_least else '<='}{self.bound:g}"


@dataclass(frozen=True, slots=True)
class RuleDecision:
    """The decision on a line, and which rules made it."""

    decision: str
    why: str = ""


def judge(scores: Mapping[str, Score], rules: Sequence[Rule]) -> RuleDecision:
    """Approved where all rules pass, rejected where one fails, else pending: for people to decide."""
    failed, unknown = list[str](), list[str]()
    for rule in rules:
        score = scores[rule.metric]
        passed = rule.passes(score)
        if passed is None:
            unknown.append(f"{rule.metric}: {score.reason}")
        elif not passed:
            because = f" ({score.reason})" if score.reason else ""
            failed.append(f"{rule.metric} {score.value:.4g}, wanted {rule}{because}")
    if failed:
        return RuleDecision(REJECTED, "; ".join(failed))
    return RuleDecision(PENDING, "; ".join(unknown)) if unknown else RuleDecision(APPROVED)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line that somebody called fit, or unfit."""

    text: str
    fit: bool


@dataclass(frozen=True, slots=True)
class Point:
    """What one bound would do."""

    bound: float
    precision: Interval
    recall: Interval
    kept: float


class Curve:
    """Every bound that makes a difference, the strictest first."""

    def __init__(self, metric: str, values: Floats, fit: NDArray[np.bool_]) -> None:
        self.metric = metric
        self.at_least = metric not in LOWER_IS_CLOSER
        self._ranked = values if self.at_least else -values
        self._fit = fit
        order = np.argsort(-self._ranked, kind="stable")
        last = np.flatnonzero(np.diff(self._ranked[order], append=-np.inf))  # the last index of each distinct value
        self.bounds: Floats = self._ranked[order][last]
        right = np.cumsum(fit[order])[last]
        self.precision: Floats = right / (last + 1)
        self.recall: Floats = right / fit.sum()
        self.kept: Floats = (last + 1) / len(fit)

    def for_precision(self, wanted: float) -> Point:
        """The loosest bound of which at least so much of what is kept is fit."""
        enough = np.flatnonzero(self.precision >= wanted)
        if not len(enough):
            raise InputError(
                f"no bound on {self.metric} keeps lines of which {wanted:.0%} are fit: {self.precision.max():.0%} "
                "is the most; ask for less, or use another metric"
            )
        return self.point(int(enough[-1]))

    def for_recall(self, wanted: float) -> Point:
        """The strictest bound that keeps at least so much of what is fit."""
        return self.point(int(np.flatnonzero(self.recall >= wanted)[0]))

    def point(self, index: int) -> Point:
        kept, drawn = self._ranked >= self.bounds[index], self._drawn
        both, of_kept, of_fit = (kept & self._fit)[drawn].sum(1), kept[drawn].sum(1), self._fit[drawn].sum(1)
        return Point(
            float(self.bounds[index] if self.at_least else -self.bounds[index]),
            _interval(float(self.precision[index]), both, of_kept),
            _interval(float(self.recall[index]), both, of_fit),
            float(self.kept[index]),
        )

    @cached_property
    def _drawn(self) -> NDArray[np.int64]:
        """Lines drawn with replacement, the same for every bound, so that two can be compared."""
        return np.random.default_rng(0).integers(0, len(self._fit), (RESAMPLES, len(self._fit)))

    def rule(self, point: Point) -> Rule:
        return Rule(self.metric, self.at_least, point.bound)

    def some(self, count: int) -> list[Point]:
        """Points spread evenly over how much they keep."""
        indices = np.unique(np.linspace(0, len(self.bounds) - 1, count).round().astype(int))
        return [self.point(int(index)) for index in indices]

    def shown(self) -> Floats:
        """The bounds in the metric's own sign: where less is better, `bounds` has them negated."""
        return self.bounds if self.at_least else -self.bounds


def curve_of(metric: str, values: Sequence[float | None], labelled: Sequence[Labelled]) -> Curve:
    """The curve of a metric over labelled lines; those without a value take no part."""
    pairs = [(value, label.fit) for value, label in zip(values, labelled) if value is not None]
    fit = sum(is_fit for _, is_fit in pairs)
    if min(fit, len(pairs) - fit) < MIN_LABELLED:
        raise InputError(
            f"{fit} fit and {len(pairs) - fit} unfit lines have a {metric}: "
            f"label at least {MIN_LABELLED} of each to find a bound"
        )
    return Curve(metric, np.array([value for value, _ in pairs]), np.array([is_fit for _, is_fit in pairs]))


def shares_kept(metric: str, values: Sequence[float | None]) -> list[tuple[float, float]]:
    """Every bound that makes a difference, the strictest first, and how much it keeps of lines that have a value."""
    known = np.array([value for value in values if value is not None])
    if not len(known):
        raise InputError(f"no line has a {metric}: there is no bound to be found")
    bounds, counts = np.unique(known, return_counts=True)
    if metric not in LOWER_IS_CLOSER:
        bounds, counts = bounds[::-1], counts[::-1]
    return list(zip(bounds.tolist(), (np.cumsum(counts) / len(known)).tolist()))


def bound_keeping(metric: str, values: Sequence[float | None], share: float) -> Rule:
    """The strictest bound that keeps at least a share of the lines."""
    bound = next(bound for bound, kept in shares_kept(metric, values) if kept >= share - ROUNDING)
    return Rule(metric, metric not in LOWER_IS_CLOSER, bound)


def read_labelled(path: Path) -> list[Labelled]:
    """Lines of {"text": ..., "fit": true or false}."""
    labelled = []
    for location, record in json_lines(SourceFile(path)):
        match record:
            case {"text": str(text), "fit": bool(fit)}:
                labelled.append(Labelled(text, fit))
            case _:
                raise InputError('is not a labelled line: write {"text": "...", "fit": true}', path, location.line)
    return labelled


def _interval(value: float, part: NDArray[np.int64], whole: NDArray[np.int64]) -> Interval:
    shares = part[whole > 0] / whole[whole > 0]
    if not len(shares):
        return Interval(value, 0.0, 1.0)
    low, high = np.percentile(shares, [2.5, 97.5])
    return Interval(value, float(low), float(high))


def require_known_metric(name: str) -> None:
    """Raise where no rule can be made of a name."""
    known = (*METRICS, *GUARD_RULES)
    if name not in known:
        raise InputError(f"there is no metric '{name}'{did_you_mean(name, known)}: choose from {', '.join(known)}")
