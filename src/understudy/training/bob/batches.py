"""Replies and pairs of sentences as token ids, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from understudy.agents.bob.inputs import DialogueSequencer
from understudy.agents.bob.network import padded
from understudy.training.bob.examples import LearntReply
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

    def __init__(self, pairs: Sequence[tuple[str, str]], sequencer: DialogueSequencer) -> None:
        self._premises = sequencer.premises([premise for premise, _ in pairs])
        self._hypotheses = sequencer.replies([hypothesis for _, hypothesis in pairs], REPLY_TOKENS)

    def draw(self, size: int, rng: np.random.Generator, on: device) -> NliBatch | None:
        if not self._premises:
            return None
        chosen = rng.integers(len(self._premises), size=size).tolist()
        return NliBatch(*(padded([rows[index] for index in chosen], on) for rows in (self._premises, self._hypotheses)))
