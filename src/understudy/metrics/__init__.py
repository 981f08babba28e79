"""How good a ranking is, how much like a persona a line is, and how sure one can be of either.

A metric is a plain function with its formula beside it, or is made by one: `psprob(samples, "Zita")(lines)`.
"""

from __future__ import annotations

from understudy.metrics.accuracy import persona_accuracy, personality_classification_accuracy
from understudy.metrics.copying import copying
from understudy.metrics.description import glove_ranks, p_cover, p_f1
from understudy.metrics.maxbleu import maxbleu
from understudy.metrics.measure import LineMetric
from understudy.metrics.psprob import Speakers, psprob
from understudy.metrics.ptsal import ptsal
from understudy.metrics.ranking import RANKING, gold_places, per_item
from understudy.metrics.samples import Samples
from understudy.metrics.significance import Interval, holm, interval, paired_p
from understudy.metrics.uppl import uppl
from understudy.metrics.voice import voice

__all__ = [
    "RANKING",
    "Interval",
    "LineMetric",
    "Samples",
    "Speakers",
    "copying",
    "glove_ranks",
    "gold_places",
    "holm",
    "interval",
    "maxbleu",
    "p_cover",
    "p_f1",
    "paired_p",
    "per_item",
    "persona_accuracy",
    "personality_classification_accuracy",
    "psprob",
    "ptsal",
    "uppl",
    "voice",
]
