"""BERT in plain torch, over many sequences of different lengths at once.

Sequences are sorted into groups of like length, each padded to the next multiple of 16 (long ones of 64), and lie
behind one another as one long row of tokens. All layers work on that row; only attention looks at the groups, sequence
by sequence. So little is computed for padding, and a batch of thousands of sequences takes few calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.training.base import WORDS, Shape

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["Parameters", "Stream", "Watch", "means", "precision", "states", "stream_of", "unit_vectors"]

STEP, LONG, LONG_STEP = 16, 64, 64

Parameters = Mapping[str, "Tensor"]
Watch = Callable[[str, "Tensor"], None]
"""Shown what goes into a linear layer, by the layer's name."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Sequences as one row of tokens.

    `groups` are (first token, sequences, length); `firsts` says where each sequence begins and `places` which row of
    the groups it is, both in the order in which the sequences were given. `real` is 0 for padding, `types` 1 for the
    second of two texts.
    """

    ids: Tensor
    positions: Tensor
    types: Tensor
    real: Tensor
    groups: tuple[tuple[int, int, int], ...]
    firsts: Tensor
    places: Tensor


def stream_of(sequences: Sequence[Sequence[int]], on: device, seconds: Sequence[int] | None = None) -> Stream:
    """Sequences behind one another, shortest first; `seconds` says how many tokens at the end are a second text's."""
    import torch

    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    steps = np.where(lengths <= LONG, STEP, LONG_STEP)
    padded = -(-lengths // steps) * steps
    order = np.argsort(padded, kind="stable")
    starts, places = np.empty_like(order), np.empty_like(order)
    starts[order] = np.cumsum(padded[order]) - padded[order]
    places[order] = np.arange(len(order))
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    where = np.repeat(starts, lengths) + within
    ids, positions, types = (np.zeros(int(padded.sum()), np.int64) for _ in range(3))
    real = np.zeros(len(ids), np.float32)
    ids[where] = np.fromiter(chain.from_iterable(sequences), np.int64, len(where))
    positions[where] = within
    real[where] = 1
    if seconds is not None:
        types[where] = within >= np.repeat(lengths - np.array(seconds, np.int64), lengths)
    groups, first = [], 0
    for length, count in zip(*np.unique(padded, return_counts=True)):
        groups.append((first, int(count), int(length)))
        first += int(count) * int(length)

    def moved(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(on, non_blocking=True)

    return Stream(moved(ids), moved(positions), moved(types), moved(real), tuple(groups), moved(starts), moved(places))


def precision(on: device) -> AbstractContextManager[object]:
    """bfloat16 for what is large, on CUDA; all in full on a CPU."""
    import torch

    return torch.autocast(on.type, torch.bfloat16, enabled=on.type == "cuda")


def states(
    parameters: Parameters, stream: Stream, shape: Shape, dropout: float = 0.0, watch: Watch | None = None
) -> Tensor:
    """The last layer's state of every token."""
    from torch.nn import functional

    def linear(name: str, value: Tensor) -> Tensor:
        return functional.linear(value, parameters[f"{name}.weight"], parameters[f"{name}.bias"])

    def normed(name: str, value: Tensor) -> Tensor:
        weight, bias = parameters[f"{name}.LayerNorm.weight"], parameters[f"{name}.LayerNorm.bias"]
        return functional.layer_norm(value, (shape.width,), weight, bias, shape.epsilon)

    def dropped(value: Tensor) -> Tensor:
        return functional.dropout(value, dropout) if dropout else value

    def seen(name: str, value: Tensor) -> Tensor:
        if watch is not None:
            watch(name, value)
        return value

    embedded = (
        functional.embedding(stream.ids, parameters[WORDS])
        + functional.embedding(stream.positions, parameters["embeddings.position_embeddings.weight"])
        + functional.embedding(stream.types, parameters["embeddings.token_type_embeddings.weight"])
    )
    with precision(stream.ids.device):
        state = dropped(normed("embeddings", embedded))
        for layer in range(shape.layers):
            at, short = f"encoder.layer.{layer}", f"l{layer}"
            told = seen(f"{short}.qkv", state)
            asked, keys, values = (linear(f"{at}.attention.self.{name}", told) for name in ("query", "key", "value"))
            heard = seen(f"{short}.o", _attention(asked, keys, values, stream, shape))
            state = normed(f"{at}.attention.output", state + dropped(linear(f"{at}.attention.output.dense", heard)))
            inner = functional.gelu(linear(f"{at}.intermediate.dense", seen(f"{short}.in", state)))
            state = normed(f"{at}.output", state + dropped(linear(f"{at}.output.dense", inner)))
    return state.float()


def _attention(asked: Tensor, keys: Tensor, values: Tensor, stream: Stream, shape: Shape) -> Tensor:
    """Every token looks at its own sequence."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    found = []
    for first, count, length in stream.groups:
        part = slice(first, first + count * length)
        own, others, told = (
            tensor[part].view(count, length, shape.heads, -1).transpose(1, 2) for tensor in (asked, keys, values)
        )
        known = stream.real[part].view(count, 1, 1, length) > 0
        heard = scaled_dot_product_attention(own, others, told, attn_mask=known)
        found.append(heard.transpose(1, 2).reshape(count * length, shape.width))
    return torch.cat(found)


def means(state: Tensor, stream: Stream, weights: Tensor) -> Tensor:
    """The mean state of each sequence's tokens, each token counting with its weight."""
    import torch

    found = []
    for first, count, length in stream.groups:
        part = slice(first, first + count * length)
        weight = weights[part].view(count, length, 1)
        total = (state[part].view(count, length, -1) * weight).sum(dim=1)
        found.append(total / weight.sum(dim=1).clamp(min=1e-6))
    return torch.cat(found)[stream.places]


def unit_vectors(parameters: Parameters, stream: Stream, shape: Shape, dropout: float = 0.0) -> Tensor:
    """A sequence's vector: the mean of its states, at length 1."""
    from torch.nn.functional import normalize

    return normalize(means(states(parameters, stream, shape, dropout), stream, stream.real), dim=-1)
