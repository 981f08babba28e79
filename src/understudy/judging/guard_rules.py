"""The guards as rules: `guards<=0` lets pass what no guard stops, `guard-secrets<=0` what one of them does not.

    guards = rule_metric("guards", story, MetricContext(story, situation))
    guards(["As an AI language model I cannot."])      1, with the guard and its reason

A line of a file is judged as a draft that was written for the character, before whoever it faces, without a chat.

guards        1 where a stopping guard objects; no value, so that people decide, where only a doubting one does; else 0
guard-NAME    1 where the guard of that name objects, stopping or doubting; else 0
"""

from __future__ import annotations

import math
from functools import lru_cache

from understudy.errors import InputError
from understudy.judging.guards import StoryViews, doubting_guards, objections, stopping_guards
from understudy.language.lexical import Lines
from understudy.metrics.line_metric import LineMetric, Samples, TextMetric
from understudy.metrics.registry import METRICS, MetricContext
from understudy.story.dialogue import Draft, Situation
from understudy.story.storyfile import Story
from understudy.text import did_you_mean

__all__ = ["ALL_GUARDS", "GUARD_RULES", "require_known_metric", "rule_metric"]

ALL_GUARDS = "guards"
PREFIX = "guard-"
NAMES = ("form", "secrets", "knowledge", "address", "outdated", "claims", "identity", "contradiction")
GUARD_RULES = (ALL_GUARDS, *(PREFIX + name for name in NAMES))
CACHED = 8192  # texts; a metric's values and its reasons are asked for one after the other


class GuardMetric(TextMetric):
    """What guards say of each line, as a value that a rule can bound."""

    def lack(self, lines: Lines, index: int) -> str:
        return self._score_text(lines.texts[index])[1] or super().lack(lines, index)


def _guard_metric(name: str, story: Story, situation: Situation, samples: Samples) -> GuardMetric:
    views = StoryViews(lambda _: [story])
    stopping, doubting = stopping_guards(views), doubting_guards(views)

    def first_objection(text: str, wanted: str = "", doubts: bool = True) -> str:
        guards = (*stopping, *doubting) if doubts else stopping
        verdicts = objections(guards, situation, (), Draft(text, "writer"))
        return next((f"{said.guard}: {said.reason}" for said in verdicts if wanted in ("", said.guard)), "")

    @lru_cache(CACHED)
    def judged(text: str) -> tuple[float, str]:
        if not text.strip():
            return math.nan, ""
        if name != ALL_GUARDS:
            reason = first_objection(text, name.removeprefix(PREFIX))
            return float(bool(reason)), reason
        if reason := first_objection(text, doubts=False):
            return 1.0, reason
        if reason := first_objection(text):
            return math.nan, f"in doubt: {reason}"
        return 0.0, ""

    return GuardMetric(name, samples, judged)


def rule_metric(name: str, story: Story, context: MetricContext) -> LineMetric:
    """The metric that a rule bounds: a guard, or one of the line metrics."""
    if name in GUARD_RULES:
        return _guard_metric(name, story, context.situation, context.samples)
    return context.metric(name)


def require_known_metric(name: str) -> None:
    """Raise where no rule can be made of a name."""
    known = (*METRICS, *GUARD_RULES)
    if name not in known:
        raise InputError(f"there is no metric '{name}'{did_you_mean(name, known)}: choose from {', '.join(known)}")
