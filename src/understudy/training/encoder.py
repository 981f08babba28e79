"""Trainer of the encoder: one transformer (a tower) for contexts and replies, trained contrastively.

`corpus` has the batches and the loss. Defaults are the settings that proved best on held-back dialogues
(docs/notes/ranking.md has what each was worth).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.encoding.encoder import load_tokenizer
from understudy.language.model_folder import ModelFolder, write_card
from understudy.sources.source import sha256_of
from understudy.training.bert import PackedSequences, pack, unit_vectors
from understudy.training.corpus import PAIRS, Mixing, Sequences, TokenizedDialogues, batch_of, contrast, read_pairs
from understudy.training.dialogues import (
    ALL_PARTS,
    DialogueSplit,
    dialogues_of,
    held_back,
    held_back_sessions,
    hpd_dialogues,
    hpd_training_file,
    parse_given,
    some_contexts,
    training_file,
)
from understudy.training.evaluation import encoder_figures
from understudy.training.export import peaks_of, write_background, write_encoder
from understudy.training.loop import Loss, Optimization, Progress
from understudy.training.pretrained import Base, Weights, load_base
from understudy.training.run import TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor, device


ALIKE, LIKENESS = 6, 0.5  # synonyms of a word at most, and how like it they must be
SAMPLE = 48  # questions whose activations calibrate the quantisation


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
        check_positive(self, "runs", "epochs", "batch", "rate")
        check_shares(self, "held_back", "dropout")

    @property
    def optimization(self) -> Optimization:
        return Optimization.of_transformer(self, warmup=0.1)


def train(task: TrainingTask[Path, EncoderSettings], progress: Progress) -> ModelFolder:
    """Train a tower from `task.base`, and write a folder that the agent `encoder` opens."""
    run = TrainingRun(task, progress)
    base, settings = load_base(task.base_folder), task.settings
    split, corpus, source = load_corpus(task, base, settings.held_back)
    plan = {
        "agent": "encoder",
        "base": {"folder": base.folder.name, "sha256": base.sha256},
        "trained_on": task.personas,
        "data": source,
    }
    run.begin(plan)
    if settings.mixing.synonym:
        corpus.synonyms = synonyms_of(corpus, base, run.device)
    size = len(corpus.examples)
    everything = [np.arange(size)] * settings.runs
    learnt = mean_of(train_towers(corpus, everything, base, settings, run))
    data = {**source, "dialogues": len(split.training), "questions": size, "pairs": len(corpus.pairs)}
    card = run.card(data=data)
    with run.output() as folder:
        peaks = peaks_of(learnt, base, _sample(corpus, base, task.seed))
        write_encoder(folder, learnt, base, card, peaks)
        card = write_background(folder, corpus.rarity(base.shape.words), some_contexts(split.training, task.seed))
        card["figures"] = encoder_figures(folder, split)
        write_card(folder, card)
    return ModelFolder(card, {}, task.out)


def train_towers(
    corpus: TokenizedDialogues,
    parts: Sequence[NDArray[np.int64]],
    base: Base,
    settings: EncoderSettings,
    run: TrainingRun,
) -> list[Weights]:
    """A tower for each part of the examples, all from the same base."""
    towers, size, steps_made = list[Weights](), settings.optimization.steps, 0
    total = sum(size(len(part)) for part in parts)
    for number, part in enumerate(parts):

        def report_progress(done: int, _total: int, value: float, before: int = steps_made) -> None:
            run.progress(before + done, total, value)

        seed = run.task.seed + number
        loss = _tower_loss(corpus.shown_only(part.tolist()), part, base, settings, seed, run.device)
        own = run.checkpoint.part(f"tower-{number}")
        rates = settings.optimization
        towers.append(
            run.fit(base.tensors, loss, len(part), rates, checkpoint=own, progress=report_progress, seed=seed)
        )
        steps_made += size(len(part))
    return towers


def mean_of(towers: Sequence[Weights]) -> dict[str, NDArray[np.float32]]:
    """The mean of several towers' weights, which is a tower too as long as they began as one."""
    return {name: np.mean([tower[name] for tower in towers], axis=0, dtype=np.float32) for name in towers[0]}


def _tower_loss(
    corpus: TokenizedDialogues, among: NDArray[np.int64], base: Base, settings: EncoderSettings, seed: int, on: device
) -> Loss:
    """The loss of a tower that is shown these examples."""
    make = Sequences(base.form)

    def loss(parameters: Mapping[str, Tensor], numbers: NDArray[np.int64], step: int) -> Tensor:
        rng = random.Random(f"{seed} {step}")  # noqa: S311 - not for secrets
        batch = batch_of(corpus, among[numbers].tolist(), make, settings.mixing, rng)
        stream = pack([ids for kind in batch.sequences.values() for ids in kind], on)
        return contrast(unit_vectors(parameters, stream, base.shape, settings.dropout), batch)

    return loss


def load_corpus(
    task: TrainingTask[Path, Any], base: Base, share: float, given: str = ALL_PARTS
) -> tuple[DialogueSplit, TokenizedDialogues, dict[str, Any]]:
    """The dialogues, with some people held back; as token sequences; and which files they are of.

    `given` says what of HPD's sessions is shown, where the folder holds these.
    """
    sessions = hpd_training_file(task.data)
    path = sessions or training_file(task.data, task.personas, "self")
    if sessions:
        split = held_back_sessions(hpd_dialogues(path, parse_given(given)), share, task.seed)
    else:
        split = held_back(dialogues_of(path), share, task.seed)
    pairs = [] if sessions else read_pairs(task.data)
    corpus = TokenizedDialogues(split, pairs, load_tokenizer(base.tokenizer))
    if len(corpus.examples) < 2:
        raise InputError("has too little to learn from: give more dialogues", path)
    source: dict[str, Any] = {"file": path.name, "sha256": sha256_of(path)}
    if sessions:
        source["given"] = given
    return split, corpus, source | ({"pairs_sha256": sha256_of(task.data / PAIRS)} if pairs else {})


def synonyms_of(corpus: TokenizedDialogues, base: Base, on: device) -> dict[int, list[int]]:
    """Words that lie near each other for the base itself."""
    import torch

    words, form = corpus.words(), base.form
    if not words:
        return {}
    parameters = {name: torch.from_numpy(tensor).to(on) for name, tensor in base.tensors.items()}
    synonyms: dict[int, list[int]] = {}
    with torch.no_grad():
        stream = pack([[form.first, word, form.last] for word in words], on)
        vectors = unit_vectors(parameters, stream, base.shape)
        near = (vectors @ vectors.T).fill_diagonal_(0).topk(min(ALIKE, len(words)))
    for word, values, indices in zip(words, near.values.tolist(), near.indices.tolist()):
        near_words = [words[index] for value, index in zip(values, indices) if value > LIKENESS]
        if near_words:
            synonyms[word] = near_words
    return synonyms


def _sample(corpus: TokenizedDialogues, base: Base, seed: int) -> PackedSequences:
    """Sequences of every kind, to see how large activations get."""
    import torch

    rng = random.Random(seed)  # noqa: S311 - not for secrets
    numbers = rng.sample(range(len(corpus.examples)), min(SAMPLE, len(corpus.examples)))
    batch = batch_of(corpus, numbers, Sequences(base.form), Mixing(none=0, own=1, both=0, theirs=0), rng)
    return pack([ids for kind in batch.sequences.values() for ids in kind], torch.device("cpu"))
