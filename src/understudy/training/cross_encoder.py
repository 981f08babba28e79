"""Training the cross-encoder: what to add to an encoder's score.

    loss = CE over the true reply and others of own(c) + exp(s) tower(c)

`pairs` has own(c); tower(c) comes from a tower that never saw the question's dialogue (see `folds`), and s is learnt
with the rest. The others are drawn at random: of each draw those that the tower likes best, and some as they come. It
begins with the mean of the towers' weights, and may be taught the domain first.
"""

from __future__ import annotations

import math
import os
import random
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.cross_encoder import NAME, CrossEncoder
from understudy.encoding import shipped_model
from understudy.encoding.encoder import read_encoder_card
from understudy.errors import InputError
from understudy.model_folder import ModelFolder, atomic_folder, write_card
from understudy.training.base import Base, read_base
from understudy.training.bert import Stream
from understudy.training.checkpoint import Checkpoint, place_of
from understudy.training.corpus import Corpus, Mixing, Sequences
from understudy.training.course import Task, about, prepared
from understudy.training.data import Split
from understudy.training.encoder import EncoderSettings, corpus_of, mean_of, synonyms_of, train_towers
from understudy.training.export import peaks_of, write_cross_encoder
from understudy.training.figures import figures_of, hits
from understudy.training.folds import Towers, folds_of, unseen
from understudy.training.loop import Descent, Loss, Progress, device_named, fit
from understudy.training.pairs import DOMAIN, HEAD, domain_loss, domain_start, head_start, paired, scores

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["CrossEncoderSettings", "train"]

SCALE = 25.0  # what a tower's score counts at the start
SAMPLE = 48  # questions over which activations are looked at before they are quantised
JUDGED, COMPARED = 200, 100  # held-back questions of the figures; and those that 8 bits must hold on
HOLDS = 0.01  # of hits@1 that 8 bits may cost


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """What decides a training besides its data, base, encoder and seed.

    Of `drawn` random replies the `hardest` and some `others` are told from the true one. `longest` is how many tokens
    of a context are read. `weight` is how much the encoder counts beside what was learnt: more than while learning,
    since much of what is learnt holds for the training dialogues alone (chosen on held-back ones; half of it or half
    as much again make no difference).
    """

    epochs: int = 9
    batch: int = 64
    rate: float = 1e-4
    drawn: int = 60
    hardest: int = 10
    others: int = 4
    dropout: float = 0.1
    longest: int = 224
    domain_epochs: int = 0
    weight: float = 72.0
    held_back: float = 0.05
    mixing: Mixing = field(default_factory=lambda: Mixing(0.2, 0.8, 0.0, 0.0, 0.15, 0.02))
    towers: EncoderSettings = field(default_factory=lambda: EncoderSettings(runs=1))

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "rate", "drawn", "longest"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("held_back", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} is a share from 0 to below 1, not {getattr(self, name)}")
        if not 0 <= self.weight < math.inf:
            raise InputError(f"weight is at least 0, not {self.weight}")
        if not 0 < self.hardest + self.others <= self.drawn:
            raise InputError("hardest and others are together above 0, and no more than are drawn")

    def descent(self, epochs: int, new: tuple[str, ...]) -> Descent:
        return Descent(epochs, self.batch, self.rate, (0.9, 0.98), warmup=0.06, decay=0.01, longest=1.0, new=new)


def train(task: Task[CrossEncoderSettings], progress: Progress) -> ModelFolder:
    """Train from `task.base` a cross-encoder that stands beside the encoder `task.origin`, the shipped one if none."""
    prepared(task)
    on = device_named(task.device)
    begun = time.perf_counter()
    base, settings, encoder = read_base(task.base), task.settings, task.origin or shipped_model()
    read_encoder_card(encoder)  # a folder that cannot be used is told of now, not at the end
    split, corpus, source = corpus_of(task, base, settings.held_back)
    plan = {
        "agent": NAME,
        "base": {"folder": base.folder.name, "sha256": base.sha256},
        "trained_on": task.personas,
        "data": source,
        "settings": asdict(settings),
        "seed": task.seed,
    }
    checkpoint = Checkpoint(place_of(task.out), plan)  # not bound to a device: it may be finished on another machine
    if task.fresh:
        checkpoint.clear()
    corpus.synonyms = synonyms_of(corpus, base, on)
    parts = unseen(folds_of(corpus))
    towers = train_towers(corpus, parts, base, settings.towers, task.seed, on, checkpoint, progress, task.every)
    make = Sequences(replace(base.form, longest={**base.form.longest, "query": settings.longest}))
    start = mean_of(towers)
    size = len(corpus.examples)
    if settings.domain_epochs:
        first = Checkpoint(checkpoint.folder / "domain", plan)
        taught = {**start, **domain_start(base.shape, task.seed)}
        loss = _domain(corpus, base, make, settings, task.seed, on)
        descent = settings.descent(settings.domain_epochs, DOMAIN)
        learnt = fit(taught, loss, size, descent, task.seed, on, first, progress, task.every)
        start = {name: learnt[name] for name in start}
    start |= {**head_start(base.shape, task.seed), "scale": np.array(np.log(SCALE), np.float32)}
    loss = _beside(Towers(towers, corpus, base, on), corpus, base, make, settings, task.seed, on)
    descent = settings.descent(settings.epochs, (HEAD, "scale"))
    learnt = fit(start, loss, size, descent, task.seed, on, checkpoint, progress, task.every)
    card = {
        **plan,
        "data": {**source, "dialogues": len(split.training), "questions": size, "pairs": len(corpus.pairs)},
        "device": on.type,
        "weight": settings.weight,
        **about(time.perf_counter() - begun),
    }
    with atomic_folder(task.out) as folder:
        card = _written(folder, learnt, base, encoder, card, make, corpus, split, task.seed)
        card["figures"] = figures_of(_opened(folder), split, task.seed, ("none", "self"), JUDGED)
        write_card(folder, card)
    checkpoint.clear()
    return ModelFolder(card, {}, task.out)


