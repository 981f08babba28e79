"""Several processes that train one model: each computes its share of every batch, and gradients are summed.

    accelerate launch --num_processes 2 -m understudy train causal ...

All have the same data, seed and parameters, so that nothing but gradients is exchanged, and the sum over the shares is
what one process would have computed. The first one writes files and reports.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from understudy.language.libraries import import_library

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Workers", "launched_workers"]


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes of a training as one of them sees them."""

    rank: int
    count: int
    device: str
    state: Any

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def add_up(self, parameters: Iterable[Tensor], loss: Tensor) -> Tensor:
        """Replace every gradient by the sum over all processes; the sum of the losses."""
        import torch

        every = list(parameters)
        for parameter in every:
            if parameter.grad is None:  # nothing of this process's share needed it
                parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([*(parameter.grad.flatten() for parameter in every if parameter.grad is not None), loss[None]])
        torch.distributed.all_reduce(flat.detach_())
        start = 0
        for parameter in every:
            parameter.grad = flat[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel()
        return flat[-1]

    def wait(self) -> None:
        """Until all processes are here."""
        self.state.wait_for_everyone()


def launched_workers(device: str) -> Workers | None:
    """The processes that `accelerate launch` or `torchrun` has started for this training; None where it is alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return None
    state = import_library("accelerate").PartialState(cpu=device == "cpu")
    return Workers(state.process_index, state.num_processes, str(state.device), state)
