"""Metrics: of reply rankings, of how much a line is like a persona, and how certain such figures are.

A metric is a plain function with its formula beside it, or is made by one: `psprob(samples, "Zita")(lines)`.
"""

from __future__ import annotations

from understudy.metrics.line_metric import LineMetric, Samples
from understudy.metrics.maxbleu import maxbleu
from understudy.metrics.overlap import copying, glove_ranks, p_cover, p_f1
from understudy.metrics.psprob import (
    Speakers,
    persona_accuracy,
    personality_classification_accuracy,
    psprob,
    weighted_psprob,
)
from understudy.metrics.ptsal import ptsal, ptsal_ends
from understudy.metrics.statistics import interval
from understudy.metrics.uppl import uppl

__all__ = [
    "LineMetric",
    "Samples",
    "Speakers",
    "copying",
    "glove_ranks",
    "interval",
    "maxbleu",
    "p_cover",
    "p_f1",
    "persona_accuracy",
    "personality_classification_accuracy",
    "psprob",
    "ptsal",
    "ptsal_ends",
    "uppl",
    "weighted_psprob",
]
