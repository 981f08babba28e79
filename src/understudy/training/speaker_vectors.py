"""Vectors for turns of phrase, such that a line is nearer to its own speaker than to others.

A step takes some novels and from each some speakers. Every speaker's lines are parted: of some the speaker's vector is
made, the rest are the questions, one to three lines each, as a reply is often longer than a line of a novel. With
e(u) the sum of a question's vectors over sqrt(marks + 5), and v(p) the mean over a speaker's lines, of length 1:

    loss = - mean over questions of ln(exp(s e(u) . v(own)) / sum over speakers p of exp(s e(u) . v(p)))

Half of all marks are left out at random, so that no single one is relied upon. Speakers of the same novel are among
those compared, so the topic does not give the answer away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.metrics.voice.model import FEW_MARKS
from understudy.model_folder import Tensors
from understudy.training.checkpoint import Checkpoint
from understudy.training.loop import Descent, Progress, fit

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["VoiceSettings", "train_vectors"]

Marks = NDArray[np.int64]
Novel = Sequence[Sequence[Marks]]
"""For each speaker the lines, each as the numbers of its marks."""

START, SHARPNESS = 0.02, 10.0
SOFTER = 2.0  # as sharp as in training, known speakers are told apart too surely; chosen on novels held back
SPEAKERS, QUESTIONS = 8, 6  # of a novel, of a speaker, in one step
LEAST, MOST = 10, 80  # lines that a speaker's vector is made of


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """How vectors are trained: what decides them besides data and seed."""

    width: int = 48
    epochs: int = 128
    novels: int = 12
    rate: float = 0.002
    left_out: float = 0.5


def train_vectors(
    novels: Sequence[Novel], telling: NDArray[np.float64], settings: VoiceSettings, seed: int, on: device,
    checkpoint: Checkpoint, progress: Progress, every: int,
) -> NDArray[np.float64]:  # fmt: skip
    """A vector for each mark. `telling` says how rare each is; rarer ones begin larger."""
    rng = np.random.default_rng(seed)
    begun = rng.normal(scale=START, size=(len(telling), settings.width)) * telling[:, None]
    start: Tensors = {"vectors": begun.astype(np.float32), "sharpness": np.array(SHARPNESS, np.float32)}

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        import torch

        rng = np.random.default_rng((seed, step))
        lines, questions, answers = _episode([novels[number] for number in batch.tolist()], rng)
        owners = torch.from_numpy(np.repeat(np.arange(len(lines)), [len(some) for some in lines])).to(on)
        said = _vectors(parameters["vectors"], [one for some in lines for one in some], settings.left_out, rng)
        summed = torch.zeros(len(lines), settings.width, device=on).index_add(0, owners, said)
        speakers = torch.nn.functional.normalize(summed, dim=1)
        asked = _vectors(parameters["vectors"], questions, settings.left_out, rng)
        products = parameters["sharpness"] * (asked @ speakers.T)
        return torch.nn.functional.cross_entropy(products, torch.tensor(answers, device=on))

    descent = Descent(settings.epochs, min(settings.novels, len(novels)), settings.rate)
    learnt = fit(start, loss, len(novels), descent, seed, on, checkpoint, progress, every)
    vectors: NDArray[np.float64] = learnt["vectors"].astype(np.float64) * float(learnt["sharpness"]) / SOFTER
    return vectors


def _episode(novels: Sequence[Novel], rng: np.random.Generator) -> tuple[list[list[Marks]], list[Marks], list[int]]:
    """For each speaker drawn some lines, and questions with the number of the speaker who answers each."""
    lines: list[list[Marks]] = []
    questions: list[Marks] = []
    answers: list[int] = []
    for novel in novels:
        for number in rng.permutation(len(novel))[:SPEAKERS].tolist():
            shuffled = [novel[number][place] for place in rng.permutation(len(novel[number])).tolist()]
            first, last = 0, len(shuffled) // 3 + 1
            for _ in range(QUESTIONS):
                some = shuffled[first : min(first + int(rng.choice([1, 1, 2, 3])), last)]
                if not some:
                    break
                questions.append(np.unique(np.concatenate(some)))
                answers.append(len(lines))
                first += len(some)
            lines.append(shuffled[first : first + int(rng.integers(LEAST, MOST + 1))])
    return lines, questions, answers


def _vectors(table: Tensor, lines: Sequence[Marks], left_out: float, rng: np.random.Generator) -> Tensor:
    import torch

    kept = [line[rng.random(len(line)) > left_out] for line in lines]
    lengths = np.array([len(line) for line in kept])
    starts = torch.from_numpy(np.concatenate(([0], np.cumsum(lengths)[:-1]))).to(table.device)
    marks = torch.from_numpy(np.concatenate(kept)).to(table.device)
    summed = torch.nn.functional.embedding_bag(marks, table, starts, mode="sum")
    scale = torch.from_numpy(np.sqrt(lengths + FEW_MARKS).astype(np.float32)).to(table.device)
    return summed / scale[:, None]
