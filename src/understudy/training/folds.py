"""Towers that have not seen what they are asked about.

A cross-encoder adds to what an encoder says. An encoder is surer of the dialogues it was trained on than of any other,
so a cross-encoder that learns beside it on those would learn too little. The training dialogues are dealt into three
parts, a tower is trained on each two of them, and every question is put to the tower that never saw its dialogue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.training.base import Base
from understudy.training.bert import stream_of, unit_vectors
from understudy.training.contrast import SHARPNESS, WEIGHTS
from understudy.training.corpus import Corpus, Sequences, Shown
from understudy.training.encoder import Numbers

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["FOLDS", "Towers", "folds_of", "unseen"]

FOLDS = 3
AT_ONCE = 2_048  # replies encoded in one go


def folds_of(corpus: Corpus) -> NDArray[np.int64]:
    """Which part each example's dialogue is in."""
    dealt: dict[tuple[int, ...], int] = {}
    return np.array([dealt.setdefault(example.around, len(dealt)) % FOLDS for example in corpus.examples], np.int64)


def unseen(folds: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """For each part the examples of the others, on which its tower is trained."""
    parts = [np.flatnonzero(folds != fold) for fold in range(FOLDS)]
    return [part if len(part) > 1 else np.arange(len(folds)) for part in parts]  # of one dialogue all see all


class Towers:
    """The three towers at work: their vectors of all replies, made once, and of contexts as they come."""

    def __init__(self, towers: Sequence[Numbers], corpus: Corpus, base: Base, on: device) -> None:
        import torch

        self._shape, self._make, self._on = base.shape, Sequences(base.form), on
        self._towers = [{name: torch.from_numpy(told).to(on) for name, told in tower.items()} for tower in towers]
        self._folds = folds_of(corpus)
        said = [self._make.text(corpus.tokens[text], "reply") for text in corpus.pool]
        self._replies = [
            torch.cat([self._vectors(tower, said[start : start + AT_ONCE]) for start in range(0, len(said), AT_ONCE)])
            for tower in self._towers
        ]
        self._places = np.zeros(len(corpus.texts), np.int64)
        self._places[corpus.pool] = np.arange(len(corpus.pool))

    def scores(self, numbers: NDArray[np.int64], shown: Sequence[Shown], replies: NDArray[np.int64]) -> Tensor:
        """What the right tower gives each question's replies (questions x replies), as contrast's sum has it."""
        import torch

        found = torch.zeros(replies.shape, device=self._on)
        for fold, tower in enumerate(self._towers):
            places = np.flatnonzero(self._folds[numbers] == fold)
            if len(places):
                some = [shown[place] for place in places.tolist()]
                wanted = torch.from_numpy(self._places[replies[places]]).to(self._on)
                found[torch.from_numpy(places).to(self._on)] = self._fit(tower, some, self._replies[fold][wanted])
        return found

    def _fit(self, tower: Any, shown: Sequence[Shown], replies: Tensor) -> Tensor:
        import torch

        make, size = self._make, len(shown)
        contexts = [make.context(one) for one in shown]
        turns = [make.context(Shown([], [], one.turns)) for one in shown]
        sentences = [make.text(sentence, "own") for one in shown for sentence in one.own]
        vectors = self._vectors(tower, [*contexts, *turns, *sentences])
        total = WEIGHTS["query"] * torch.einsum("nw,nkw->nk", vectors[:size], replies)
        total += WEIGHTS["history"] * torch.einsum("nw,nkw->nk", vectors[size : 2 * size], replies)
        if not sentences:
            return total
        owner = torch.from_numpy(np.repeat(np.arange(size), [len(one.own) for one in shown])).to(self._on)
        near = torch.einsum("pw,pkw->pk", vectors[2 * size :], replies[owner])
        best = torch.zeros_like(total).index_add(0, owner, torch.exp(SHARPNESS * (near - 1)))
        known = best > 0
        return total + WEIGHTS["persona"] * torch.where(known, 1 + best.clamp(min=1e-30).log() / SHARPNESS, best)

    def _vectors(self, tower: Any, sequences: Sequence[list[int]]) -> Tensor:
        import torch

        with torch.no_grad():
            return unit_vectors(tower, stream_of(sequences, self._on), self._shape)
