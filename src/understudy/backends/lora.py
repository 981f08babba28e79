"""Low-rank adapters on the linear layers of a network.

    y = W x + s B A x          A: rank x in, B: out x rank; B begins at 0, s = alpha / rank
    W' = W + s B A             the same, merged into the weights

Matrices are named for their layer: `model.layers.0.mlp.up_proj.a` and `.b`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from understudy.errors import InputError
from understudy.model_folder import Tensors

__all__ = ["Adapters", "LowRankLinear", "adapted_layers", "merge_adapters"]


class LowRankLinear(nn.Module):
    """A frozen linear layer with an adapter; its matrices are bound before each pass, not parameters of its own."""

    def __init__(self, linear: nn.Module, scale: float) -> None:
        super().__init__()
        self.linear, self.scale = linear, scale
        self.down: Tensor | None = None
        self.up: Tensor | None = None

    def forward(self, values: Tensor) -> Tensor:
        result: Tensor = self.linear(values)
        if self.down is None or self.up is None:
            return result
        low = values @ self.down.to(values.dtype).T
        return torch.add(result, low @ self.up.to(values.dtype).T, alpha=self.scale)


class Adapters:
    """The adapters of a network, which is changed in place and frozen; `layers` are paths of linear layers by name."""

    def __init__(self, network: Any, layers: Mapping[str, str], rank: int, scale: float, seed: int) -> None:
        network.requires_grad_(False)
        self.rank, self.scale = rank, scale
        self._modules: dict[str, LowRankLinear] = {}
        rng = np.random.default_rng(seed)
        start: dict[str, NDArray[np.float32]] = {}
        for name, path in layers.items():
            linear = network.get_submodule(path)
            module = self._modules[name] = LowRankLinear(linear, scale)
            owner, _, attribute = path.rpartition(".")
            setattr(network.get_submodule(owner), attribute, module)
            inputs, outputs = _sizes(linear)
            bound = inputs**-0.5
            start[f"{name}.a"] = rng.uniform(-bound, bound, (rank, inputs)).astype(np.float32)
            start[f"{name}.b"] = np.zeros((outputs, rank), np.float32)
        self.start: Tensors = start

    def bind(self, parameters: Mapping[str, Tensor]) -> None:
        for name, module in self._modules.items():
            module.down, module.up = parameters[f"{name}.a"], parameters[f"{name}.b"]

    def unbind(self) -> None:
        """Run the network without its adapters."""
        for module in self._modules.values():
            module.down = module.up = None


def adapted_layers(network: Any) -> dict[str, str]:
    """Every linear layer of the repeated blocks of a network, by its own path; the output layer is none of them."""
    paths = [
        path
        for path, module in network.named_modules()
        if _is_linear(module) and any(part.isdigit() for part in path.split("."))
    ]
    if not paths:
        raise InputError("the model has no linear layers to adapt: say --lora 0 to train all of its weights")
    return {path: path for path in paths}


def merge_adapters(network: Any, tensors: Tensors, scale: float) -> None:
    """Add adapters to the weights of the layers they are named for: `tensors` are `PATH.a` and `PATH.b`."""
    paths = {name.rpartition(".")[0] for name in tensors}
    for path in sorted(paths):
        try:
            linear = network.get_submodule(path)
            down, up = (torch.from_numpy(np.array(tensors[f"{path}.{side}"], np.float32)) for side in "ab")
            delta = scale * up @ down
            weight = linear.weight
            with torch.no_grad():
                weight += (delta if isinstance(linear, nn.Linear) else delta.T).to(weight.device, weight.dtype)
        except (AttributeError, KeyError, RuntimeError) as error:
            raise InputError(f"the adapter does not fit its base model at {path} ({error}): train it again") from error


def _is_linear(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def _sizes(linear: Any) -> tuple[int, int]:
    """Inputs and outputs; the Conv1D of GPT-2 is a linear layer whose matrix is the other way round."""
    outputs, inputs = linear.weight.shape if isinstance(linear, nn.Linear) else linear.weight.shape[::-1]
    return int(inputs), int(outputs)
