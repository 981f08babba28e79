"""SmolLM2's weights out of its GGUF file, as transformers names them; and low-rank adapters on its linear layers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import torch
from torch import nn

NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}
HEADS = {"attn_q": 9, "attn_k": 3}


def index_of(gguf: Path) -> list[dict]:
    """Where each tensor lies in the file: made where the `gguf` package is, read where it is not."""
    from gguf import GGUFReader

    return [
        {"name": t.name, "shape": [int(n) for n in reversed(t.shape)], "type": t.tensor_type.name, "at": int(t.data_offset), "size": int(t.n_bytes)}
        for t in GGUFReader(str(gguf)).tensors
    ]


def dequantised(raw: np.ndarray, kind: str, shape: list[int]) -> np.ndarray:
    if kind == "F32":
        return raw.view(np.float32).reshape(shape)
    if kind == "Q8_0":
        blocks = raw.reshape(-1, 34)
        return (blocks[:, :2].copy().view(np.float16).astype(np.float32) * blocks[:, 2:].view(np.int8)).reshape(shape)
    if kind == "Q4_1":
        blocks = raw.reshape(-1, 20)
        scale, least = (blocks[:, at : at + 2].copy().view(np.float16).astype(np.float32) for at in (0, 2))
        quants = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], axis=1)
        return (quants * scale + least).reshape(shape)
    raise ValueError(kind)


def unpermuted(weight: np.ndarray, heads: int) -> np.ndarray:
    """GGUF keeps rotary pairs side by side, transformers half a head apart."""
    return weight.reshape(heads, weight.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(weight.shape)


def permuted(weight: np.ndarray, heads: int) -> np.ndarray:
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def weights_of(gguf: Path, index: list[dict]) -> dict[str, torch.Tensor]:
    data = np.memmap(gguf, np.uint8, "r")
    found = {}
    for tensor in index:
        value = dequantised(np.array(data[tensor["at"] : tensor["at"] + tensor["size"]]), tensor["type"], tensor["shape"])
        name = tensor["name"]
        if name == "token_embd.weight":
            name = "model.embed_tokens.weight"
        elif name == "output_norm.weight":
            name = "model.norm.weight"
        else:
            _, block, part, _ = name.split(".")
            if part in HEADS:
                value = unpermuted(value, HEADS[part])
            name = f"model.layers.{block}.{NAMES[part]}.weight"
        found[name] = torch.from_numpy(np.ascontiguousarray(value))
    return found


def model_of(gguf: Path, index: list[dict], dtype: torch.dtype = torch.bfloat16) -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
        max_position_embeddings=8192, rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
        tie_word_embeddings=True, bos_token_id=1, eos_token_id=2, pad_token_id=2, attn_implementation="sdpa",
    )
    model = LlamaForCausalLM(config)
    missing = model.load_state_dict(weights_of(gguf, index), strict=False)
    assert set(missing.missing_keys) <= {"lm_head.weight"} and not missing.unexpected_keys, missing
    model.tie_weights()
    model.to(dtype)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model


class LowRank(nn.Module):
    """y = W x + s B A x"""

    def __init__(self, base: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.base, self.scale, self.dropout = base, scale, 0.0
        device = base.weight.device
        self.a = nn.Parameter(torch.empty(rank, base.in_features, device=device))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=device))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low = nn.functional.dropout(x, self.dropout, self.training) if self.dropout else x
        return self.base(x) + (low @ self.a.to(x.dtype).T) @ self.b.to(x.dtype).T * self.scale


def adapted(model: nn.Module, ranks: dict[str, int], scale: float = 2.0) -> dict[str, nn.Parameter]:
    """Adapters put on; their parameters by name (`layers.0.self_attn.q_proj.a`)."""
    found = {}
    for place, layer in enumerate(model.model.layers):
        for owner in ("self_attn", "mlp"):
            for name, rank in ranks.items():
                linear = getattr(getattr(layer, owner), name, None)
                if linear is None:
                    continue
                low = LowRank(linear, rank, scale)
                setattr(getattr(layer, owner), name, low)
                found[f"layers.{place}.{owner}.{name}.a"] = low.a
                found[f"layers.{place}.{owner}.{name}.b"] = low.b
    return found


def quantised(value: np.ndarray) -> np.ndarray:
    """Q8_0: blocks of 32 numbers, a float16 scale and a byte each."""
    blocks = value.astype(np.float32).reshape(-1, 32)
    scale = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    inverse = np.divide(1, scale.astype(np.float32), out=np.zeros_like(scale, np.float32), where=scale > 0)
    quants = np.clip(np.rint(blocks * inverse), -127, 127).astype(np.int8)
    return np.concatenate([scale.view(np.uint8), quants.view(np.uint8)], axis=1).reshape(value.shape[0], -1)


def unquantised(raw: np.ndarray) -> np.ndarray:
    return dequantised(np.ascontiguousarray(raw).reshape(-1), "Q8_0", [raw.shape[0], raw.shape[1] // 34 * 32])
