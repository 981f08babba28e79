"""Seq2Seq of PersonaChat: an LSTM reads the profile and the talk so far, another writes the reply.

    input      <s> profile sentences, turns           the profile is simply prepended
    P(reply) = product over t of P(w_t | input, w_1 .. w_t-1)

`lstm` has the network. Without a profile the input is the turns alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from understudy.agents.lstm_agent import LONGEST, LSTMAgent, ModelInput
from understudy.agents.word_tokens import TokenVocabulary

__all__ = ["Seq2Seq"]


class Seq2Seq(LSTMAgent):
    name = "seq2seq"
    has_memory = False

    @staticmethod
    def model_input(
        vocabulary: TokenVocabulary, own: Sequence[str], partner: Sequence[str], turns: Sequence[tuple[bool, str]]
    ) -> ModelInput:
        return ModelInput(vocabulary.context(own, partner, turns, LONGEST))
