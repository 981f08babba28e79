"""Deciding which lines may be said: rules, the bounds that suit them, and an agent that applies them.

rules = [Rule.parse("psprob>=0.2"), Rule.parse("anachronism<=0")]
metrics = StoryMetrics((rule.metric for rule in rules), lambda identity: [story])
FilteredAgent(agent, rules, metrics)     says the best reply that passes
"""

from __future__ import annotations

from understudy.judging.filtering import FilteredAgent, StoryMetrics
from understudy.judging.rules import (
    LOWER_IS_CLOSER,
    Curve,
    Labelled,
    Rule,
    RuleDecision,
    bound_keeping,
    curve_of,
    judge,
    read_labelled,
)

__all__ = [
    "LOWER_IS_CLOSER",
    "Curve",
    "FilteredAgent",
    "Labelled",
    "Rule",
    "RuleDecision",
    "StoryMetrics",
    "bound_keeping",
    "curve_of",
    "judge",
    "read_labelled",
]
