"""The ranking Profile Memory network of PersonaChat: the message looks up the profile before it looks for a reply.

    s_i = softmax over i of cos(q, p_i)         over the profile sentences p_i
    q+  = q + b * sum_i s_i p_i                 once for every hop
    score(c) = cos(q+, c)

q, p_i and c are sums of word vectors from one table; b, how much the profile counts, is learnt with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.agents.bag_ranker import BagRanker, Hop, Query, attention, message_of, unit
from understudy.language.lexical import Floats
from understudy.language.model_folder import ModelFolder
from understudy.story.dialogue import Situation, Turn

__all__ = ["ProfileMemory"]

MAX_HOPS = 100


class ProfileMemory(BagRanker):
    name = "profile-memory"

    def _prepare(self, folder: ModelFolder) -> None:
        self.hops = max(folder.integer("settings", "hops", low=0, high=MAX_HOPS), 1)

    def query(self, situation: Situation, history: Sequence[Turn]) -> Query:
        total, looked_up = self.first_hops(situation, history)
        return Query(unit(total), looked_up)

    def first_hops(self, situation: Situation, history: Sequence[Turn]) -> tuple[Floats, tuple[Hop, ...]]:
        """q+ and the attention of the last hop."""
        language = situation.persona.language
        total = self.vectors.of(message_of(history, self.turns), language)
        sentences = self.profile(situation)
        if not sentences:
            return total, ()
        rows = self.sums(sentences, language)
        for _ in range(self.hops):
            shares = attention(total, rows)
            total = total + np.float32(self.balance) * (shares[:, None] * rows).sum(axis=0)
        return total, self.looked_up(sentences, shares)
