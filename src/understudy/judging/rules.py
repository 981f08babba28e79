"""A rule is a metric and a bound. A line passes all rules, or fails one, or cannot be judged by one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.dialogue import Score
from understudy.errors import InputError
from understudy.utterances import APPROVED, PENDING, REJECTED

__all__ = ["LOWER_IS_CLOSER", "Rule", "Verdict", "judge"]

LOWER_IS_CLOSER = frozenset({"uppl", "anachronism", "unwitnessed", "copying"})
"""Metrics of which less is better; of all others, more."""

PATTERN = re.compile(r"\s*([a-z][a-z0-9_-]*)\s*(>=|<=)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")


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
class Verdict:
    """The decision on a line, and which rules made it."""

    decision: str
    why: str = ""


def judge(scores: Mapping[str, Score], rules: Sequence[Rule]) -> Verdict:
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
        return Verdict(REJECTED, "; ".join(failed))
    return Verdict(PENDING, "; ".join(unknown)) if unknown else Verdict(APPROVED)
