"""Training the encoder: one tower that finds the true reply among those of a whole batch.

`contrast` says what it learns, `corpus` what it is shown. Settings are those that proved best on held-back dialogues
(docs/ranking.md has what each was worth).
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.encoding.encoder import load_tokenizer
from understudy.errors import InputError
from understudy.model_folder import ModelFolder, atomic_folder, write_card
from understudy.training.base import Base, read_base
from understudy.training.bert import Stream, stream_of, unit_vectors
from understudy.training.checkpoint import Checkpoint, place_of
from understudy.training.contrast import batch_of, contrast
from understudy.training.corpus import PAIRS, Corpus, Mixing, Sequences, read_pairs
from understudy.training.course import Task, about, prepared
from understudy.training.data import Split, dialogues_of, held_back, sha256_of, some_contexts, training_file
from understudy.training.export import peaks_of, write_background, write_encoder
from understudy.training.figures import encoder_figures
from understudy.training.loop import Descent, Loss, Progress, device_named, fit

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["EncoderSettings", "corpus_of", "mean_of", "synonyms_of", "train", "train_towers"]

ALIKE, LIKENESS = 6, 0.5  # synonyms of a word at most, and how like it they must be
Numbers = Mapping[str, NDArray[np.float32]]
SAMPLE = 48  # questions over which activations are looked at before they are quantised


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What decides a training besides its data, base and seed; the model is the mean of so many `runs`."""

    runs: int = 3
    epochs: int = 12
    batch: int = 512
    rate: float = 1e-4
    dropout: float = 0.1
    held_back: float = 0.05
    mixing: Mixing = field(default_factory=Mixing)

    def __post_init__(self) -> None:
        for name in ("runs", "epochs", "batch", "rate"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("held_back", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} is a share from 0 to below 1, not {getattr(self, name)}")

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.batch, self.rate, (0.9, 0.98), warmup=0.1, decay=0.01, longest=1.0)


def train(task: Task[EncoderSettings], progress: Progress) -> ModelFolder:
    """Train a tower from `task.base`, and write a folder that the agent `encoder` opens."""
    prepared(task)
    on = device_named(task.device)
    begun = time.perf_counter()
    base, settings = read_base(task.base), task.settings
    split, corpus, source = corpus_of(task, base, settings.held_back)
    plan = {
        "agent": "encoder",
        "base": {"folder": base.folder.name, "sha256": base.sha256},
        "trained_on": task.personas,
        "data": source,
        "settings": asdict(settings),
        "seed": task.seed,
    }
    checkpoint = Checkpoint(place_of(task.out), plan)  # not bound to a device: it may be finished on another machine
    if task.fresh:
        checkpoint.clear()
    if settings.mixing.synonym:
        corpus.synonyms = synonyms_of(corpus, base, on)
    size = len(corpus.examples)
    everything = [np.arange(size)] * settings.runs
    learnt = mean_of(train_towers(corpus, everything, base, settings, task.seed, on, checkpoint, progress, task.every))
    data = {**source, "dialogues": len(split.training), "questions": size, "pairs": len(corpus.pairs)}
    card = {**plan, "data": data, "device": on.type, **about(time.perf_counter() - begun)}
    with atomic_folder(task.out) as folder:
        peaks = peaks_of(learnt, base, _sample(corpus, base, task.seed))
        write_encoder(folder, learnt, base, card, peaks)
        card = write_background(folder, corpus.rarity(base.shape.words), some_contexts(split.training, task.seed))
        card["figures"] = encoder_figures(folder, split)
        write_card(folder, card)
    checkpoint.clear()
    return ModelFolder(card, {}, task.out)


def train_towers(
    corpus: Corpus,
    parts: Sequence[NDArray[np.int64]],
    base: Base,
    settings: EncoderSettings,
    seed: int,
    on: device,
    checkpoint: Checkpoint,
    progress: Progress,
    every: int,
) -> list[Numbers]:
    """A tower for each part of the examples, all from the same base."""
    found, size, made = list[Numbers](), settings.descent.steps, 0
    total = sum(size(len(part)) for part in parts)
    for number, part in enumerate(parts):

        def told(done: int, _total: int, value: float, before: int = made) -> None:
            progress(before + done, total, value)

        loss = _tower_loss(corpus.shown_only(part.tolist()), part, base, settings, seed + number, on)
        own = Checkpoint(checkpoint.folder / f"tower-{number}", checkpoint.plan)
        found.append(fit(base.tensors, loss, len(part), settings.descent, seed + number, on, own, told, every))
        made += size(len(part))
    return found


def mean_of(towers: Sequence[Numbers]) -> dict[str, NDArray[np.float32]]:
    """The mean of several towers' weights, which is a tower too as long as they began as one."""
    return {name: np.mean([tower[name] for tower in towers], axis=0, dtype=np.float32) for name in towers[0]}


def _tower_loss(
    corpus: Corpus, among: NDArray[np.int64], base: Base, settings: EncoderSettings, seed: int, on: device
) -> Loss:
    """The loss of a tower that is shown these examples."""
    make = Sequences(base.form)

    def loss(parameters: Mapping[str, Tensor], numbers: NDArray[np.int64], step: int) -> Tensor:
        chance = random.Random(f"{seed} {step}")  # noqa: S311 - not for secrets
        batch = batch_of(corpus, among[numbers].tolist(), make, settings.mixing, chance)
        stream = stream_of([ids for kind in batch.sequences.values() for ids in kind], on)
        return contrast(unit_vectors(parameters, stream, base.shape, settings.dropout), batch)

    return loss


def corpus_of(task: Task[Any], base: Base, share: float) -> tuple[Split, Corpus, dict[str, Any]]:
    """The dialogues, with some people held back; as token sequences; and which files they are of."""
    path = training_file(task.data, task.personas, "self")
    split = held_back(dialogues_of(path), share, task.seed)
    pairs = read_pairs(task.data)
    corpus = Corpus(split, pairs, load_tokenizer(base.tokenizer))
    if len(corpus.examples) < 2:
        raise InputError("has too little to learn from: give more dialogues", path)
    source = {"file": path.name, "sha256": sha256_of(path)}
    return split, corpus, source | ({"pairs_sha256": sha256_of(task.data / PAIRS)} if pairs else {})


def synonyms_of(corpus: Corpus, base: Base, on: device) -> dict[int, list[int]]:
    """Words that lie near each other for the base itself."""
    import torch

    words, form = corpus.words(), base.form
    if not words:
        return {}
    parameters = {name: torch.from_numpy(tensor).to(on) for name, tensor in base.tensors.items()}
    found: dict[int, list[int]] = {}
    with torch.no_grad():
        stream = stream_of([[form.first, word, form.last] for word in words], on)
        vectors = unit_vectors(parameters, stream, base.shape)
        near = (vectors @ vectors.T).fill_diagonal_(0).topk(min(ALIKE, len(words)))
    for word, values, places in zip(words, near.values.tolist(), near.indices.tolist()):
        others = [words[place] for value, place in zip(values, places) if value > LIKENESS]
        if others:
            found[word] = others
    return found


def _sample(corpus: Corpus, base: Base, seed: int) -> Stream:
    """Sequences of every kind, to see how large activations get."""
    import torch

    chance = random.Random(seed)  # noqa: S311 - not for secrets
    numbers = chance.sample(range(len(corpus.examples)), min(SAMPLE, len(corpus.examples)))
    batch = batch_of(corpus, numbers, Sequences(base.form), Mixing(none=0, own=1, both=0, theirs=0), chance)
    return stream_of([ids for kind in batch.sequences.values() for ids in kind], torch.device("cpu"))
