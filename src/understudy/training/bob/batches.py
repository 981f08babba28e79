"""Replies and pairs of sentences as token ids, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from understudy.agents.bob.inputs import DialogueSequencer
from understudy.agents.bob.network import padded
from understudy.training.bob.examples import LearntReply, NliPairs
from understudy.training.bob.loss import NliBatch, ReplyBatch

if TYPE_CHECKING:
    from torch import device

__all__ = ["PairSequences", "ReplySequences"]

REPLY_TOKENS = 64


class ReplySequences:
    """Replies, their contexts and personas as token ids."""

    def __init__(self, replies: Sequence[LearntReply], sequencer: DialogueSequencer) -> None:
        contexts = [reply.context for reply in replies]
        self._contexts, self._personas = sequencer.contexts(contexts), sequencer.personas(contexts)
        self._replies = sequencer.replies([reply.text for reply in replies], REPLY_TOKENS)
        self._words = [len(reply.text.split()) + 1 for reply in replies]

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def tokens(self) -> int:
        """Tokens that are predicted: all of a reply but the first."""
        return sum(len(reply) - 1 for reply in self._replies)

    @property
    def words(self) -> int:
        """Words between blanks, and an end for every reply."""
        return sum(self._words)

    def batch(self, chosen: Sequence[int], on: device) -> ReplyBatch:
        return ReplyBatch(
            *(padded([rows[index] for index in chosen], on) for rows in (self._contexts, self._personas, self._replies))
        )


class PairSequences:
    """Premises and hypotheses as token ids, drawn at random."""

    def __init__(self, pairs: NliPairs, sequencer: DialogueSequencer) -> None:
        self._entailed, self._contradicted = (
            list(
                zip(
                    sequencer.premises([premise for premise, _ in some]),
                    sequencer.replies([hypothesis for _, hypothesis in some], REPLY_TOKENS),
                )
            )
            for some in (pairs.entailed, pairs.contradicted)
        )

    def draw(self, size: int, rng: np.random.Generator, on: device) -> NliBatch | None:
        """So many of each kind that there is."""
        entailed, contradicted = (
            [some[index] for index in rng.integers(len(some), size=size).tolist()] if some else []
            for some in (self._entailed, self._contradicted)
        )
        drawn = [*entailed, *contradicted]
        if not drawn:
            return None
        premises, hypotheses = zip(*drawn)
        return NliBatch(padded(premises, on), padded(hypotheses, on), len(entailed))
