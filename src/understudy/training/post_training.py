"""Post-training of a BERT on dialogues before it is fine-tuned, as BERT-FP does (Han et al. 2021).

    input   k turns, then a second text
    kinds   2  the second text is the next turn      1  another turn of the same dialogue      0  a random one
    loss  = CE of the masked words + CE of the kind, which is read off the first token

Every turn of every dialogue ends a short context of k = 3 turns, so that the model learns how utterances follow each
other, not only which reply suits a long context. The kind is drawn anew each time, each with the same chance, and so
are the masked words: 15%, nine of ten by the mask token.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.training.bert import PackedSequences, Parameters, paired, precision, states
from understudy.training.corpus import EncodedExample, Sequences, Shown, TokenizedDialogues
from understudy.training.loop import Loss, Optimization
from understudy.training.pretrained import WORDS, Base, Shape
from understudy.training.run import TrainingRun, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor, device


KIND_HEAD, WORD_HEAD = "kinds", "guess"
KINDS = ("random", "same dialogue", "next")
MASKED, UNCHANGED = 0.15, 0.1  # of all words; of these, left as they are


@dataclass(frozen=True, slots=True)
class PostTrainingSettings:
    """`turns` is k; the rate is the one with which HPD's authors trained BERT-FP. No epochs, no post-training."""

    epochs: int = 0
    batch: int = 64
    rate: float = 8e-6
    turns: int = 3
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.epochs < 0:
            raise InputError(f"epochs must be at least 0, not {self.epochs}")
        check_positive(self, "batch", "rate", "turns")
        check_shares(self, "dropout")

    @property
    def optimization(self) -> Optimization:
        return Optimization.of_transformer(self, untrained_prefixes=(KIND_HEAD, WORD_HEAD))


def post_train(
    base: Base,
    corpus: TokenizedDialogues,
    settings: PostTrainingSettings,
    run: TrainingRun,
) -> Base:
    """The base with weights that have learnt the dialogues; what only post-training needs is left behind."""
    if not settings.epochs:
        return base
    start = {**base.tensors, **heads_at_start(base.shape, run.task.seed)}
    loss = _loss(corpus, base, settings, run.task.seed, run.device)
    part = run.checkpoint.part("post-training")
    learnt = run.fit(start, loss, len(corpus.examples), settings.optimization, checkpoint=part)
    return replace(base, tensors={name: learnt[name] for name in base.tensors})


def heads_at_start(shape: Shape, seed: int) -> dict[str, NDArray[np.float32]]:
    """The layers that tell masked words and kinds."""
    rng, width = np.random.default_rng(seed), shape.width
    return {
        f"{WORD_HEAD}.weight": np.eye(width, dtype=np.float32),
        f"{WORD_HEAD}.bias": np.zeros(shape.words, np.float32),
        f"{KIND_HEAD}.weight": rng.normal(0, 0.02, (len(KINDS), width)).astype(np.float32),
        f"{KIND_HEAD}.bias": np.zeros(len(KINDS), np.float32),
    }


def second_text(corpus: TokenizedDialogues, example: EncodedExample, kind: int, rng: random.Random) -> int:
    """The text of a kind; of a dialogue without another turn, a random one."""
    if KINDS[kind] == "next":
        return example.reply
    others = [text for text in example.around if text != example.reply]
    return rng.choice(others if KINDS[kind] == "same dialogue" and others else corpus.pool)


def _loss(corpus: TokenizedDialogues, base: Base, settings: PostTrainingSettings, seed: int, on: device) -> Loss:
    make = Sequences(base.form)

    def loss(parameters: Mapping[str, Tensor], numbers: NDArray[np.int64], step: int) -> Tensor:
        rng = random.Random(f"{seed} {step} post-training")  # noqa: S311 - not for secrets
        examples = [corpus.examples[number] for number in numbers]
        kinds = [rng.randrange(len(KINDS)) for _ in examples]
        contexts = [
            make.context(
                Shown([], [], [(mine, corpus.tokens[text]) for mine, text in example.turns[-settings.turns :]])
            )
            for example in examples
        ]
        seconds = [second_text(corpus, example, kind, rng) for kind, example in zip(kinds, examples)]
        stream = paired(contexts, [make.text(corpus.tokens[text], "reply") for text in seconds], on)
        return masking_loss(parameters, stream, kinds, base, settings.dropout)

    return loss


def masking_loss(
    parameters: Parameters, stream: PackedSequences, kinds: Sequence[int], base: Base, dropout: float
) -> Tensor:
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
        guess = linear(state[chosen], parameters[f"{WORD_HEAD}.weight"])
        word_logits = linear(guess, parameters[WORDS], parameters[f"{WORD_HEAD}.bias"])
    words = cross_entropy(word_logits.float(), stream.ids[chosen], reduction="sum") / max(len(word_logits), 1)
    return words + cross_entropy(relevance_logits(parameters, state, stream), torch.tensor(kinds, device=on))


def relevance_logits(parameters: Parameters, state: Tensor, stream: PackedSequences) -> Tensor:
    """Those of the three kinds, from the states of the first tokens."""
    from torch.nn.functional import linear

    return linear(state[stream.firsts], parameters[f"{KIND_HEAD}.weight"], parameters[f"{KIND_HEAD}.bias"])
