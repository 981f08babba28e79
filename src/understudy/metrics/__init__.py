"""Metrics: of reply rankings, of how much a line is like a persona, of people's answers, and how certain figures are.

A metric is a plain function with its formula beside it, or is made by one: `psprob(samples, "Zita")(lines)`.
"""

from __future__ import annotations

from understudy.metrics.agreement import agreement_rows, cohen_kappa, fleiss_kappa, krippendorff_alpha
from understudy.metrics.correlation import correlations_with_people
from understudy.metrics.disagreement import item_disagreement, pairwise_agreement, person_agreement
from understudy.metrics.estimates import Estimate
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.maxbleu import maxbleu
from understudy.metrics.overlap import copying, glove_ranks, p_cover, p_f1
from understudy.metrics.preference import PairwiseChoice, bradley_terry, win_rate
from understudy.metrics.psprob import Speakers, persona_accuracy, personality_classification_accuracy, psprob
from understudy.metrics.ptsal import ptsal
from understudy.metrics.ranking import RANKING, gold_ranks, per_item
from understudy.metrics.ratings import Rating, RatingTable, Scale, rating_tables
from understudy.metrics.samples import Samples
from understudy.metrics.statistics import Interval, holm, interval, paired_p
from understudy.metrics.uppl import uppl
from understudy.metrics.voice import voice

__all__ = [
    "RANKING",
    "Estimate",
    "Interval",
    "LineMetric",
    "PairwiseChoice",
    "Rating",
    "RatingTable",
    "Samples",
    "Scale",
    "Speakers",
    "agreement_rows",
    "bradley_terry",
    "cohen_kappa",
    "copying",
    "correlations_with_people",
    "fleiss_kappa",
    "glove_ranks",
    "gold_ranks",
    "holm",
    "interval",
    "item_disagreement",
    "krippendorff_alpha",
    "maxbleu",
    "p_cover",
    "p_f1",
    "paired_p",
    "pairwise_agreement",
    "per_item",
    "person_agreement",
    "persona_accuracy",
    "personality_classification_accuracy",
    "psprob",
    "ptsal",
    "rating_tables",
    "uppl",
    "voice",
    "win_rate",
]
