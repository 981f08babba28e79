"""Trainer of the cross-encoder: a correction that is added to an encoder's score.

    loss = CE over the true reply and negatives of own(c) + exp(s) tower(c)

own(c) is the score of the cross-encoder, tower(c) that of an encoder that was not trained on the
question's dialogue; s is learnt too. Negatives are drawn at random: of each draw those that the tower ranks highest,
and some as they come. Training starts from the mean of the towers' weights; the towers start from the base, which is
post-trained on the dialogues first if asked for (`post_training`).
"""

from __future__ import annotations

import math
import os
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.cross_encoder import NAME, CrossEncoder
from understudy.errors import InputError
from understudy.language.encoding.encoder import read_encoder_card, shipped_model
from understudy.language.model_folder import ModelFolder, write_card
from understudy.training.bert import PackedSequences, Parameters, means, pack, paired, states, unit_vectors
from understudy.training.corpus import WEIGHTS, Mixing, Sequences, Shown, TokenizedDialogues, best_likeness
from understudy.training.dialogues import ALL_PARTS, DialogueSplit, parse_given
from understudy.training.encoder import EncoderSettings, load_corpus, mean_of, synonyms_of, train_towers
from understudy.training.evaluation import hits_at_1, ranking_figures
from understudy.training.export import peaks_of, write_cross_encoder
from understudy.training.loop import Loss, Optimization, Progress
from understudy.training.post_training import PostTrainingSettings, post_train
from understudy.training.pretrained import Base, Shape, Weights, load_base
from understudy.training.run import TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor, device


SCALE = 25.0  # what a tower's score counts at the start
SAMPLE = 48  # questions over which activations are looked at before they are quantised
JUDGED, COMPARED = 200, 100  # held-back questions of the figures; and those that 8 bits must hold on
HOLDS = 0.01  # of hits@1 that 8 bits may cost


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """What decides a training besides its data, base, encoder and seed.

    Of `drawn` random replies the `hardest` and some `others` are the negatives of the true one. `longest` is how many
    tokens of a context are read. `weight` is the encoder's share of the score: more than in training, since much of
    what is learnt holds for the training dialogues alone (chosen on held-back ones; half of it or half as much again
    make no difference). `given` is what of HPD's sessions is shown, where the data are these.
    """

    epochs: int = 9
    batch: int = 64
    rate: float = 1e-4
    drawn: int = 60
    hardest: int = 10
    others: int = 4
    dropout: float = 0.1
    longest: int = 224
    weight: float = 72.0
    held_back: float = 0.05
    given: str = ALL_PARTS
    mixing: Mixing = field(default_factory=lambda: Mixing(0.2, 0.8, 0.0, 0.0, 0.15, 0.02))
    towers: EncoderSettings = field(default_factory=lambda: EncoderSettings(runs=1))
    post_training: PostTrainingSettings = field(default_factory=PostTrainingSettings)

    def __post_init__(self) -> None:
        check_positive(self, "epochs", "batch", "rate", "drawn", "longest")
        check_shares(self, "held_back", "dropout")
        parse_given(self.given)
        if not 0 <= self.weight < math.inf:
            raise InputError(f"weight is at least 0, not {self.weight}")
        if not 0 < self.hardest + self.others <= self.drawn:
            raise InputError("hardest and others are together above 0, and no more than are drawn")

    @property
    def optimization(self) -> Optimization:
        return Optimization.of_transformer(self, untrained_prefixes=(HEAD, "scale"))


def train(task: TrainingTask[Path, CrossEncoderSettings], progress: Progress) -> ModelFolder:
    """Train from `task.base` a cross-encoder that stands beside the encoder `task.origin`, the shipped one if none."""
    run = TrainingRun(task, progress)
    base, settings, encoder = load_base(task.base_folder), task.settings, task.origin or shipped_model()
    read_encoder_card(encoder)  # raises now, not at the end, where the folder cannot be used
    split, corpus, source = load_corpus(task, base, settings.held_back, settings.given)
    plan = {
        "agent": NAME,
        "base": {"folder": base.folder.name, "sha256": base.sha256},
        "trained_on": task.personas,
        "data": source,
    }
    run.begin(plan)
    base = post_train(base, corpus, settings.post_training, run)
    corpus.synonyms = synonyms_of(corpus, base, run.device)
    parts = unseen(folds_of(corpus))
    towers = train_towers(corpus, parts, base, settings.towers, run)
    make = Sequences(replace(base.form, longest={**base.form.longest, "query": settings.longest}))
    start = mean_of(towers)
    size = len(corpus.examples)
    start |= {**head_start(base.shape, task.seed), "scale": np.array(np.log(SCALE), np.float32)}
    seen = Towers(towers, corpus, base, run.device)
    loss = _residual_loss(seen, corpus, base, make, settings, task.seed, run.device)
    learnt = run.fit(start, loss, size, settings.optimization)
    card = run.card(
        data={**source, "dialogues": len(split.training), "questions": size, "pairs": len(corpus.pairs)},
        weight=settings.weight,
        reads_setting="given" in source and "scene" in parse_given(settings.given),
    )
    with run.output() as folder:
        card = _write(folder, learnt, base, encoder, card, make, corpus, split, task.seed)
        card["figures"] = ranking_figures(_opened(folder), split, task.seed, ("none", "self"), JUDGED)
        if "given" in source and card["figures"]:
            card["figures"]["of"] = "held-back sessions, candidates drawn at random"
        write_card(folder, card)
    return ModelFolder(card, {}, task.out)


