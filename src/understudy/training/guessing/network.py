"""The network of a reader: a transformer trunk (any encoder or causal model), attentive pooling, a classifier head.

    p(m, j)   = sum over m's tokens t of sequence j of a_t h_t        a = softmax over them of v . tanh(V h_t)
    q(m, j)   = the state at the end of the question about m          of a causal model only
    x(m)      = sum over sequences j of b_j [p(m, j); q(m, j)]        b = softmax over them of u . tanh(U [p; q])
    s(m, c)   = w_c . x(m) + b_c  (+ k q(m) . e_c)                    e_c: the embedding of c's name in the model itself

    loss      = - mean ln P(m is its c), P a softmax of s over the scene's candidates or the whole cast
                - weight * mean over masks of ln P(the right assignment), P a softmax over all assignments

A cast has classes of its own: those of one show never compete with another's. In a causal model a token's state depends
only on what stands before it, so a question about every mask is appended to the scene (see `prompt_format`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.guessing.assignment import all_assignments, can_list
from understudy.training.guessing.reader_input import NOBODY, ReaderInput
from understudy.training.guessing.trunk import Trunk

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["HEAD", "LabelledInput", "head_start", "loss_of", "scores_of"]

HEAD = "head."  # the names of its parameters among those that are trained
HIDDEN = 128
NAME = 0.5  # what a name's own vector counts at the start
Parameters = Mapping[str, "Tensor"]


@dataclass(frozen=True, slots=True)
class LabelledInput:
    """An encoded scene; the class of each candidate; in training, the class of each mask and those of its cast."""

    encoded: ReaderInput
    candidates: tuple[int, ...]
    answers: tuple[int, ...] = ()
    cast: tuple[int, ...] = ()


def head_start(trunk: Trunk, classes: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """Initial weights of the head: uniform attention, a random classifier."""
    rng = np.random.default_rng(seed)
    width = trunk.width * (2 if trunk.causal else 1)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) * 0.02).astype(np.float32)

    start: dict[str, NDArray[np.float32]] = {
        "tokens.hide": drawn(HIDDEN, trunk.width),
        "tokens.attend": np.zeros(HIDDEN, np.float32),
        "sequences.hide": drawn(HIDDEN, width),
        "sequences.attend": np.zeros(HIDDEN, np.float32),
        "cast.weight": drawn(classes, width),
        "cast.bias": np.zeros(classes, np.float32),
    }
    if trunk.causal:
        start["name"] = np.array([NAME], np.float32)
    return {HEAD + name: tensor for name, tensor in start.items()}


def scores_of(
    parameters: Parameters, batch: Sequence[ReaderInput], trunk: Trunk, names: Sequence[str], dropout: float = 0.0
) -> Tensor:
    """A row for each mask of each encoded scene, a column for each class; `names` are the classes'."""
    import torch
    from torch.nn.functional import dropout as dropped

    states = trunk.states(
        parameters,
        [sequence for encoded in batch for sequence in encoded.sequences],
        [second for encoded in batch for second in encoded.seconds],
    )
    tokens: list[int] = []  # their indices in the concatenation of all sequences
    question_ends: list[int] = []
    piece_of: list[int] = []
    mask_of: list[int] = []
    start, mask = 0, 0
    for encoded in batch:
        for sequence_index, owners in enumerate(encoded.owners):
            owner_ids = np.array(owners)
            for number in sorted({*owners} - {NOBODY}):
                own = np.flatnonzero(owner_ids == number).tolist()
                tokens += [start + at for at in own]
                piece_of += [len(mask_of)] * len(own)
                # a mask without a question is represented by its own last token
                question_ends.append(start + encoded.question_ends.get((sequence_index, number), own[-1]))
                mask_of.append(mask + number)
            start += len(owners)
        mask += len(encoded.masks)
    every = torch.cat(states)
    pooled = _pooled(parameters, "tokens", every[_index(tokens, every)], _index(piece_of, every), len(mask_of))
    features = torch.cat([pooled, every[_index(question_ends, every)]], dim=1) if trunk.causal else pooled
    features_of_masks = _pooled(parameters, "sequences", features, _index(mask_of, every), mask)
    scores = dropped(features_of_masks, dropout) @ parameters[f"{HEAD}cast.weight"].T + parameters[f"{HEAD}cast.bias"]
    if trunk.causal:
        called = features_of_masks[:, trunk.width :] @ trunk.name_vectors(parameters, names).T
        scores = scores + parameters[f"{HEAD}name"] * called
    return scores


def loss_of(scores: Tensor, examples: Sequence[LabelledInput], among_cast: bool, together: float) -> Tensor:
    """The loss of the module's docstring; `together` is the weight of whole assignments."""
    from torch.nn.functional import cross_entropy

    classes = [example.cast if among_cast else example.candidates for example in examples]
    most = max(map(len, classes))
    among: list[list[int]] = []
    wanted: list[int] = []
    same_size: dict[int, list[list[list[int]]]] = {}
    for example, own in zip(examples, classes):
        masks, row = len(example.encoded.masks), len(among)
        among += [[*own, *[NOBODY] * (most - len(own))]] * masks
        wanted += [own.index(answer) for answer in example.answers]
        if together and 1 < masks == len(example.candidates) and can_list(masks):
            # the right assignment is 0, 1, 2, ..., which is listed first
            pairs = [
                [(row + number) * scores.shape[1] + answer for answer in example.answers] for number in range(masks)
            ]
            same_size.setdefault(masks, []).append(pairs)
    columns = _index(among, scores)
    competing = scores.gather(1, columns.clamp(min=0)).masked_fill(columns == NOBODY, float("-inf"))
    loss = cross_entropy(competing, _index(wanted, scores))
    counted = sum(masks * len(tables) for masks, tables in same_size.items())
    for tables in same_size.values():
        totals = _assignment_totals(scores.flatten()[_index(tables, scores)])
        loss = loss + together * (totals.logsumexp(dim=1) - totals[:, 0]).sum() / counted
    return loss


def _assignment_totals(tables: Tensor) -> Tensor:
    """From `[scene, mask, candidate]` to the sum of each assignment, `[scene, assignment]`."""
    masks = tables.shape[1]
    assignments = _index(all_assignments(masks, masks), tables)
    return tables[:, _index(range(masks), tables), assignments].sum(dim=2)


def _pooled(parameters: Parameters, what: str, values: Tensor, owners: Tensor, count: int) -> Tensor:
    """The attentive mean of the values of each owner."""
    import torch

    hidden = torch.tanh(values @ parameters[f"{HEAD}{what}.hide"].T)
    scores = hidden @ parameters[f"{HEAD}{what}.attend"]
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, owners, scores.detach(), "amax")
    raised = torch.exp(scores - largest[owners])
    shares = raised / scores.new_zeros(count).index_add(0, owners, raised)[owners]
    return values.new_zeros(count, values.shape[1]).index_add(0, owners, values * shares[:, None])


def _index(numbers: Any, beside: Tensor) -> Tensor:
    """Whole numbers, in lists of any depth, on the device of another tensor."""
    import torch

    return torch.from_numpy(np.asarray(numbers, dtype=np.int64)).to(beside.device)
