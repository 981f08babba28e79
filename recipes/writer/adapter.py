"""Low-rank adapters (see `language.backends.lora`) on the linear layers of a Llama, and their file for llama.cpp.

GGUF keeps the rotary pairs of query and key rows side by side, transformers half a head apart; weights are Q8_0, blocks
of 32 numbers with a float16 scale and a byte each.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from understudy.errors import MissingExtra
from understudy.language.backends.lora import Adapters
from understudy.language.model_folder import Tensors

__all__ = ["WriterAdapters", "quantize_q8", "reply_losses", "write_adapter"]

LAYERS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""The layers that get an adapter, with their names in GGUF."""

ROTARY = "attn_q"
BLOCK = 32


class WriterAdapters(Adapters):
    """Adapters on the layers of a Llama that llama.cpp adapts too. Parameters are named `0.mlp.up_proj.a`."""

    def __init__(self, network: Any, rank: int, scale: float, seed: int) -> None:
        indices = range(len(network.model.layers))
        layers = {f"{index}.{name}": f"model.layers.{index}.{name}" for index in indices for name in LAYERS}
        super().__init__(network, layers, rank, scale, seed)


def reply_losses(network: Any, prompts: list[list[int]], replies: list[list[int]], pad: int) -> Tensor:
    """- ln P of each token of the replies. Padding stands after a reply, where nothing looks at it."""
    longest = max(len(prompt) + len(reply) for prompt, reply in zip(prompts, replies))
    ids = torch.full((len(prompts), longest), pad, dtype=torch.long)
    rows, columns, targets = list[int](), list[int](), list[int]()
    for row, (prompt, reply) in enumerate(zip(prompts, replies)):
        ids[row, : len(prompt) + len(reply)] = torch.tensor(prompt + reply)
        rows += [row] * len(reply)
        columns += range(len(prompt) - 1, len(prompt) + len(reply) - 1)
        targets += reply
    device = network.device
    hidden = network.model(input_ids=ids.to(device), use_cache=False).last_hidden_state
    chosen = hidden[torch.tensor(rows, device=device), torch.tensor(columns, device=device)]
    logits = network.lm_head(chosen).float()
    return nn.functional.cross_entropy(logits, torch.tensor(targets, device=device), reduction="none")


def quantize_q8(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """A matrix as Q8_0: each row's blocks, a float16 scale and 32 bytes each."""
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    scale = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    wide = scale.astype(np.float32)
    inverse = np.divide(1, wide, out=np.zeros_like(wide), where=wide > 0)
    quants = np.clip(np.rint(blocks * inverse), -127, 127).astype(np.int8)
    packed = np.concatenate([scale.view(np.uint8), quants.view(np.uint8)], axis=1)
    return np.ascontiguousarray(packed.reshape(values.shape[0], -1))


def write_adapter(path: Path, parameters: Tensors, scale: float, heads: int, base: str) -> None:
    """The adapter as a GGUF file; `heads` are those of the queries."""
    try:
        gguf = import_module("gguf")
    except ImportError as error:
        raise MissingExtra("writing a GGUF file", "train") from error
    rank = next(values.shape[0] for name, values in parameters.items() if name.endswith(".a"))
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", scale * rank)
    writer.add_name("Understudy writer")
    writer.add_license("apache-2.0")
    writer.add_string("general.base_model.0.name", base)
    writer.add_uint32("general.base_model.count", 1)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for key, values in parameters.items():
        index, name, side = key.split(".", 1)[0], key.split(".", 1)[1].rpartition(".")[0], key[-1]
        part = LAYERS[name]
        rows = _paired(values, heads) if side == "b" and part == ROTARY else values
        writer.add_tensor(
            f"blk.{index}.{part}.weight.lora_{side}",
            quantize_q8(np.ascontiguousarray(rows, np.float32)),
            raw_dtype=gguf.GGMLQuantizationType.Q8_0,
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _paired(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Rows of a head from two halves to pairs side by side."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)
