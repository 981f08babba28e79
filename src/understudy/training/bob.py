"""Trainer of BERT over BERT: both decoders start from a BERT's weights, their cross-attention from random numbers.

Every step takes a batch of replies and, where there are pairs of sentences, half as many that are entailed and half
as many that are contradicted, drawn from seed and step; `bob_examples` has the loss. The epoch after which the
consistency decoder finds held-back replies most probable is kept, and training stops when that has not improved for a
while.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.bob import INPUTS, NAME, PER, DialogueSequencer, write_bob
from understudy.agents.bob_network import (
    CONSISTENCY,
    DECODERS,
    ENCODER,
    HEAD,
    BertOverBert,
    cross_attention_tensors,
    head_tensors,
)
from understudy.errors import InputError
from understudy.language.model_folder import ModelFolder
from understudy.training.bert import precision
from understudy.training.bob_examples import (
    NliPairs,
    PairSequences,
    ReplySequences,
    read_nli,
    read_replies,
    reply_losses,
    total_loss,
)
from understudy.training.loop import Loss, Optimization, Progress
from understudy.training.pretrained import WEIGHTS_FILE, Base, load_base, read_bert_tensors
from understudy.training.run import EarlyStopping, TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor, device


HELD_REPLIES = 1000  # at most so many are asked for after each epoch
EVERY = 400  # steps between checkpoints, which hold four transformers three times
SPREAD = 0.02  # of new weights at the start
MASKED_LM_HEAD = {
    "transform.weight": "cls.predictions.transform.dense.weight",
    "transform.bias": "cls.predictions.transform.dense.bias",
    "transform.LayerNorm.weight": "cls.predictions.transform.LayerNorm.weight",
    "transform.LayerNorm.bias": "cls.predictions.transform.LayerNorm.bias",
    "bias": "cls.predictions.bias",
}
"""Where a BERT has its own prediction head, the decoders start from it."""


@dataclass(frozen=True, slots=True)
class BobSettings:
    """What decides a training besides its data, base and seed.

    `input` is what is read: 'ori' what was said, 'per' the persona too. `alpha` and `beta` weigh the loss; between
    NLL2, UL+ and UL- their proportions are those of the published code (1 : 0.6 : 0.4).
    Nothing here has been tuned.
    """

    input: str = PER
    epochs: int = 10
    batch: int = 64
    rate: float = 2e-4
    dropout: float = 0.1
    alpha: float = 1.0
    beta: float = 0.6
    patience: int = 2
    held_back: float = 0.05

    def __post_init__(self) -> None:
        if self.input not in INPUTS:
            raise InputError(f"there is no input '{self.input}': choose from {', '.join(INPUTS)}")
        check_positive(self, "epochs", "batch", "rate", "patience")
        check_shares(self, "held_back", "dropout")
        if not 0 <= self.alpha < math.inf or not 0 <= self.beta <= 1:
            raise InputError(f"alpha is at least 0 and beta a share, not {self.alpha} and {self.beta}")

    @property
    def optimization(self) -> Optimization:
        return Optimization.of_transformer(self, untrained_prefixes=("cross.", HEAD))


def train(task: TrainingTask[Path, BobSettings], progress: Progress) -> ModelFolder:
    """Train on the replies of `task.data` and the pairs of `task.pairs`, from `task.base`."""
    run = TrainingRun(task, progress)
    settings, base, on = task.settings, load_base(task.base_folder), run.device
    split = read_replies(task.data, task.personas, task.condition, settings.held_back, task.seed)
    pairs = read_nli(task.pairs)
    plan: dict[str, Any] = {
        "agent": NAME,
        "trained_on": task.personas,
        "condition": task.condition,
        "input": settings.input,
        "base": {"folder": base.folder.name, "sha256": base.sha256},
        "data": split.files,
        "pairs": pairs.files,
    }
    run.begin(plan)
    shape = base.shape
    sequencer = DialogueSequencer(base.form, base.tokenizer, shape.words, settings.input)
    network = BertOverBert({}, shape.layers, shape.heads, shape.epsilon)
    drawn = np.random.default_rng(task.seed).permutation(len(split.held_out))[:HELD_REPLIES]
    held_out = ReplySequences([split.held_out[index] for index in drawn.tolist()], sequencer)
    best = run.early_stopping(
        lambda parameters: held_back_losses(network, held_out, parameters, on)[CONSISTENCY], settings.patience
    )
    loss = _loss(network, ReplySequences(split.training, sequencer), pairs, sequencer, settings, task.seed, on)
    learnt = run.fit(
        initial_weights(base, task.seed), loss, len(split.training), settings.optimization,
        every=EVERY, best=best if len(held_out) else None,
    )  # fmt: skip
    card = run.card(
        data={"files": split.files, "dialogues": split.dialogues, "replies": len(split.training)},
        pairs={"files": pairs.files, "entailed": len(pairs.entailed), "contradicted": len(pairs.contradicted)},
        **network_card(base),
        figures=held_back_figures(network, held_out, best, on),
    )
    model = write_bob(task.out, card, learnt, base.tokenizer)
    run.checkpoint.clear()
    return model


def network_card(base: Base) -> dict[str, Any]:
    """What a card says of the network and its special tokens."""
    shape, form = base.shape, base.form
    return {
        "network": {"layers": shape.layers, "heads": shape.heads, "epsilon": shape.epsilon, "words": shape.words},
        "sequences": {"first": form.first, "last": form.last, "markers": dict(form.markers)},
    }


def initial_weights(base: Base, seed: int) -> dict[str, NDArray[np.float32]]:
    """Three copies of the base; cross-attention, and a head that the base does not have, from random numbers."""
    rng = np.random.default_rng(seed)
    start = {f"{bert}.{name}": tensor for bert in (ENCODER, *DECODERS) for name, tensor in base.tensors.items()}
    width = base.shape.width
    for name, size in (
        cross_attention_tensors(base.shape.layers, width) | head_tensors(width, base.shape.words)
    ).items():
        if name.endswith("LayerNorm.weight"):
            start[name] = np.ones(size, np.float32)
        elif name.endswith("bias"):
            start[name] = np.zeros(size, np.float32)
        else:
            start[name] = rng.normal(0, SPREAD, size).astype(np.float32)
    pretrained = read_bert_tensors(base.folder / WEIGHTS_FILE)
    if all(name in pretrained for name in MASKED_LM_HEAD.values()):
        for decoder in DECODERS:
            for name, origin in MASKED_LM_HEAD.items():
                start[f"{HEAD}.{decoder}.{name}"] = pretrained[origin].astype(np.float32)
    return start


def _loss(
    network: BertOverBert,
    replies: ReplySequences,
    pairs: NliPairs,
    sequencer: DialogueSequencer,
    settings: BobSettings,
    seed: int,
    on: device,
) -> Loss:
    pair_sequences = PairSequences(pairs, sequencer)

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        rng = np.random.default_rng((seed, step))
        size = max(len(batch) // 2, 1)
        drawn = pair_sequences.draw(size, rng, on)
        step_network = network.with_parameters(parameters, settings.dropout)
        with precision(on):
            return total_loss(step_network, replies.batch(batch.tolist(), on), drawn, settings.alpha, settings.beta)

    return loss


# How probable held-back replies are to BERT over BERT, by each of its decoders.
#
# loss       = - mean over the tokens of the replies, their ends among them, of ln p(y_t | y<t, context, persona)
# perplexity = exp(loss * tokens / words)

BATCH = 32


def held_back_losses(
    network: BertOverBert, held_out: ReplySequences, parameters: Mapping[str, Tensor], on: device
) -> dict[str, float]:
    """The loss of each decoder."""
    import torch

    network = network.with_parameters(parameters, dropout=0.0)
    totals = np.zeros(len(DECODERS))
    with torch.no_grad(), precision(on):
        for start in range(0, len(held_out), BATCH):
            batch = held_out.batch(range(start, min(start + BATCH, len(held_out))), on)
            tokens = sum(length - 1 for length in batch.replies.lengths)
            totals += [tokens * float(loss) for loss in reply_losses(network, batch)]
    return dict(zip(DECODERS, (totals / held_out.tokens).tolist()))


def held_back_figures(
    network: BertOverBert, held_out: ReplySequences, best: EarlyStopping, on: device
) -> dict[str, Any]:
    """Perplexities after the best epoch, and the losses it was chosen by; empty where no replies were held back."""
    import torch

    if not best.losses:
        return {}
    parameters = {name: torch.from_numpy(np.array(tensor)).to(on) for name, tensor in best.parameters.items()}
    losses = held_back_losses(network, held_out, parameters, on)
    tokens, words = held_out.tokens, held_out.words
    return {
        "of": "replies held back",
        "replies": len(held_out),
        "perplexity": {name: round(math.exp(loss * tokens / words), 3) for name, loss in losses.items()},
        "perplexity_per_token": {name: round(math.exp(loss), 3) for name, loss in losses.items()},
        "epochs": best.best_epoch,
        "losses": [round(loss, 4) for loss in best.losses],
    }
