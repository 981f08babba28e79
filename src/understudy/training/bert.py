"""BERT in plain torch, over many sequences of different lengths at once.

Sequences are sorted into groups of similar length, each padded to the next multiple of 16 (long ones of 64), and are
concatenated into one row of tokens. All layers work on that row; only attention looks at the groups, sequence by
sequence. So little is computed for padding, and a batch of thousands of sequences takes few calls. transformers'
`BertModel` gives the same states; why it is not used yet is in docs/decisions/0007.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.training.pretrained import WORDS, Shape

if TYPE_CHECKING:
    from torch import Tensor, device


STEP, LONG, LONG_STEP = 16, 64, 64

Parameters = Mapping[str, "Tensor"]
Watch = Callable[[str, "Tensor"], None]
"""Called with the name of a linear layer and its input."""


@dataclass(frozen=True, slots=True)
class PackedSequences:
    """Sequences concatenated into one row of tokens.

    `groups` are (first token, sequences, length); `firsts` says where each sequence begins and `rows` which row of the
    groups it is, both in the order in which the sequences were given. `real` is 0 for padding, `types` 1 for the second
    of two texts.
    """

    ids: Tensor
    positions: Tensor
    types: Tensor
    real: Tensor
    groups: tuple[tuple[int, int, int], ...]
    firsts: Tensor
    rows: Tensor


def pack(sequences: Sequence[Sequence[int]], on: device, seconds: Sequence[int] | None = None) -> PackedSequences:
    """Concatenate sequences, shortest first; `seconds` says how many tokens at the end are a second text's."""
    import torch

    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    steps = np.where(lengths <= LONG, STEP, LONG_STEP)
    padded = -(-lengths // steps) * steps
    order = np.argsort(padded, kind="stable")
    starts, rows = np.empty_like(order), np.empty_like(order)
    starts[order] = np.cumsum(padded[order]) - padded[order]
    rows[order] = np.arange(len(order))
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

    return PackedSequences(
        moved(ids), moved(positions), moved(types), moved(real), tuple(groups), moved(starts), moved(rows)
    )


def paired(contexts: Sequence[Sequence[int]], replies: Sequence[Sequence[int]], on: device) -> PackedSequences:
    """Each context with its reply, which comes as the encoder reads it and leaves its first token behind."""
    both = [[*context, *reply[1:]] for context, reply in zip(contexts, replies)]
    return pack(both, on, [len(reply) - 1 for reply in replies])


def precision(on: device) -> AbstractContextManager[object]:
    """Autocast to bfloat16 on CUDA; full precision on a CPU."""
    import torch

    return torch.autocast(on.type, torch.bfloat16, enabled=on.type == "cuda")


def states(
    parameters: Parameters, stream: PackedSequences, shape: Shape, dropout: float = 0.0, watch: Watch | None = None
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
            prefix, short = f"encoder.layer.{layer}", f"l{layer}"
            attention_input = seen(f"{short}.qkv", state)
            queries, keys, values = (
                linear(f"{prefix}.attention.self.{name}", attention_input) for name in ("query", "key", "value")
            )
            attended = seen(f"{short}.o", _attention(queries, keys, values, stream, shape))
            state = normed(
                f"{prefix}.attention.output", state + dropped(linear(f"{prefix}.attention.output.dense", attended))
            )
            inner = functional.gelu(linear(f"{prefix}.intermediate.dense", seen(f"{short}.in", state)))
            state = normed(f"{prefix}.output", state + dropped(linear(f"{prefix}.output.dense", inner)))
    return state.float()


def _attention(queries: Tensor, keys: Tensor, values: Tensor, stream: PackedSequences, shape: Shape) -> Tensor:
    """Every token attends to its own sequence."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    outputs = []
    for first, count, length in stream.groups:
        part = slice(first, first + count * length)
        query, key, value = (
            tensor[part].view(count, length, shape.heads, -1).transpose(1, 2) for tensor in (queries, keys, values)
        )
        mask = stream.real[part].view(count, 1, 1, length) > 0
        output = scaled_dot_product_attention(query, key, value, attn_mask=mask)
        outputs.append(output.transpose(1, 2).reshape(count * length, shape.width))
    return torch.cat(outputs)


def means(state: Tensor, stream: PackedSequences, weights: Tensor) -> Tensor:
    """The mean state of each sequence's tokens, each token counting with its weight."""
    import torch

    results = []
    for first, count, length in stream.groups:
        part = slice(first, first + count * length)
        weight = weights[part].view(count, length, 1)
        total = (state[part].view(count, length, -1) * weight).sum(dim=1)
        results.append(total / weight.sum(dim=1).clamp(min=1e-6))
    return torch.cat(results)[stream.rows]


def unit_vectors(parameters: Parameters, stream: PackedSequences, shape: Shape, dropout: float = 0.0) -> Tensor:
    """A sequence's vector: the mean of its states, at length 1."""
    from torch.nn.functional import normalize

    return normalize(means(states(parameters, stream, shape, dropout), stream, stream.real), dim=-1)
