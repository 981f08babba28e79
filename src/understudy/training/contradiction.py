"""Trainer of `contradiction`: does one sentence contradict another? From labelled pairs, on the shipped encoder.

    data/nli-train.txt, data/nli-valid.txt      a pair a line: sentence</s>sentence</s>positive, neutral or negative

The vectors stay as they are; two layers over them are trained (see `understudy.metrics.contradiction`) with

    loss = - mean over pairs of ln P(label | pair)

Each pair is shown in either order. The figures are of nli-valid.txt, which nothing is chosen by; width, epochs and
dropout were chosen on 1,200 pairs of nli-train.txt. Tried and left out: pairs drawn at random as further neutral ones
(they contradict now and then, and less is found at the same rate of false alarms).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.encoding import SentenceEncoder
from understudy.language.encoding.sequences import Floats
from understudy.language.model_folder import FORMAT, ModelFolder, Tensors
from understudy.metrics.contradiction import LABELS, ROLE, ContradictionModel, pair_features
from understudy.metrics.statistics import interval
from understudy.training.dialogues import sha256_of
from understudy.training.loop import Optimization, Progress, fit, select_device
from understudy.training.task import Checkpoint, TrainingTask, check_output, checkpoint_folder, write_trained_model

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ContradictionSettings", "contradiction_figures", "read_pairs", "train"]

FILES = ("nli-train.txt", "nli-valid.txt")
NAMES = {"negative": 0, "neutral": 1, "positive": 2}
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


def train(task: TrainingTask[ContradictionSettings], progress: Progress) -> ModelFolder:
    check_output(task.out, task.fresh)
    begun = time.perf_counter()
    device = select_device(task.device)
    paths = [task.data / name for name in FILES]
    texts = [read_pairs(path) for path in paths]
    encoder = SentenceEncoder(task.base)
    plan = {
        "agent": "contradiction",
        "what": "Whether one sentence contradicts another: two layers over the vectors of the sentence encoder",
        "language": "en",
        "labels": LABELS,
        "encoder": encoder.fingerprint,
        "data": {path.name: sha256_of(path) for path in paths},
        "settings": asdict(task.settings),
        "seed": task.seed,
        "device": device.type,
    }
    checkpoint = Checkpoint(checkpoint_folder(task.out), {**plan, "format": FORMAT})
    if task.fresh:
        checkpoint.clear()
    training, judged = (_encoded(pairs, encoder) for pairs in texts)
    model = _fit(training, task, checkpoint, progress)
    card = {**plan, "pairs": len(training), "figures": contradiction_figures(model, training, judged)}
    return write_trained_model(task.out, card, model.tensors(), checkpoint, time.perf_counter() - begun)


def read_pairs(path: Path) -> list[tuple[str, str, int]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise InputError(
            f"is not there: a folder with {' and '.join(FILES)} of Dialogue NLI belongs here", path
        ) from error
    except ValueError as error:
        raise InputError(f"is not UTF-8 ({error})", path) from error
    pairs = []
    for number, line in enumerate(lines, 1):
        first, second, label, *more = [*line.split("</s>"), "", "", ""]
        if label.strip() not in NAMES or any(more) or not first.strip() or not second.strip():
            raise InputError(
                f"line {number} is not 'sentence</s>sentence</s>label', a label of {', '.join(NAMES)}", path
            )
        pairs.append((first.strip(), second.strip(), NAMES[label.strip()]))
    if not pairs:
        raise InputError("is empty: there is nothing to learn from", path)
    return pairs


def _encoded(pairs: Sequence[tuple[str, str, int]], encoder: SentenceEncoder) -> Pairs:
    firsts, seconds, labels = zip(*pairs)
    return Pairs(encoder.encode(firsts, ROLE), encoder.encode(seconds, ROLE), np.array(labels, np.int64))


def _fit(
    pairs: Pairs, task: TrainingTask[ContradictionSettings], checkpoint: Checkpoint, progress: Progress
) -> ContradictionModel:
    settings, device, rng = task.settings, select_device(task.device), np.random.default_rng(task.seed)
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
    learnt = fit(start, loss, len(pairs), optimization, task.seed, device, checkpoint, progress, task.every)
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
