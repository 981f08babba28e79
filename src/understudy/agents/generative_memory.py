"""The Generative Profile Memory network of PersonaChat: the decoder looks at the profile before each word.

    input     <s> turns
    memory    f_i = sum_j alpha_j p_ij           of each profile sentence, its words' vectors
    alpha   = 1 / (1 + ln(1 + tf)),   tf = 1e6 / rank^1.07          rank of the word by frequency, from 1

`lstm` has the attention. Trained without profiles there is no memory, and the model is Seq2Seq. A model that was
trained with profiles was never without a memory: asked without a profile, it has one of a single empty entry, f = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.agents.lstm_agent import LONGEST, LSTMAgent, ModelInput
from understudy.agents.word_tokens import TokenVocabulary
from understudy.story.dialogue import Situation, Turn

__all__ = ["GenerativeMemory", "rarity_weights"]

MAX_ENTRIES, LONGEST_ENTRY = 64, 64  # sentences of a profile, words of a sentence


class GenerativeMemory(LSTMAgent):
    name = "generative-memory"
    has_memory = True

    def _input(self, situation: Situation, history: Sequence[Turn]) -> ModelInput:
        given = super()._input(situation, history)
        return given if given.memory or self.card.get("condition") == "none" else replace(given, memory=[()])

    @staticmethod
    def model_input(
        vocabulary: TokenVocabulary, own: Sequence[str], partner: Sequence[str], turns: Sequence[tuple[bool, str]]
    ) -> ModelInput:
        sentences = [vocabulary.ids(sentence)[:LONGEST_ENTRY] for sentence in (*own, *partner)[:MAX_ENTRIES]]
        return ModelInput(vocabulary.context((), (), turns, LONGEST), sentences)


def rarity_weights(ranks: NDArray[np.int64]) -> NDArray[np.float32]:
    """alpha of words by their ranks."""
    frequencies = 1e6 / ranks.astype(np.float64) ** 1.07
    return (1 / (1 + np.log1p(frequencies))).astype(np.float32)
