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

__all__ = ["NliBatch", "ReplyBatch", "negative_log_likelihood", "reply_losses", "total_loss", "unlikelihood"]

LARGEST = 1 - 1e-6  # of a probability: its unlikelihood stays finite


class ReplyBatch(NamedTuple):
    contexts: PaddedBatch
    personas: PaddedBatch
    replies: PaddedBatch


class NliBatch(NamedTuple):
    """Pairs of a premise and a hypothesis, which it entails or contradicts."""

    premises: PaddedBatch
    hypotheses: PaddedBatch


def negative_log_likelihood(logits: Tensor, targets: Tensor) -> Tensor:
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits.float(), targets)


def unlikelihood(logits: Tensor, targets: Tensor) -> Tensor:
    from torch.nn.functional import cross_entropy

    probabilities = (-cross_entropy(logits.float(), targets, reduction="none")).exp()
    return -(-probabilities.clamp(max=LARGEST)).log1p().mean()


def reply_losses(network: BertOverBert, batch: ReplyBatch) -> tuple[Tensor, Tensor]:
    """NLL of the response decoder and of the consistency decoder."""
    inputs, targets, real = _shifted(batch.replies)
    response = network.response(inputs, network.encode(batch.contexts))
    consistency = network.consistency(inputs, network.persona(batch.personas), response)
    return (
        negative_log_likelihood(network.logits(RESPONSE, response[real]), targets),
        negative_log_likelihood(network.logits(CONSISTENCY, consistency[real]), targets),
    )


def total_loss(
    network: BertOverBert,
    replies: ReplyBatch,
    entailed: NliBatch | None,
    contradicted: NliBatch | None,
    alpha: float,
    beta: float,
) -> Tensor:
    """L; a term whose pairs are not there is left out."""
    response, consistency = reply_losses(network, replies)
    total = response + alpha * consistency
    if entailed is not None:
        total = total + beta * negative_log_likelihood(*_hypothesis_logits(network, entailed))
    if contradicted is not None:
        total = total + (1 - beta) * unlikelihood(*_hypothesis_logits(network, contradicted))
    return total


def _hypothesis_logits(network: BertOverBert, pairs: NliBatch) -> tuple[Tensor, Tensor]:
    """The consistency decoder's logits at every token of the hypotheses, and the tokens."""
    inputs, targets, real = _shifted(pairs.hypotheses)
    states = network.consistency(inputs, network.persona(pairs.premises), None)
    return network.logits(CONSISTENCY, states[real]), targets


def _shifted(replies: PaddedBatch) -> tuple[Tensor, Tensor, Tensor]:
    """What is read, what is to be predicted from it (padding left out), and where that is."""
    real = replies.real[:, 1:]
    return replies.ids[:, :-1], replies.ids[:, 1:][real], real
