"""Word vectors trained as GloVe's: from how often words stand near each other in a corpus.

    J    = sum over i, j with X_ij > 0 of f(X_ij) (w_i . v_j + b_i + d_j - ln X_ij)^2
    f(x) = min(1, (x / 100)^0.75)

X_ij adds 1 / distance for each time that j stands within ten words of i, on either side. The vector of a word is
w_i + v_i. J is minimised by AdaGrad over batches of pairs, in an order drawn anew each epoch. Words seen fewer than
`fewest` times are left out before distances are taken.

The file is GloVe's text format, the most frequent word first, so that a word's line is its rank.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.training.loop import Progress, select_device
from understudy.training.task import Checkpoint, check_positive, checkpoint_folder

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "Cooccurrences",
    "GloveSettings",
    "GloveTask",
    "GloveVectors",
    "cooccurrences",
    "train_glove",
]

X_MAX, ALPHA = 100.0, 0.75
FEWEST_WORDS = 2

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GloveSettings:
    """Sizes and AdaGrad's rate; the defaults are those of GloVe's own program, apart from batches of pairs."""

    width: int = 300
    window: int = 10
    fewest: int = 2
    epochs: int = 50
    batch: int = 8192
    rate: float = 0.05

    def __post_init__(self) -> None:
        check_positive(self, "width", "window", "fewest", "epochs", "batch", "rate")


@dataclass(frozen=True, slots=True)
class GloveTask:
    """The texts to learn from, as tokens, and the file to write."""

    texts: Sequence[Sequence[str]]
    out: Path
    settings: GloveSettings
    seed: int = 0
    device: str = "auto"
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class GloveVectors:
    """Words by frequency, their vectors as rows, and J over the number of pairs at the end of each epoch."""

    words: tuple[str, ...]
    rows: NDArray[np.float32]
    losses: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Cooccurrences:
    """X as its entries above 0: both orders of each pair of words."""

    first: Ints
    second: Ints
    values: Reals


def cooccurrences(texts: Iterable[Sequence[int]], words: int, window: int) -> Cooccurrences:
    """X of texts as word ids; no window reaches into another text."""
    arrays = [np.array(text, np.int64) for text in texts if len(text)]
    if not arrays:
        return Cooccurrences(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    ids = np.concatenate(arrays)
    owner = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
    keys, values = list[Ints](), list[Reals]()
    for distance in range(1, min(window, len(ids) - 1) + 1):
        same = owner[distance:] == owner[:-distance]
        left, right = ids[:-distance][same], ids[distance:][same]
        distinct, counts = np.unique(left * words + right, return_counts=True)
        keys.append(distinct)
        values.append(counts / distance)
    if not keys:
        return Cooccurrences(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    forward = np.concatenate(keys)
    first, second = np.divmod(forward, words)
    both, inverse = np.unique(np.concatenate([forward, second * words + first]), return_inverse=True)
    totals: Reals = np.bincount(inverse, np.concatenate([*values, *values])).astype(np.float64)
    first, second = np.divmod(both, words)
    return Cooccurrences(first, second, totals)


def train_glove(task: GloveTask, progress: Progress) -> GloveVectors:
    """Train the vectors and write the file; a training that was stopped resumes with its last whole epoch."""
    import torch

    on = select_device(task.device)
    if task.out.exists() and not task.fresh:
        raise InputError("is there already: choose another --out, or say --fresh to replace it", task.out)
    settings = task.settings
    counts = Counter(word for text in task.texts for word in text)
    frequent = [(word, count) for word, count in counts.items() if count >= settings.fewest]
    words = [word for word, _ in sorted(frequent, key=lambda item: (-item[1], item[0]))]
    index = {word: number for number, word in enumerate(words)}
    matrix = cooccurrences(
        [[index[word] for word in text if word in index] for text in task.texts], len(words), settings.window
    )
    if len(words) < FEWEST_WORDS or not len(matrix.values):
        raise InputError(f"only {len(words)} words occur {settings.fewest} times or more: give a longer text")
    plan = {"settings": asdict(settings), "seed": task.seed, "data": _digest(task.texts)}
    checkpoint = Checkpoint(checkpoint_folder(task.out), plan)
    if task.fresh:
        checkpoint.clear()
    done, state = checkpoint.load() or (0, _start(len(words), settings.width, task.seed))
    losses: list[float] = [float(value) for value in state.get("losses", ())]
    tables = {name: torch.from_numpy(np.array(table)).to(on) for name, table in state.items() if name != "losses"}
    first, second = torch.from_numpy(matrix.first).to(on), torch.from_numpy(matrix.second).to(on)
    logarithms = torch.from_numpy(np.log(matrix.values).astype(np.float32)).to(on)
    weights = torch.from_numpy(pair_weights(matrix.values).astype(np.float32)).to(on)
    size = len(matrix.values)
    batches = -(-size // settings.batch)
    for epoch in range(done, settings.epochs):
        order = torch.from_numpy(np.random.default_rng((task.seed, epoch)).permutation(size)).to(on)
        total = 0.0
        for number in range(batches):
            batch = order[number * settings.batch : (number + 1) * settings.batch]
            total += adagrad_step(tables, first[batch], second[batch], logarithms[batch], weights[batch], settings.rate)
            progress(epoch * batches + number + 1, settings.epochs * batches, total / ((number + 1) * len(batch)))
        losses.append(total / size)
        saved = {name: table.cpu().numpy() for name, table in tables.items()}
        checkpoint.save(epoch + 1, {**saved, "losses": np.array(losses)})
    rows = (tables["w"] + tables["v"]).cpu().numpy()
    _write(task.out, words, rows)
    checkpoint.clear()
    return GloveVectors(tuple(words), rows, tuple(losses))


def pair_weights(values: Reals) -> Reals:
    """f(X_ij)."""
    weights: Reals = np.minimum(1, (values / X_MAX) ** ALPHA)
    return weights


def adagrad_step(
    tables: dict[str, Tensor], first: Tensor, second: Tensor, logarithms: Tensor, weights: Tensor, rate: float
) -> float:
    """One step on a batch of pairs, in place; J of the batch before it.

    As in GloVe's program the gradient has no factor 2. AdaGrad divides by the root of the sum of squared gradients,
    which starts at 1.
    """
    import torch

    left, right = tables["w"][first], tables["v"][second]
    differences = (left * right).sum(dim=1) + tables["b"][first] + tables["d"][second] - logarithms
    weighted = weights * differences
    updates = (
        ("w", first, weighted[:, None] * right),
        ("v", second, weighted[:, None] * left),
        ("b", first, weighted),
        ("d", second, weighted),
    )
    for name, rows, gradients in updates:
        gradient = torch.zeros_like(tables[name]).index_add_(0, rows, gradients)
        squares = tables[f"{name}.squares"]
        tables[name] -= rate * gradient / squares.sqrt()
        squares += gradient * gradient
    return float((weighted * differences).sum())


def _start(words: int, width: int, seed: int) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"w": (words, width), "v": (words, width), "b": (words,), "d": (words,)}
    start = {name: (rng.random(shape, np.float32) - 0.5) / np.float32(width) for name, shape in shapes.items()}
    return start | {f"{name}.squares": np.ones(shape, np.float32) for name, shape in shapes.items()}


def _digest(texts: Iterable[Sequence[str]]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(" ".join(text).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _write(out: Path, words: Sequence[str], rows: NDArray[np.float32]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            for word, row in zip(words, rows):
                file.write(f"{word} {' '.join(f'{value:.6f}' for value in row.tolist())}\n")
        os.replace(partial, out)
    finally:
        partial.unlink(missing_ok=True)
