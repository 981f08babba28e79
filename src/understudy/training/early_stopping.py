"""Early stopping: the weights of the epoch with the lowest loss on held-back data are the ones that are kept.

They are stored beside the checkpoint. A resumed training may evaluate an epoch a second time, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from understudy.language.model_folder import Tensors
from understudy.training.task import Checkpoint

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EarlyStopping"]

LOSSES = "held_back_losses"  # epoch by epoch, from before the first


class EarlyStopping:
    """Called after each epoch (0: before the first): whether the loss has not fallen for `patience` epochs."""

    def __init__(self, measure: Callable[[Mapping[str, Tensor]], float], checkpoint: Checkpoint, patience: int) -> None:
        self._measure, self._checkpoint, self._patience = measure, checkpoint, patience
        _, state = checkpoint.load() or (0, {})
        self.losses: list[float] = [float(value) for value in state.get(LOSSES, ())]
        self.parameters: Tensors = {name: np.array(tensor) for name, tensor in state.items() if name != LOSSES}

    def __call__(self, parameters: Mapping[str, Tensor], epoch: int) -> bool:
        loss = self._measure(parameters)
        self.losses = [*self.losses[:epoch], loss if np.isfinite(loss) else np.inf]  # a training may diverge
        if self.losses[-1] == min(self.losses):
            self.parameters = {name: tensor.detach().cpu().numpy().copy() for name, tensor in parameters.items()}
        self._checkpoint.save(epoch, {**self.parameters, LOSSES: np.array(self.losses)})
        return self.is_over

    @property
    def best_epoch(self) -> int:
        return int(np.argmin(self.losses))

    @property
    def is_over(self) -> bool:
        return bool(self.losses) and len(self.losses) - 1 - self.best_epoch >= self._patience
