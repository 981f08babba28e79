"""Judging what a generative agent says, and how probable it finds what was said: shared by the benches.

likelihood    how probable every candidate is: perplexity, hits@1 by likelihood, delta-p
replies       asking for replies in the agent's own words
reply_metrics F1, BLEU, dist, rep, MAUVE of them, and how they fit the persona
"""

from understudy.bench.generation.likelihood import (
    CandidateLikelihoods,
    likelihood_items,
    likelihood_marks,
    likelihood_rows,
)
from understudy.bench.generation.replies import GeneratedReply, prompt_of, replies_of
from understudy.bench.generation.reply_metrics import REPLY_METRICS, reply_items, reply_rows, right_replies

__all__ = [
    "REPLY_METRICS",
    "CandidateLikelihoods",
    "GeneratedReply",
    "likelihood_items",
    "likelihood_marks",
    "likelihood_rows",
    "prompt_of",
    "replies_of",
    "reply_items",
    "reply_rows",
    "right_replies",
]
