"""The cross-encoder's formulas: a context and a reply in one sequence, read together.

    f(c)   = [u(first); u(reply); u(reply) u(context)]   states: the first; the sum of it and the reply's; the context's
    own(c) = W2 gelu(W1 f(c) + b1) + b2                  u(x) is x at the length of the root of its width; W2 begins 0

The domain may be learnt first (BERT-FP): words that were masked, and whether the second text is the next turn, another
turn of the same dialogue, or any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.training.base import WORDS, Base, Shape
from understudy.training.bert import Parameters, Stream, means, precision, states, stream_of

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["DOMAIN", "HEAD", "domain_loss", "domain_start", "head_start", "paired", "scores"]

HEAD, KINDS, GUESS = "head", "kinds", "guess"
DOMAIN = (KINDS, GUESS)
MASKED, UNCHANGED = 0.15, 0.1  # of all words; of these, left as they are

Ids = list[int]
Numbers = dict[str, NDArray[np.float32]]


def paired(contexts: Sequence[Ids], replies: Sequence[Ids], on: device) -> Stream:
    """Each context with its reply, which comes as the encoder reads it and leaves its first token behind."""
    both = [[*context, *reply[1:]] for context, reply in zip(contexts, replies)]
    return stream_of(both, on, [len(reply) - 1 for reply in replies])


def scores(parameters: Parameters, stream: Stream, shape: Shape, dropout: float = 0.0) -> Tensor:
    """The cross-encoder's own score of each pair."""
    import torch
    from torch.nn.functional import gelu, linear, normalize

    state = states(parameters, stream, shape, dropout)
    second = stream.types.float()
    leading = torch.zeros_like(second)
    leading[stream.firsts] = 1
    parts = (
        state[stream.firsts],
        means(state, stream, second + leading),
        means(state, stream, stream.real - second),
    )
    first, reply, context = (normalize(part, dim=-1) * shape.width**0.5 for part in parts)
    features = torch.cat([first, reply, reply * context], dim=1)
    hidden = gelu(linear(features, parameters[f"{HEAD}.0.weight"], parameters[f"{HEAD}.0.bias"]))
    return linear(hidden, parameters[f"{HEAD}.2.weight"], parameters[f"{HEAD}.2.bias"])[:, 0]


def head_start(shape: Shape, seed: int) -> Numbers:
    """What the cross-encoder has beyond the tower, as its training begins."""
    chance, width = np.random.default_rng(seed), shape.width
    return {
        f"{HEAD}.0.weight": chance.normal(0, 0.02, (width, 3 * width)).astype(np.float32),
        f"{HEAD}.0.bias": np.zeros(width, np.float32),
        f"{HEAD}.2.weight": np.zeros((1, width), np.float32),
        f"{HEAD}.2.bias": np.zeros(1, np.float32),
    }


def domain_start(shape: Shape, seed: int) -> Numbers:
    """What is needed only while the domain is learnt."""
    chance, width = np.random.default_rng(seed), shape.width
    return {
        f"{GUESS}.weight": np.eye(width, dtype=np.float32),
        f"{GUESS}.bias": np.zeros(shape.words, np.float32),
        f"{KINDS}.weight": chance.normal(0, 0.02, (3, width)).astype(np.float32),
        f"{KINDS}.bias": np.zeros(3, np.float32),
    }


def domain_loss(parameters: Parameters, stream: Stream, kinds: Sequence[int], base: Base, dropout: float) -> Tensor:
    """Masked words and the kind of the second text, added up."""
    import torch
    from torch.nn.functional import cross_entropy, linear

    on = stream.ids.device
    special = torch.tensor(sorted({base.form.first, base.form.last, *base.form.markers.values()}), device=on)
    drawn = torch.rand(stream.ids.shape, device=on)
    chosen = (drawn < MASKED) & (stream.real > 0) & ~torch.isin(stream.ids, special)
    hidden = torch.where(chosen & (drawn < MASKED * (1 - UNCHANGED)), base.mask, stream.ids)
    state = states(parameters, replace(stream, ids=hidden), base.shape, dropout)
    with precision(on):
        guess = linear(state[chosen], parameters[f"{GUESS}.weight"])
        told = linear(guess, parameters[WORDS], parameters[f"{GUESS}.bias"])
    words = cross_entropy(told.float(), stream.ids[chosen], reduction="sum") / max(len(told), 1)
    found = linear(state[stream.firsts], parameters[f"{KINDS}.weight"], parameters[f"{KINDS}.bias"])
    return words + cross_entropy(found, torch.tensor(kinds, device=on))
