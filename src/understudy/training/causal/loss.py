"""The loss of a causal language model on dialogues.

    loss = - 1/n sum over the n learnt tokens w_i of a batch of ln P(w_i | all tokens before it)

Learnt are the tokens of replies and their ends, never those of a prompt. A network is trained whole, or through
low-rank adapters while its own weights stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call

from understudy.agents.causal import TokenizedDialogue
from understudy.language.backends.causal_lm import chosen_logits
from understudy.language.backends.lora import Adapters, adapted_layers
from understudy.language.backends.transformer import Transformer
from understudy.language.model_folder import Tensors
from understudy.training.loop import ALONE, Workers
from understudy.training.pretrained import own_weights

__all__ = ["AllWeights", "DialogueLoss", "LowRank", "TrainedPart", "token_losses"]

PASS_TOKENS = 1 << 14
LIKE = 0.6  # a sequence shorter than this share of the longest is read in another pass

Draw = Callable[[int, int], TokenizedDialogue]
"""From an epoch and the index of a dialogue to its tokens, as it is shown in that epoch."""


class TrainedPart(Protocol):
    """What of a network is trained."""

    start: Tensors

    def logits(self, parameters: Mapping[str, Tensor], ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor: ...


class LowRank:
    """Adapters on every linear layer of the blocks."""

    def __init__(self, network: Any, rank: int, scale: float, seed: int) -> None:
        self._network = network
        self._adapters = Adapters(network, adapted_layers(network), rank, scale, seed)
        self.start = self._adapters.start

    def logits(self, parameters: Mapping[str, Tensor], ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        self._adapters.bind(parameters)
        return chosen_logits(self._network, rows, columns, input_ids=ids)


class AllWeights:
    """Every parameter of a network."""

    def __init__(self, network: Any) -> None:
        self._module = _ChosenLogits(network)
        self.start: Tensors = own_weights(network)

    def logits(self, parameters: Mapping[str, Tensor], ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        bound = {f"network.{name}": parameter for name, parameter in parameters.items()}
        logits: Tensor = functional_call(self._module, bound, (ids, rows, columns))
        return logits


class _ChosenLogits(nn.Module):
    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        return chosen_logits(self.network, rows, columns, input_ids=ids)


class DialogueLoss:
    """The loss of a batch of dialogues, or of this worker's share of it; `batches` has their indices."""

    def __init__(
        self,
        model: Transformer,
        part: TrainedPart,
        draw: Draw,
        batches: Sequence[Sequence[int]],
        workers: Workers = ALONE,
    ) -> None:
        self._model, self._part, self._draw, self._batches = model, part, draw, batches
        self._workers = workers

    def __call__(self, parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        epoch = step // len(self._batches)
        indices = [index for number in batch.tolist() for index in self._batches[number]]
        sequences = sorted((self._draw(epoch, index) for index in indices), key=lambda drawn: len(drawn.ids))
        learnt = sum(len(sequence.learnt) for sequence in sequences)
        own = sequences[self._workers.rank :: self._workers.count]
        with self._autocast():
            losses = [token_losses(self._model, self._part, parameters, some).sum() for some in passes(own)]
        if not losses:  # fewer sequences than workers: the gradient is 0
            return sum((parameter.sum() * 0 for parameter in parameters.values()), torch.zeros(()))
        return torch.stack(losses).sum() / max(learnt, 1)

    def _autocast(self) -> AbstractContextManager[Any]:
        on_cuda = self._model.network.device.type == "cuda"
        return torch.autocast("cuda", torch.bfloat16) if on_cuda else nullcontext()


def token_losses(
    model: Transformer, part: TrainedPart, parameters: Mapping[str, Tensor], sequences: Sequence[TokenizedDialogue]
) -> Tensor:
    """- ln P of each learnt token, sequence by sequence. Padding stands at the end, where nothing looks at it."""
    device = model.network.device
    longest = max(len(sequence.ids) for sequence in sequences)
    ids = torch.full((len(sequences), longest), model.pad)
    rows, columns = list[int](), list[int]()
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence.ids)] = torch.tensor(sequence.ids)
        rows += [row] * len(sequence.learnt)
        columns += sequence.learnt
    where = torch.tensor(rows), torch.tensor(columns)
    targets = ids[where].to(device)
    logits = part.logits(parameters, ids.to(device), where[0].to(device), where[1].to(device) - 1)
    return nn.functional.cross_entropy(logits, targets, reduction="none")


def passes(sequences: Sequence[TokenizedDialogue]) -> Iterator[list[TokenizedDialogue]]:
    """Sequences of about one length together, longest first, so that little is computed for padding."""
    some: list[TokenizedDialogue] = []
    for sequence in sorted(sequences, key=lambda sequence: -len(sequence.ids)):
        longest = len(some[0].ids) if some else 0
        if some and ((len(some) + 1) * longest > PASS_TOKENS or len(sequence.ids) < LIKE * longest):
            yield some
            some = []
        some.append(sequence)
    if some:
        yield some
