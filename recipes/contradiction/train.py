"""Trainer of `contradiction`: does one sentence contradict another? From labelled pairs, on the shipped encoder.

    data/nli-train.txt, data/nli-valid.txt      a pair a line: sentence</s>sentence</s>positive, neutral or negative

The vectors stay as they are; two layers over them are trained (see `understudy.metrics.contradiction`) with

    loss = - mean over pairs of ln P(label | pair)

Each pair is shown in either order. The figures are of nli-valid.txt, which nothing is chosen by; width, epochs and
dropout were chosen on 1,200 pairs of nli-train.txt. Tried and left out: pairs drawn at random as further neutral ones
(they contradict now and then, and less is found at the same rate of false alarms).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout, so that it runs from anywhere

from recipes.command import recipe
from understudy.language.encoding import Floats
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.language.model_folder import FORMAT, ModelFolder, Tensors
from understudy.metrics.contradiction import LABELS, ROLE, ContradictionModel, pair_features
from understudy.metrics.statistics import interval
from understudy.sources.source import sha256_of
from understudy.training.bob_examples import NLI_FILES, read_nli_pairs
from understudy.training.loop import Optimization, Progress
from understudy.training.run import TrainingRun, TrainingTask

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ContradictionSettings", "contradiction_figures", "train"]

BINS = 20  # of the cosine, for the baseline

Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ContradictionSettings:
    width: int = 128
    epochs: int = 20
    batch: int = 128
    rate: float = 0.002
    decay: float = 0.1
    dropout: float = 0.4


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of vectors and their labels, as numbers of LABELS."""

    first: Floats
    second: Floats
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)


def train(task: TrainingTask[Path, ContradictionSettings], progress: Progress) -> ModelFolder:
    run = TrainingRun(task, progress)
    paths = [task.data / name for name in NLI_FILES]
    texts = [read_nli_pairs(path) for path in paths]
    encoder = SentenceEncoder(task.base_folder)
    plan = {
        "agent": "contradiction",
        "what": "Whether one sentence contradicts another: two layers over the vectors of the sentence encoder",
        "language": "en",
        "labels": LABELS,
        "encoder": encoder.fingerprint,
        "data": {path.name: sha256_of(path) for path in paths},
        "device": run.device.type,
    }
    run.begin({**plan, "format": FORMAT})
    training, judged = (_encoded(pairs, encoder) for pairs in texts)
    model = _fit(training, run)
    card = run.card(pairs=len(training), figures=contradiction_figures(model, training, judged))
    return run.write(card, model.tensors())


def _encoded(pairs: Sequence[tuple[str, str, int]], encoder: SentenceEncoder) -> Pairs:
    firsts, seconds, labels = zip(*pairs)
    return Pairs(encoder.encode(firsts, ROLE), encoder.encode(seconds, ROLE), np.array(labels, np.int64))


def _fit(pairs: Pairs, run: TrainingRun) -> ContradictionModel:
    task, device = run.task, run.device
    settings, rng = task.settings, np.random.default_rng(task.seed)
    scale = np.maximum(pair_features(pairs.first, pairs.second).std(axis=0), 1e-6).astype(np.float32)
    start: Tensors = {
        "hidden": (rng.normal(size=(len(scale), settings.width)) / np.sqrt(len(scale))).astype(np.float32),
        "hidden_bias": np.zeros(settings.width, np.float32),
        "output": (rng.normal(size=(settings.width, len(LABELS))) / np.sqrt(settings.width)).astype(np.float32),
        "output_bias": np.zeros(len(LABELS), np.float32),
    }

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        import torch
        from torch.nn.functional import cross_entropy, dropout

        first, second = pairs.first[batch], pairs.second[batch]
        swapped = np.random.default_rng((task.seed, step)).random(len(batch))[:, None] < 0.5
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        features = torch.from_numpy(pair_features(first, second) / scale).to(device)
        hidden = dropout(features, settings.dropout) @ parameters["hidden"] + parameters["hidden_bias"]
        scores = dropout(hidden.relu(), settings.dropout) @ parameters["output"] + parameters["output_bias"]
        return cross_entropy(scores, torch.from_numpy(pairs.labels[batch]).to(device))

    optimization = Optimization(settings.epochs, settings.batch, settings.rate, decay=settings.decay)
    learnt = run.fit(start, loss, len(pairs), optimization)
    return ContradictionModel(scale, **learnt)


def contradiction_figures(model: ContradictionModel, training: Pairs, judged: Pairs) -> dict[str, Any]:
    """Of pairs that were not trained on: accuracy, precision and recall of contradictions; 95% intervals."""
    guessed = model.probabilities(judged.first, judged.second).argmax(axis=1)
    right, is_contradiction = guessed == judged.labels, judged.labels == 0
    most = int(np.bincount(training.labels, minlength=len(LABELS)).argmax())
    return {
        "pairs": len(judged),
        "accuracy": _figure(right),
        "precision": _figure(right[guessed == 0]),
        "recall": _figure(right[is_contradiction]),
        "accuracy of the most frequent label": _figure(judged.labels == most),
        "accuracy of the cosine alone": _figure(_by_cosine(training, judged) == judged.labels),
    }


def _figure(right: NDArray[np.bool_]) -> dict[str, float] | None:
    if not len(right):
        return None
    return {name: round(value, 4) for name, value in interval(right.astype(np.float64))._asdict().items()}


def _by_cosine(training: Pairs, judged: Pairs) -> Labels:
    """The label that is most frequent in training among pairs of about the same cosine."""
    known, asked = ((pairs.first * pairs.second).sum(axis=1) for pairs in (training, judged))
    edges = np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1])
    counts = np.zeros((BINS, len(LABELS)))
    np.add.at(counts, (np.searchsorted(edges, known), training.labels), 1)
    labels: Labels = counts.argmax(axis=1)[np.searchsorted(edges, asked)]
    return labels


main = recipe("contradiction", train, ContradictionSettings, "width", "epochs", "batch")

if __name__ == "__main__":
    main()
