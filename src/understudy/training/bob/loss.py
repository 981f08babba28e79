"""The loss of BERT over BERT (Song et al., 2021).

    L   = NLL1 + alpha NLL2 + beta UL+ + (1 - beta) UL-
    NLL = - mean over the tokens of replies of ln p(y_t | y<t, context, persona)      of D1 and of D2
    UL+ = - mean over the tokens of hypotheses h of ln p(h_t | h<t, premise)          premise entails h; of D2
    UL- = - mean over the tokens of hypotheses h of ln(1 - p(h_t | h<t, premise))     premise contradicts h; of D2

A premise stands where a persona does, and D2 reads no D1 with it. UL- is the unlikelihood of Welleck et al. (2020): the
tokens of what contradicts the persona become less probable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from understudy.agents.bob.network import CONSISTENCY, RESPONSE, BertOverBert, PaddedBatch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["NliBatch", "ReplyBatch", "pair_loss", "reply_losses", "total_loss", "unlikelihood"]

LARGEST = 1 - 1e-6  # of a probability: its unlikelihood stays finite


class ReplyBatch(NamedTuple):
    contexts: PaddedBatch
    personas: PaddedBatch
    replies: PaddedBatch


class NliBatch(NamedTuple):
    """Pairs of a premise and a hypothesis: first those that it entails, then those that it contradicts."""

    premises: PaddedBatch
    hypotheses: PaddedBatch
    entailed: int


def negative_log_likelihood(logits: Tensor, targets: Tensor) -> Tensor:
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits.float(), targets)


def unlikelihood(log_probs: Tensor) -> Tensor:
    """- mean of ln(1 - p)."""
    return -(-log_probs.exp().clamp(max=LARGEST)).log1p().mean()


def reply_losses(network: BertOverBert, batch: ReplyBatch) -> tuple[Tensor, Tensor]:
    """NLL of the response decoder and of the consistency decoder."""
    inputs, targets, predicting = batch.replies.predictions()
    response = network.response(inputs, network.encode(batch.contexts))
    consistency = network.consistency(inputs, network.persona(batch.personas), response)
    return (
        negative_log_likelihood(network.logits(RESPONSE, response.flatten(0, 1)[predicting]), targets),
        negative_log_likelihood(network.logits(CONSISTENCY, consistency.flatten(0, 1)[predicting]), targets),
    )


def pair_loss(network: BertOverBert, pairs: NliBatch, beta: float) -> Tensor:
    """beta UL+ + (1 - beta) UL-; one of them alone where all pairs are of one kind."""
    from torch.nn.functional import cross_entropy

    inputs, targets, predicting = pairs.hypotheses.predictions()
    states = network.consistency(inputs, network.persona(pairs.premises), None).flatten(0, 1)[predicting]
    log_probs = -cross_entropy(network.logits(CONSISTENCY, states).float(), targets, reduction="none")
    tokens = sum(length - 1 for length in pairs.hypotheses.lengths[: pairs.entailed])
    entailed, contradicted = log_probs[:tokens], log_probs[tokens:]
    total = log_probs.new_zeros(())
    if len(entailed):
        total = total - beta * entailed.mean()
    if len(contradicted):
        total = total + (1 - beta) * unlikelihood(contradicted)
    return total


def total_loss(network: BertOverBert, replies: ReplyBatch, pairs: NliBatch | None, alpha: float, beta: float) -> Tensor:
    """L, without the pairs' part where there are none."""
    response, consistency = reply_losses(network, replies)
    total = response + alpha * consistency
    return total if pairs is None else total + pair_loss(network, pairs, beta)
