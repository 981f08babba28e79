"""The two scores of a cross-encoder's training: its own, and that of an encoder tower that has not seen the question.

    f(c)   = [u(first); u(reply); u(reply) u(context)]   states: the first; the sum of it and the reply's; the context's
    own(c) = W2 gelu(W1 f(c) + b1) + b2                  u(x) is x at the length of the root of its width; W2 begins 0

An encoder scores the dialogues it was trained on too confidently, so a cross-encoder trained beside it on those would
learn too little. The training dialogues are dealt into three folds, a tower is trained on each two of them, and every
question is put to the tower that has not seen its dialogue (cross-fitting).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.training.bert import PackedSequences, Parameters, means, pack, states, unit_vectors
from understudy.training.contrastive import SHARPNESS, WEIGHTS
from understudy.training.corpus import Sequences, Shown, TokenizedDialogues
from understudy.training.pretrained import Base, Shape, Weights

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = [
    "FOLDS",
    "HEAD",
    "Towers",
    "folds_of",
    "head_start",
    "paired",
    "scores",
    "unseen",
]

HEAD = "head"

Ids = list[int]

FOLDS = 3
BATCH = 2_048  # replies encoded at once


def paired(contexts: Sequence[Ids], replies: Sequence[Ids], on: device) -> PackedSequences:
    """Each context with its reply, which comes as the encoder reads it and leaves its first token behind."""
    both = [[*context, *reply[1:]] for context, reply in zip(contexts, replies)]
    return pack(both, on, [len(reply) - 1 for reply in replies])


def scores(parameters: Parameters, stream: PackedSequences, shape: Shape, dropout: float = 0.0) -> Tensor:
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


def head_start(shape: Shape, seed: int) -> dict[str, NDArray[np.float32]]:
    """What the cross-encoder has beyond the tower, as its training begins."""
    rng, width = np.random.default_rng(seed), shape.width
    return {
        f"{HEAD}.0.weight": rng.normal(0, 0.02, (width, 3 * width)).astype(np.float32),
        f"{HEAD}.0.bias": np.zeros(width, np.float32),
        f"{HEAD}.2.weight": np.zeros((1, width), np.float32),
        f"{HEAD}.2.bias": np.zeros(1, np.float32),
    }


def folds_of(corpus: TokenizedDialogues) -> NDArray[np.int64]:
    """Which part each example's dialogue is in."""
    dealt: dict[tuple[int, ...], int] = {}
    return np.array([dealt.setdefault(example.around, len(dealt)) % FOLDS for example in corpus.examples], np.int64)


def unseen(folds: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """For each part the examples of the others, on which its tower is trained."""
    parts = [np.flatnonzero(folds != fold) for fold in range(FOLDS)]
    return [part if len(part) > 1 else np.arange(len(folds)) for part in parts]  # of one dialogue all see all


class Towers:
    """The towers' vectors of all replies, computed once, and of contexts as they come."""

    def __init__(self, towers: Sequence[Weights], corpus: TokenizedDialogues, base: Base, on: device) -> None:
        import torch

        self._shape, self._make, self._on = base.shape, Sequences(base.form), on
        self._towers = [{name: torch.from_numpy(tensor).to(on) for name, tensor in tower.items()} for tower in towers]
        self._folds = folds_of(corpus)
        replies = [self._make.text(corpus.tokens[text], "reply") for text in corpus.pool]
        self._replies = [
            torch.cat([self._vectors(tower, replies[start : start + BATCH]) for start in range(0, len(replies), BATCH)])
            for tower in self._towers
        ]
        self._pool_index = np.zeros(len(corpus.texts), np.int64)
        self._pool_index[corpus.pool] = np.arange(len(corpus.pool))

    def scores(self, numbers: NDArray[np.int64], shown: Sequence[Shown], replies: NDArray[np.int64]) -> Tensor:
        """What the right tower gives each question's replies (questions x replies), as contrast's sum has it."""
        import torch

        scores = torch.zeros(replies.shape, device=self._on)
        for fold, tower in enumerate(self._towers):
            rows = np.flatnonzero(self._folds[numbers] == fold)
            if len(rows):
                shown_rows = [shown[row] for row in rows.tolist()]
                wanted = torch.from_numpy(self._pool_index[replies[rows]]).to(self._on)
                scores[torch.from_numpy(rows).to(self._on)] = self._fit(tower, shown_rows, self._replies[fold][wanted])
        return scores

    def _fit(self, tower: Any, shown: Sequence[Shown], replies: Tensor) -> Tensor:
        import torch

        make, size = self._make, len(shown)
        contexts = [make.context(example) for example in shown]
        turns = [make.context(Shown([], [], example.turns)) for example in shown]
        sentences = [make.text(sentence, "own") for example in shown for sentence in example.own]
        vectors = self._vectors(tower, [*contexts, *turns, *sentences])
        total = WEIGHTS["query"] * torch.einsum("nw,nkw->nk", vectors[:size], replies)
        total += WEIGHTS["history"] * torch.einsum("nw,nkw->nk", vectors[size : 2 * size], replies)
        if not sentences:
            return total
        owner = torch.from_numpy(np.repeat(np.arange(size), [len(example.own) for example in shown])).to(self._on)
        near = torch.einsum("pw,pkw->pk", vectors[2 * size :], replies[owner])
        best = torch.zeros_like(total).index_add(0, owner, torch.exp(SHARPNESS * (near - 1)))
        known = best > 0
        return total + WEIGHTS["persona"] * torch.where(known, 1 + best.clamp(min=1e-30).log() / SHARPNESS, best)

    def _vectors(self, tower: Any, sequences: Sequence[list[int]]) -> Tensor:
        import torch

        with torch.no_grad():
            return unit_vectors(tower, pack(sequences, self._on), self._shape)
