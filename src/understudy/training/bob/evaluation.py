"""How probable held-back replies are to BERT over BERT, by each of its decoders.

loss       = - mean over the tokens of the replies, their ends among them, of ln p(y_t | y<t, context, persona)
perplexity = exp(loss * tokens / words)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.agents.bob.network import DECODERS, BertOverBert
from understudy.training.bert import precision
from understudy.training.bob.batches import ReplySequences
from understudy.training.bob.loss import reply_losses
from understudy.training.early_stopping import EarlyStopping

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["held_back_figures", "held_back_losses"]

BATCH = 32


def held_back_losses(
    network: BertOverBert, held_out: ReplySequences, parameters: Mapping[str, Tensor], on: device
) -> dict[str, float]:
    """The loss of each decoder."""
    import torch

    network = network.with_parameters(parameters, dropout=0.0)
    totals = np.zeros(len(DECODERS))
    with torch.no_grad(), precision(on):
        for start in range(0, len(held_out), BATCH):
            batch = held_out.batch(range(start, min(start + BATCH, len(held_out))), on)
            tokens = sum(length - 1 for length in batch.replies.lengths)
            totals += [tokens * float(loss) for loss in reply_losses(network, batch)]
    return dict(zip(DECODERS, (totals / held_out.tokens).tolist()))


def held_back_figures(
    network: BertOverBert, held_out: ReplySequences, best: EarlyStopping, on: device
) -> dict[str, Any]:
    """Perplexities after the best epoch, and the losses it was chosen by; empty where no replies were held back."""
    import torch

    if not best.losses:
        return {}
    parameters = {name: torch.from_numpy(np.array(tensor)).to(on) for name, tensor in best.parameters.items()}
    losses = held_back_losses(network, held_out, parameters, on)
    tokens, words = held_out.tokens, held_out.words
    return {
        "of": "replies held back",
        "replies": len(held_out),
        "perplexity": {name: round(math.exp(loss * tokens / words), 3) for name, loss in losses.items()},
        "perplexity_per_token": {name: round(math.exp(loss), 3) for name, loss in losses.items()},
        "epochs": best.best_epoch,
        "losses": [round(loss, 4) for loss in best.losses],
    }
