from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import dialogue_base, gpt2_base, trades
from understudy.errors import InputError
from understudy.language.backends.transformer import open_transformer

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    llama = dialogue_base(folder / "llama", trades(folder / "data"))
    return llama if request.param == "llama" else gpt2_base(folder / "gpt2", llama)


def logits(network: Any) -> Any:
    import torch

    with torch.no_grad():
        return network(input_ids=torch.tensor([[7, 8, 9, 10]])).logits


def test_adapters_begin_as_nothing_and_merged_they_are_the_same(base: Path) -> None:
    import torch

    from understudy.language.backends.lora import Adapters, adapted_layers, merge_adapters

    plain, adapted, merged = (open_transformer(base, "cpu").network for _ in range(3))
    layers = adapted_layers(adapted)
    assert layers and not any("lm_head" in path or "wte" in path for path in layers)
    adapters = Adapters(adapted, layers, rank=3, scale=0.5, seed=1)
    adapters.bind({name: torch.from_numpy(values) for name, values in adapters.start.items()})
    assert torch.equal(logits(adapted), logits(plain))
    rng = np.random.default_rng(2)
    learnt = {name: rng.normal(0, 0.3, values.shape).astype(np.float32) for name, values in adapters.start.items()}
    adapters.bind({name: torch.from_numpy(values) for name, values in learnt.items()})
    assert not torch.allclose(logits(adapted), logits(plain), atol=1e-2)
    merge_adapters(merged, learnt, 0.5)
    assert torch.allclose(logits(adapted), logits(merged), atol=1e-4)
    adapters.unbind()
    assert torch.equal(logits(adapted), logits(plain))


def test_a_merged_matrix_is_that_worked_out_by_hand(base: Path) -> None:
    from understudy.language.backends.lora import adapted_layers, merge_adapters

    network = open_transformer(base, "cpu").network
    path = next(iter(adapted_layers(network)))
    layer = network.get_submodule(path)
    before = layer.weight.detach().numpy().copy()
    is_turned = type(layer).__name__ == "Conv1D"
    outputs, inputs = before.T.shape if is_turned else before.shape
    down, up = np.zeros((2, inputs), np.float32), np.zeros((outputs, 2), np.float32)
    down[1, 3], up[4, 1] = 2.0, 3.0
    merge_adapters(network, {f"{path}.a": down, f"{path}.b": up}, 1.5)
    change = layer.weight.detach().numpy() - before
    change = change.T if is_turned else change
    assert change[4, 3] == pytest.approx(1.5 * 3.0 * 2.0, rel=1e-5) and np.count_nonzero(change) == 1


def test_under_autocast_the_base_is_cast_once_and_gradients_are_those_of_full_precision(base: Path) -> None:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from understudy.language.backends.lora import Adapters, adapted_layers

    network = open_transformer(base, "cpu").network
    layers = adapted_layers(network)
    adapters = Adapters(network, layers, rank=3, scale=0.5, seed=1)
    names = set(network.state_dict())
    rng = np.random.default_rng(2)
    parameters = {
        name: torch.from_numpy(rng.normal(0, 0.3, values.shape).astype(np.float32)).requires_grad_()
        for name, values in adapters.start.items()
    }
    frozen = {network.get_submodule(path).linear.weight.data_ptr() for path in layers.values()}

    class Casts(TorchDispatchMode):  # type: ignore[no-untyped-call]
        of_frozen = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ops.aten._to_copy.default:
                self.of_frozen += args[0].data_ptr() in frozen
            return func(*args, **(kwargs or {}))

    def gradient(*, lower: bool) -> tuple[Any, int]:
        with torch.autocast("cpu", torch.bfloat16, enabled=lower), Casts() as casts:  # type: ignore[no-untyped-call]
            adapters.bind(parameters)
            result = network(input_ids=torch.tensor([[7, 8, 9, 10]])).logits
        gradients = torch.autograd.grad(result.float().logsumexp(-1).sum(), list(parameters.values()))
        assert all(one.dtype == torch.float32 for one in gradients)
        return torch.cat([one.reshape(-1) for one in gradients]), casts.of_frozen

    full, of_none = gradient(lower=False)
    (first, _), (second, again) = gradient(lower=True), gradient(lower=True)
    assert (of_none, again) == (0, 0)
    assert torch.equal(first, second)
    assert 0 < float((first - full).norm() / full.norm()) < 0.05, "rounded to 8 bits"
    assert set(network.state_dict()) == names, "the copies are no part of what is saved"


def test_adapters_of_another_model_are_refused(base: Path) -> None:
    from understudy.language.backends.lora import merge_adapters

    network = open_transformer(base, "cpu").network
    for path in ("model.layers.77.mlp.up_proj", "no.such.layer"):
        with pytest.raises(InputError, match="does not fit its base"):
            merge_adapters(network, {f"{path}.a": np.ones((2, 3)), f"{path}.b": np.ones((3, 2))}, 1.0)