def _beside(
    towers: Towers, corpus: Corpus, base: Base, make: Sequences, settings: CrossEncoderSettings, seed: int, on: device
) -> Loss:
    import torch
    from torch.nn.functional import cross_entropy

    def loss(parameters: Mapping[str, Tensor], numbers: NDArray[np.int64], step: int) -> Tensor:
        chance = random.Random(f"{seed} {step}")  # noqa: S311 - not for secrets
        examples = [corpus.examples[number] for number in numbers]
        shown = [corpus.shown(example, settings.mixing, chance) for example in examples]
        offered = np.array([[one.reply, *chance.choices(corpus.pool, k=settings.drawn)] for one in examples])
        said = towers.scores(numbers, shown, offered)
        same = torch.from_numpy(offered == offered[:, :1]).to(on)
        same[:, 0] = False  # the true reply may have been drawn once more
        ranked = said.masked_fill(same, -10.0)[:, 1:].topk(settings.hardest, dim=1).indices + 1
        first = torch.zeros(len(examples), 1, dtype=torch.long, device=on)
        others = torch.arange(1, 1 + settings.others, device=on).expand(len(examples), -1)
        chosen = torch.cat([first, ranked, others], dim=1)
        twice = torch.zeros_like(chosen, dtype=torch.bool)
        twice[:, 1 + settings.hardest :] = (others[:, :, None] == ranked[:, None]).any(dim=-1)
        replies = np.take_along_axis(offered, chosen.cpu().numpy(), axis=1)
        contexts = [context for one in shown for context in [make.context(one)] * replies.shape[1]]
        said_ids = [make.text(corpus.tokens[reply], "reply") for reply in replies.ravel().tolist()]
        own = scores(parameters, paired(contexts, said_ids, on), base.shape, settings.dropout).view(chosen.shape)
        total = own + parameters["scale"].exp() * said.gather(1, chosen)
        return cross_entropy(total.masked_fill(same.gather(1, chosen) | twice, -1e4), first[:, 0])

    return loss


def _domain(corpus: Corpus, base: Base, make: Sequences, settings: CrossEncoderSettings, seed: int, on: device) -> Loss:
    def loss(parameters: Mapping[str, Tensor], numbers: NDArray[np.int64], step: int) -> Tensor:
        chance = random.Random(f"{seed} {step} domain")  # noqa: S311 - not for secrets
        examples = [corpus.examples[number] for number in numbers]
        contexts = [make.context(corpus.shown(example, settings.mixing, chance)) for example in examples]
        kinds = [chance.randrange(3) for _ in examples]
        replies = [
            (chance.choice(corpus.pool), chance.choice(example.around), example.reply)[kind]
            for kind, example in zip(kinds, examples)
        ]
        stream = paired(contexts, [make.text(corpus.tokens[reply], "reply") for reply in replies], on)
        return domain_loss(parameters, stream, kinds, base, settings.dropout)

    return loss


def _written(
    folder: Path,
    weights: Mapping[str, NDArray[np.float32]],
    base: Base,
    encoder: Path,
    card: Mapping[str, Any],
    make: Sequences,
    corpus: Corpus,
    split: Split,
    seed: int,
) -> dict[str, Any]:
    """Fill the folder, in 8 bits where that chooses as well."""
    peaks = peaks_of(weights, base, _sample(corpus, make, seed))
    told = write_cross_encoder(folder, weights, base, encoder, card, make.form.longest, peaks)
    small = hits(_opened(folder), split, seed, COMPARED)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place)
        write_cross_encoder(whole, weights, base, encoder, card, make.form.longest, peaks, bits=32)
        full = hits(_opened(whole), split, seed, COMPARED)
    if full - small > HOLDS:
        told = write_cross_encoder(folder, weights, base, encoder, card, make.form.longest, peaks, bits=32)
    return told


def _opened(folder: Path) -> CrossEncoder:
    return CrossEncoder(folder, cache=False, threads=os.cpu_count() or 1)


def _sample(corpus: Corpus, make: Sequences, seed: int) -> Stream:
    """Contexts and replies, to see how large activations get."""
    import torch

    chance = random.Random(seed)  # noqa: S311 - not for secrets
    examples = chance.sample(corpus.examples, min(SAMPLE, len(corpus.examples)))
    shown = [corpus.shown(example, Mixing(0, 1, 0, 0, 0, 0), chance) for example in examples]
    replies = [*(example.reply for example in examples), *chance.choices(corpus.pool, k=len(examples))]
    said = [make.text(corpus.tokens[reply], "reply") for reply in replies]
    return paired([make.context(one) for one in shown] * 2, said, torch.device("cpu"))
