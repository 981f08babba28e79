"""Low-rank adapters on the linear layers of a network.

    y = W x + s B A x          A: rank x in, B: out x rank; B begins at 0, s = alpha / rank
    W' = W + s B A             the same, merged into the weights

Matrices are named for their layer: `model.layers.0.mlp.up_proj.a` and `.b`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from understudy.errors import InputError
from understudy.language.model_folder import Tensors


class LowRankLinear(nn.Module):
    """A frozen linear layer with an adapter; its matrices are bound before each pass, not parameters of its own.

    Under autocast the layer is copied once in the lower precision, which autocast would do anew at every pass: it
    remembers casts only of parameters that are trained. The input too is cast once for the layer and its adapter.
    """

    def __init__(self, linear: nn.Module, scale: float) -> None:
        super().__init__()
        self.linear, self.scale = linear, scale
        self.down: Tensor | None = None
        self.up: Tensor | None = None
        self._copies: dict[torch.dtype, nn.Module] = {}  # not submodules: they are no part of the network's state

    def forward(self, values: Tensor) -> Tensor:
        if self.down is None or self.up is None:
            result: Tensor = self.linear(values)
            return result
        linear = self.linear
        if (lower := _autocast_type(values)) is not None:
            values, linear = values.to(lower), self._copy(lower)
        rows = values.reshape(-1, values.shape[-1])
        low = rows @ self.down.to(rows.dtype).T
        adapted = torch.addmm(linear(rows), low, self.up.to(rows.dtype).T, alpha=self.scale)
        return adapted.view(*values.shape[:-1], adapted.shape[-1])

    def _copy(self, dtype: torch.dtype) -> nn.Module:
        if dtype not in self._copies:
            self._copies[dtype] = deepcopy(self.linear).to(dtype)
        return self._copies[dtype]


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
        names = [f"{name}.{side}" for name in self._modules for side in "ab"]
        matrices = iter(_as_autocast([parameters[name] for name in names]))
        for module in self._modules.values():
            module.down, module.up = next(matrices), next(matrices)

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


def _autocast_type(values: Tensor) -> torch.dtype | None:
    """The precision that matrix products of these values have under autocast; none where it is off."""
    device = values.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def _as_autocast(matrices: Sequence[Tensor]) -> Sequence[Tensor]:
    """Matrices in the precision of autocast, where it is on: they are cast all at once, and so are their gradients."""
    lower = _autocast_type(matrices[0])
    if lower is None:
        return matrices
    values = torch.cat([matrix.reshape(-1) for matrix in matrices]).to(lower)
    parts = values.split([matrix.numel() for matrix in matrices])  # type: ignore[no-untyped-call]
    return [part.view_as(matrix) for part, matrix in zip(parts, matrices)]


def _is_linear(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def _sizes(linear: Any) -> tuple[int, int]:
    """Inputs and outputs; the Conv1D of GPT-2 is a linear layer whose matrix is the other way round."""
    outputs, inputs = linear.weight.shape if isinstance(linear, nn.Linear) else linear.weight.shape[::-1]
    return int(inputs), int(outputs)
