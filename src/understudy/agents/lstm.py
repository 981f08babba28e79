"""The LSTM encoder-decoder of PersonaChat's generative models, as functions of a dict of parameters.

    encoder   h_t = LSTM_enc(x_t, h_t-1)                    x_t is the vector of the input's word t
    decoder   h_0 = the encoder's last h                    the cell starts there too
              h_t = LSTM_dec(x^_t, h_t-1)                   x_t is the vector of the reply's word t-1
              P(word t is j) = softmax over j of w_j h_t + b_j

Without a memory x^_t = x_t. With one, each profile sentence i is an entry f_i, and F has them as rows:

    f_i  = sum over its words j of alpha_j p_ij             p_ij is the word's vector
    a_t  = softmax(F W_a h_t),   c_t = a_t^T F
    x^_t = tanh(W_c [c_t-1, x_t])

`decode` multiplies F with W_a and with c's half of W_c once for all steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.agents.word_tokens import PAD

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = [
    "DecoderState", "ProfileEntries", "decode", "encode", "entries_of", "initial_parameters", "log_softmax", "padded",
    "parameter_shapes", "start_of", "step",
]  # fmt: skip

Parameters = Mapping[str, "Tensor"]
Rows = Sequence[Sequence[int]]

FORGET_BIAS = 1.0


@dataclass(frozen=True, slots=True)
class DecoderState:
    """h and the cell of each row, and its attention over the profile at this step, where there is a memory."""

    hidden: Tensor
    cell: Tensor
    attention: Tensor | None = None


@dataclass(frozen=True, slots=True)
class ProfileEntries:
    """The memories of some rows: F W_a, F times c's half of W_c, and which entries are padding."""

    keys: Tensor
    values: Tensor
    missing: Tensor

    def take(self, rows: Tensor) -> ProfileEntries:
        return ProfileEntries(self.keys[rows], self.values[rows], self.missing[rows])


def parameter_shapes(tokens: int, width: int, hidden: int, *, has_memory: bool) -> dict[str, tuple[int, ...]]:
    """The parameters of a model by name: `width` is that of word vectors."""
    shapes: dict[str, tuple[int, ...]] = {"embedding": (tokens, width)}
    for part in ("encoder", "decoder"):
        shapes |= {f"{part}.input": (4 * hidden, width), f"{part}.hidden": (4 * hidden, hidden)}
        shapes[f"{part}.bias"] = (4 * hidden,)
    shapes |= {"output.weight": (tokens, hidden), "output.bias": (tokens,)}
    if has_memory:
        shapes |= {"attention": (width, hidden), "combine": (width, 2 * width)}
    return shapes


