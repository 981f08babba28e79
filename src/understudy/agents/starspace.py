"""Starspace (Wu et al. 2017) as PersonaChat uses it: the profile joins the message, and one cosine ranks.

    sim(q, c) = cos(q, c)
    q = sum of W_w over words w of the message + b * sum of W_w over words w of the profile sentences
    c = sum of W_w over words w of the candidate

W is one table of word vectors for all; b, how much a word of a profile counts, is learnt with it. Both are trained so
that the true reply is nearer than others by a margin. The attention shown as evidence is how like the query each
sentence is; it takes no part in the score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.agents.bag_ranker import BagRanker, Query, attention, message_of, unit
from understudy.story.dialogue import Situation, Turn

__all__ = ["Starspace"]


class Starspace(BagRanker):
    name = "starspace"

    def query(self, situation: Situation, history: Sequence[Turn]) -> Query:
        language = situation.persona.language
        total = self.vectors.of(message_of(history, self.turns), language)
        sentences = self.profile(situation)
        if not sentences:
            return Query(unit(total))
        rows = self.sums(sentences, language)
        total = total + np.float32(self.balance) * rows.sum(axis=0)
        return Query(unit(total), self.looked_up(sentences, attention(total, rows)))
