"""Keeping unfit lines out: rules, the bounds that suit them, and agents that obey them.

rules = [Rule.parse("psprob>=0.2"), Rule.parse("anachronism<=0")]
Filtered(agent, rules, metrics)          says the best reply that passes
"""

from __future__ import annotations

from understudy.filtering.bounds import Curve, Labelled, bound_keeping, curve_of, read_labelled
from understudy.filtering.filtered import Filtered
from understudy.filtering.rules import LOWER_IS_CLOSER, Rule, Verdict, judged

__all__ = [
    "LOWER_IS_CLOSER",
    "Curve",
    "Filtered",
    "Labelled",
    "Rule",
    "Verdict",
    "bound_keeping",
    "curve_of",
    "judged",
    "read_labelled",
]
