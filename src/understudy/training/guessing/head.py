"""From the states of tokens to who each mask is, and what there is to learn from that.

    p(m, j)   = sum over m's tokens t of sequence j of a_t h_t        a = softmax over them of v . tanh(V h_t)
    q(m, j)   = the state at the end of the question about m          a causal model's; else it is left out
    x(m)      = sum over sequences j of b_j [p(m, j); q(m, j)]        b = softmax over them of u . tanh(U [p; q])
    s(m, c)   = w_c . x(m) + b_c  (+ k q(m) . e_c)                    e_c: the vector of c's name in the model itself

    loss      = - mean ln P(m is its c), P a softmax of s over the scene's candidates or the whole cast
                - mean over masks of ln P(the right assignment), P a softmax over all assignments, as much as it counts

A cast has classes of its own: those of one show never compete with another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.guessing.assignment import all_assignments, can_list
from understudy.training.guessing.script import NOBODY, Script
from understudy.training.guessing.trunk import Trunk

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["HEAD", "Question", "head_start", "loss_of", "scores_of"]

HEAD = "head."
HIDDEN = 128
NAME = 0.5  # what a name's own vector counts at the start

Parameters = Mapping[str, "Tensor"]


@dataclass(frozen=True, slots=True)
class Question:
    """A script; the class of each candidate; and, while learning, which class each mask is and those of its cast."""

    script: Script
    candidates: tuple[int, ...]
    answers: tuple[int, ...] = ()
    cast: tuple[int, ...] = ()


def head_start(trunk: Trunk, classes: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """Attention to all alike, and a classifier that knows nothing."""
    chance = np.random.default_rng(seed)
    width = trunk.width * (2 if trunk.causal else 1)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return (chance.standard_normal(shape) * 0.02).astype(np.float32)

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
    parameters: Parameters, scripts: Sequence[Script], trunk: Trunk, names: Sequence[str], dropout: float = 0.0
) -> Tensor:
    """A row for each mask of each script, a column for each class; `names` are the classes'."""
    import torch
    from torch.nn.functional import dropout as dropped

    states = trunk.states(
        parameters,
        [sequence for script in scripts for sequence in script.sequences],
        [second for script in scripts for second in script.seconds],
    )
    tokens: list[int] = []  # their places, where all sequences lie behind one another
    asked: list[int] = []
    piece_of: list[int] = []
    mask_of: list[int] = []
    start, mask = 0, 0
    for script in scripts:
        for place, owners in enumerate(script.owners):
            told = np.array(owners)
            for number in sorted({*owners} - {NOBODY}):
                own = np.flatnonzero(told == number).tolist()
                tokens += [start + at for at in own]
                piece_of += [len(mask_of)] * len(own)
                # one of whom nothing is asked is asked about by its own last token
                asked.append(start + script.asked.get((place, number), own[-1]))
                mask_of.append(mask + number)
            start += len(owners)
        mask += len(script.masks)
    every = torch.cat(states)
    pooled = _pooled(parameters, "tokens", every[_index(tokens, every)], _index(piece_of, every), len(mask_of))
    features = torch.cat([pooled, every[_index(asked, every)]], dim=1) if trunk.causal else pooled
    found = _pooled(parameters, "sequences", features, _index(mask_of, every), mask)
    scores = dropped(found, dropout) @ parameters[f"{HEAD}cast.weight"].T + parameters[f"{HEAD}cast.bias"]
    if trunk.causal:
        called = found[:, trunk.width :] @ trunk.name_vectors(parameters, names).T
        scores = scores + parameters[f"{HEAD}name"] * called
    return scores


def loss_of(scores: Tensor, questions: Sequence[Question], among_cast: bool, together: float) -> Tensor:
    """What the module's page says; `together` is how much whole assignments count."""
    import torch
    from torch.nn.functional import cross_entropy

    alone, whole = scores.new_zeros(()), scores.new_zeros(())
    row, counted = 0, 0
    for question in questions:
        masks = len(question.script.masks)
        own = scores[row : row + masks]
        classes = question.cast if among_cast else question.candidates
        wanted = _index([classes.index(answer) for answer in question.answers], scores)
        alone = alone + cross_entropy(own[:, list(classes)], wanted, reduction="sum")
        if together and 1 < masks == len(question.candidates) and can_list(masks):
            ways = torch.from_numpy(all_assignments(masks, masks)).to(scores.device)
            among = own[:, list(question.answers)]  # the right assignment is 0, 1, 2, ..., which is listed first
            totals = among[torch.arange(masks, device=scores.device), ways].sum(dim=1)
            whole = whole + torch.logsumexp(totals, 0) - totals[0]
            counted += masks
        row += masks
    return alone / row + together * whole / max(counted, 1)


def _pooled(parameters: Parameters, what: str, values: Tensor, owners: Tensor, count: int) -> Tensor:
    """The attentive mean of the values of each owner."""
    import torch

    hidden = torch.tanh(values @ parameters[f"{HEAD}{what}.hide"].T)
    scores = hidden @ parameters[f"{HEAD}{what}.attend"]
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, owners, scores.detach(), "amax")
    raised = torch.exp(scores - largest[owners])
    shares = raised / scores.new_zeros(count).index_add(0, owners, raised)[owners]
    return values.new_zeros(count, values.shape[1]).index_add(0, owners, values * shares[:, None])


def _index(numbers: Sequence[int], beside: Tensor) -> Tensor:
    import torch

    return torch.tensor(numbers, dtype=torch.long, device=beside.device)