def _residual_loss(
    towers: Towers,
    corpus: TokenizedDialogues,
    base: Base,
    make: Sequences,
    settings: CrossEncoderSettings,
    seed: int,
    on: device,
) -> Loss:
    import torch
    from torch.nn.functional import cross_entropy

    def loss(parameters: Mapping[str, Tensor], numbers: NDArray[np.int64], step: int) -> Tensor:
        rng = random.Random(f"{seed} {step}")  # noqa: S311 - not for secrets
        examples = [corpus.examples[number] for number in numbers]
        shown = [corpus.shown(example, settings.mixing, rng) for example in examples]
        candidates = np.array([[example.reply, *rng.choices(corpus.pool, k=settings.drawn)] for example in examples])
        tower_scores = towers.scores(numbers, shown, candidates)
        same = torch.from_numpy(candidates == candidates[:, :1]).to(on)
        same[:, 0] = False  # the true reply may have been drawn once more
        ranked = tower_scores.masked_fill(same, -10.0)[:, 1:].topk(settings.hardest, dim=1).indices + 1
        first = torch.zeros(len(examples), 1, dtype=torch.long, device=on)
        random_others = torch.arange(1, 1 + settings.others, device=on).expand(len(examples), -1)
        chosen = torch.cat([first, ranked, random_others], dim=1)
        twice = torch.zeros_like(chosen, dtype=torch.bool)
        twice[:, 1 + settings.hardest :] = (random_others[:, :, None] == ranked[:, None]).any(dim=-1)
        replies = np.take_along_axis(candidates, chosen.cpu().numpy(), axis=1)
        contexts = [context for example in shown for context in [make.context(example)] * replies.shape[1]]
        said_ids = [make.text(corpus.tokens[reply], "reply") for reply in replies.ravel().tolist()]
        own = scores(parameters, paired(contexts, said_ids, on), base.shape, settings.dropout).view(chosen.shape)
        total = own + parameters["scale"].exp() * tower_scores.gather(1, chosen)
        return cross_entropy(total.masked_fill(same.gather(1, chosen) | twice, -1e4), first[:, 0])

    return loss


def _write(
    folder: Path,
    weights: Mapping[str, NDArray[np.float32]],
    base: Base,
    encoder: Path,
    card: Mapping[str, Any],
    make: Sequences,
    corpus: TokenizedDialogues,
    split: DialogueSplit,
    seed: int,
) -> dict[str, Any]:
    """Fill the folder, in 8 bits where that chooses as well."""
    peaks = peaks_of(weights, base, _sample(corpus, make, seed))
    full_card = write_cross_encoder(folder, weights, base, encoder, card, make.form.longest, peaks)
    small = hits_at_1(_opened(folder), split, seed, COMPARED)
    with tempfile.TemporaryDirectory() as temporary:
        whole = Path(temporary)
        write_cross_encoder(whole, weights, base, encoder, card, make.form.longest, peaks, bits=32)
        full = hits_at_1(_opened(whole), split, seed, COMPARED)
    if full - small > HOLDS:
        full_card = write_cross_encoder(folder, weights, base, encoder, card, make.form.longest, peaks, bits=32)
    return full_card


def _opened(folder: Path) -> CrossEncoder:
    return CrossEncoder(folder, cache=False, threads=os.cpu_count() or 1)


def _sample(corpus: TokenizedDialogues, make: Sequences, seed: int) -> PackedSequences:
    """Contexts and replies, to see how large activations get."""
    import torch

    rng = random.Random(seed)  # noqa: S311 - not for secrets
    examples = rng.sample(corpus.examples, min(SAMPLE, len(corpus.examples)))
    shown = [corpus.shown(example, Mixing(0, 1, 0, 0, 0, 0), rng) for example in examples]
    replies = [*(example.reply for example in examples), *rng.choices(corpus.pool, k=len(examples))]
    said = [make.text(corpus.tokens[reply], "reply") for reply in replies]
    return paired([make.context(example) for example in shown] * 2, said, torch.device("cpu"))


# The two scores of a cross-encoder's training: its own, and that of an encoder tower that has not seen the question.
#
#     f(c)   = [u(first); u(reply); u(reply) u(context)]  states: the first; it and the reply's, summed; the context's
#     own(c) = W2 gelu(W1 f(c) + b1) + b2                 u(x) is x at the length of the root of its width; W2 begins 0
#
# An encoder scores the dialogues it was trained on too confidently, so a cross-encoder trained beside it on those would
# learn too little. The training dialogues are dealt into three folds, a tower is trained on each two of them, and every
# question is put to the tower that has not seen its dialogue (cross-fitting).

HEAD = "head"

Ids = list[int]

FOLDS = 3
BATCH = 2_048  # replies encoded at once


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
        owner = torch.from_numpy(np.repeat(np.arange(size), [len(example.own) for example in shown])).to(self._on)
        near = torch.einsum("pw,pkw->pk", vectors[2 * size :], replies[owner])
        return total + WEIGHTS["persona"] * best_likeness(near, owner, size)

    def _vectors(self, tower: Any, sequences: Sequence[list[int]]) -> Tensor:
        import torch

        with torch.no_grad():
            return unit_vectors(tower, pack(sequences, self._on), self._shape)
