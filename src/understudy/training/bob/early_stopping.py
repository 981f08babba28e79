"""Which epoch of a training is kept: the one that held-back replies are most probable after."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.agents.bob.network import DECODERS, BertOverBert
from understudy.model_folder import Tensors
from understudy.training.bert import precision
from understudy.training.bob.batches import ReplySequences
from understudy.training.bob.loss import reply_losses
from understudy.training.task import Checkpoint

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["BestEpoch"]

VALUES = "held_back_losses"
BATCH = 32


class BestEpoch:
    """Early stopping: the parameters of the epoch that the consistency decoder's loss on held-back replies was lowest.

    Losses are kept of every epoch, those of both decoders. They are stored beside the checkpoint; a resumed training
    may evaluate an epoch a second time, with the same result.
    """

    def __init__(
        self, network: BertOverBert, held_out: ReplySequences, on: device, checkpoint: Checkpoint, patience: int
    ) -> None:
        self._network, self._held_out, self._on, self._checkpoint, self._patience = (
            network,
            held_out,
            on,
            checkpoint,
            patience,
        )
        _, state = checkpoint.load() or (0, {})
        self._losses: list[list[float]] = np.array(state.get(VALUES, np.zeros((0, 2)))).tolist()
        self.parameters: Tensors = {name: np.array(tensor) for name, tensor in state.items() if name != VALUES}

    def __call__(self, parameters: Mapping[str, Tensor], epoch: int) -> bool:
        """Evaluate an epoch's parameters; whether to stop."""
        self._losses = [*self._losses[: epoch - 1], self._evaluated(parameters)]
        if self._best == epoch - 1:
            self.parameters = {name: tensor.detach().cpu().numpy().copy() for name, tensor in parameters.items()}
        self._checkpoint.save(epoch, {**self.parameters, VALUES: np.array(self._losses)})
        return self.is_over

    @property
    def _best(self) -> int:
        return int(np.argmin([consistency for _, consistency in self._losses]))

    @property
    def is_over(self) -> bool:
        return bool(self._losses) and len(self._losses) - 1 - self._best >= self._patience

    def figures(self) -> dict[str, Any]:
        """Perplexities of held-back replies after the best epoch; empty where none were held back."""
        if not self._losses:
            return {}
        tokens, words = self._held_out.tokens, self._held_out.words
        best = dict(zip(DECODERS, self._losses[self._best]))
        return {
            "of": "replies held back",
            "replies": len(self._held_out),
            "perplexity": {name: round(math.exp(loss * tokens / words), 3) for name, loss in best.items()},
            "perplexity_per_token": {name: round(math.exp(loss), 3) for name, loss in best.items()},
            "epochs": self._best + 1,
            "losses": [[round(loss, 4) for loss in losses] for losses in self._losses],
        }

    def _evaluated(self, parameters: Mapping[str, Tensor]) -> list[float]:
        """The mean loss of a held-back token, of each decoder."""
        import torch

        network = self._network.with_parameters(parameters, dropout=0.0)
        totals = np.zeros(2)
        with torch.no_grad(), precision(self._on):
            for start in range(0, len(self._held_out), BATCH):
                batch = self._held_out.batch(range(start, min(start + BATCH, len(self._held_out))), self._on)
                tokens = sum(length - 1 for length in batch.replies.lengths)
                totals += [tokens * float(loss) for loss in reply_losses(network, batch)]
        means = totals / self._held_out.tokens
        return [float(mean) if np.isfinite(mean) else math.inf for mean in means]  # a training that has diverged
