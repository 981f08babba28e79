"""The encoder's contrastive loss, and the batches it is computed on.

    s_q(c) = q.c    s_h(c) = h.c    s_p(c) = best(p, c)      q the whole context, h its turns, p the profile's sentences
    loss = CE(t s_q) + CE(t (s_q + 0.4 s_h + 0.4 s_p)) + 0.3 CE(t s_h) + 0.5 CE(t s_q, the other way round)
           + 0.3 CE(t p.u) over pairs of a profile's sentence and an utterance that says the same

CE is the cross-entropy of the true reply among the replies of the whole batch, some turns of the same dialogues and
random utterances; what reads the same as the true one does not count. All vectors have length 1, t is 25, and `best` is
the one of the agent's score (see `understudy.agents.fit`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.training.corpus import Ids, Mixing, Sequences, Shown, TokenizedDialogues

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SHARPNESS", "WEIGHTS", "Batch", "batch_of", "contrast"]

WEIGHTS = {"query": 1.0, "history": 0.4, "persona": 0.4}
SHARPNESS = 16.0
SCALE = 25.0
HISTORY, BACKWARDS, PAIRED = 0.3, 0.5, 0.3
RANDOM, OWN, PAIRS = 1.0, 0.25, 0.5  # per question of the batch: random utterances, turns of the same dialogues, pairs


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences by kind, and for each profile sentence whose it is.

    `same` says which replies are no negatives of which question, `paired` the same of the pairs.
    """

    sequences: dict[str, list[Ids]]
    owner: NDArray[np.int64]
    same: NDArray[np.bool_]
    paired: NDArray[np.bool_]


def batch_of(
    corpus: TokenizedDialogues, numbers: Sequence[int], make: Sequences, mixing: Mixing, rng: random.Random
) -> Batch:  # fmt: skip
    examples = [corpus.examples[number] for number in numbers]
    shown = [corpus.shown(example, mixing, rng) for example in examples]
    size = len(examples)
    golds = [example.reply for example in examples]
    negatives = rng.choices(corpus.pool, k=round(RANDOM * size))
    negatives += [rng.choice(example.around) for example in rng.sample(examples, round(OWN * size))]
    pairs = rng.choices(corpus.pairs, k=round(PAIRS * size)) if corpus.pairs else []
    replies = np.array([*golds, *negatives])
    return Batch(
        {
            "query": [make.context(example) for example in shown],
            "history": [make.context(Shown([], [], example.turns)) for example in shown],
            "persona": [make.text(sentence, "own") for example in shown for sentence in example.own],
            "reply": [make.text(corpus.tokens[reply], "reply") for reply in replies],
            "sentence": [make.text(corpus.tokens[sentence], "own") for sentence, _ in pairs],
            "said": [make.text(corpus.tokens[said], "reply") for _, said in pairs],
        },
        np.repeat(np.arange(size), [len(example.own) for example in shown]),
        _equal(np.array(golds), replies),
        _equal(*(np.array([pair[side] for pair in pairs]) for side in (0, 0)))
        | _equal(*(np.array([pair[side] for pair in pairs]) for side in (1, 1))),
    )


def _equal(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where two texts are the same one, but for a question's own."""
    equal = np.equal(rows[:, None], columns[None, :])
    np.fill_diagonal(equal, False)
    return equal


def contrast(vectors: Tensor, batch: Batch) -> Tensor:
    """The loss, given the vectors of all the batch's sequences, kind by kind."""
    import torch

    sizes = [len(sequences) for sequences in batch.sequences.values()]
    query, history, persona, reply, sentence, said = torch.split(vectors, sizes)
    same = torch.from_numpy(batch.same).to(vectors.device)
    owner = torch.from_numpy(batch.owner).to(vectors.device)
    by_query, by_history = query @ reply.T, history @ reply.T
    by_persona = _best(persona @ reply.T, owner, len(query))
    together = (
        WEIGHTS["query"] * by_query + WEIGHTS["history"] * by_history + WEIGHTS["persona"] * by_persona
    )  # fmt: skip
    loss = _cross_entropy(by_query, same) + _cross_entropy(together, same) + HISTORY * _cross_entropy(by_history, same)
    size = len(query)
    loss = loss + BACKWARDS * _cross_entropy(by_query[:, :size].T, same[:, :size].T)
    if len(sentence):
        loss = loss + PAIRED * _cross_entropy(sentence @ said.T, torch.from_numpy(batch.paired).to(vectors.device))
    return loss


def _best(likeness: Tensor, owner: Tensor, rows: int) -> Tensor:
    """1 + (1 / b) ln of the sum over a question's sentences of exp(b (likeness - 1)); 0 where it has none."""
    import torch

    total = likeness.new_zeros(rows, likeness.shape[1])
    total = total.index_add(0, owner, torch.exp(SHARPNESS * (likeness - 1)))
    best = 1 + torch.log(total.clamp(min=1e-30)) / SHARPNESS
    return torch.where(total > 0, best, torch.zeros_like(best))


def _cross_entropy(scores: Tensor, same: Tensor) -> Tensor:
    import torch
    from torch.nn import functional

    logits = (SCALE * scores.float()).masked_fill(same, -1e4)
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))