def initial_parameters(shapes: Mapping[str, tuple[int, ...]], hidden: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """Word vectors of variance 1, which W_c preserves; all else within 1 / sqrt(hidden), the forget gates open.

    Of shorter vectors the gates would see little beside their biases; the state would tell nothing of what was read.
    """
    rng = np.random.default_rng(seed)
    start: dict[str, NDArray[np.float32]] = {}
    for name, shape in shapes.items():
        if name == "embedding":
            start[name] = rng.normal(0, 1, shape).astype(np.float32)
        elif name.endswith("bias"):
            start[name] = np.zeros(shape, np.float32)
        else:
            bound = (3 / shape[0]) ** 0.5 if name == "combine" else hidden**-0.5
            start[name] = rng.uniform(-bound, bound, shape).astype(np.float32)
    for part in ("encoder", "decoder"):
        start[f"{part}.bias"][hidden : 2 * hidden] = FORGET_BIAS
    start["embedding"][PAD] = 0
    return start


def padded(rows: Rows, on: device) -> Tensor:
    """Rows of ids, filled up with padding at their ends."""
    import torch

    longest = max(map(len, rows), default=0)
    table = np.full((len(rows), longest), PAD, np.int64)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return torch.from_numpy(table).to(on)


def encode(parameters: Parameters, ids: Tensor, dropout: float = 0.0) -> Tensor:
    """h_t of every position (rows x positions x hidden); padding at the end changes nothing before it."""
    vectors = _vectors(parameters, ids, dropout)
    zero = vectors.new_zeros(len(ids), parameters["encoder.hidden"].shape[1])
    return _lstm(parameters, "encoder", vectors, DecoderState(zero, zero))


def entries_of(parameters: Parameters, weights: Tensor, profiles: Sequence[Rows], on: device) -> ProfileEntries | None:
    """The memories of rows with these profiles, a profile being sentences of ids; None where all are empty.

    `weights` are the alpha of the vocabulary.
    """
    import torch
    from torch.nn.functional import embedding, linear

    most = max(map(len, profiles), default=0)
    if "attention" not in parameters or not most:
        return None
    sentences = padded([ids for profile in profiles for ids in (*profile, *[()] * (most - len(profile)))], on)
    sentences = sentences.view(len(profiles), most, sentences.shape[1])
    shares = torch.where(sentences == PAD, 0.0, weights[sentences])
    entries = (embedding(sentences, parameters["embedding"]) * shares[..., None]).sum(dim=2)
    counts = torch.tensor([len(profile) for profile in profiles], device=on)
    missing = torch.arange(most, device=on) >= counts[:, None]
    width = entries.shape[-1]
    return ProfileEntries(entries @ parameters["attention"], linear(entries, parameters["combine"][:, :width]), missing)


def start_of(hidden: Tensor) -> DecoderState:
    """The decoder's first state from the encoder's last h."""
    return DecoderState(hidden, hidden)


def decode(
    parameters: Parameters, state: DecoderState, entries: ProfileEntries | None, ids: Tensor, dropout: float = 0.0
) -> Tensor:
    """h_t of every position, the words before it given (rows x positions x hidden)."""
    import torch
    from torch.nn.functional import dropout as drop

    vectors = _vectors(parameters, ids, dropout)
    if entries is None:
        states = _lstm(parameters, "decoder", vectors, state)
    else:
        projected = _projected(parameters, vectors)
        steps = []
        for position in range(ids.shape[1]):
            state = _step(parameters, state, entries, vectors[:, position], projected[:, position])
            steps.append(state.hidden)
        states = torch.stack(steps, dim=1)
    return drop(states, dropout, dropout > 0)


def step(parameters: Parameters, state: DecoderState, entries: ProfileEntries | None, ids: Tensor) -> DecoderState:
    """The state after one more word of each row."""
    vectors = _vectors(parameters, ids, 0.0)
    return _step(parameters, state, entries, vectors, vectors if entries is None else _projected(parameters, vectors))


def log_softmax(parameters: Parameters, hidden: Tensor) -> Tensor:
    """The log-probability of each token of the vocabulary as the next."""
    from torch.nn.functional import linear

    return linear(hidden, parameters["output.weight"], parameters["output.bias"]).log_softmax(dim=-1)


def _vectors(parameters: Parameters, ids: Tensor, dropout: float) -> Tensor:
    from torch.nn.functional import dropout as drop
    from torch.nn.functional import embedding

    return drop(embedding(ids, parameters["embedding"]), dropout, dropout > 0)


def _projected(parameters: Parameters, vectors: Tensor) -> Tensor:
    """The words' half of W_c [c, x]."""
    from torch.nn.functional import linear

    return linear(vectors, parameters["combine"][:, vectors.shape[-1] :])


def _step(
    parameters: Parameters, state: DecoderState, entries: ProfileEntries | None, vectors: Tensor, projected: Tensor
) -> DecoderState:
    import torch

    shares = None
    if entries is not None:
        scores = torch.einsum("neh,nh->ne", entries.keys, state.hidden)
        shares = scores.masked_fill(entries.missing, -1e9).softmax(dim=1)
        attended = torch.tanh(torch.einsum("ne,new->nw", shares, entries.values) + projected)
        vectors = torch.where(entries.missing.all(dim=1)[:, None], vectors, attended)
    weights = _weights(parameters, "decoder")
    hidden, cell = torch.lstm_cell(vectors, (state.hidden, state.cell), *weights)
    return DecoderState(hidden, cell, shares)


def _lstm(parameters: Parameters, part: str, vectors: Tensor, state: DecoderState) -> Tensor:
    import torch

    start = (state.hidden[None].contiguous(), state.cell[None].contiguous())
    weights, is_training = list(_weights(parameters, part)), torch.is_grad_enabled()  # cuDNN keeps more to go back
    hidden: Tensor = torch.lstm(vectors, start, weights, True, 1, 0.0, is_training, False, True)[0]
    return hidden


def _weights(parameters: Parameters, part: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As torch wants them: it adds a second bias, which has nothing to add to the first."""
    import torch

    bias = parameters[f"{part}.bias"]
    return parameters[f"{part}.input"], parameters[f"{part}.hidden"], bias, torch.zeros_like(bias)
