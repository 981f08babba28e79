"""From a folder of dialogues to a model folder: what trainers do around their formula."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy import __version__
from understudy.agents import AGENTS
from understudy.errors import InputError
from understudy.model_folder import CARD, FORMAT, ModelFolder, Tensors, texts_as_tensor, write_model
from understudy.training.bags import Examples, Vocabulary, margin_loss
from understudy.training.checkpoint import Checkpoint, place_of
from understudy.training.data import Dialogue, dialogues_of, held_back, questions_of, sha256_of, training_file
from understudy.training.embeddings import read_embeddings
from understudy.training.figures import figures_of
from understudy.training.loop import CHECKPOINT_EVERY, Progress, Settings, device_named, fit

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Query", "Task", "about", "finished", "must_be_free", "prepared", "train_bags"]

S = TypeVar("S")
Query = Callable[["Tensor", "Tensor", "Tensor", "Tensor", int], "Tensor"]
"""A model's formula: message, profile sentences, which of these are none, how much they count, hops."""


@dataclass(frozen=True, slots=True)
class Task(Generic[S]):
    """What to train on, how, and where to put it. `origin` is a model to take from, `base` weights to begin with."""

    data: Path
    out: Path
    settings: S
    personas: str = "original"
    condition: str = "self"
    seed: int = 0
    device: str = "auto"
    origin: Path | None = None
    base: Path | None = None
    embeddings: Path | None = None
    fresh: bool = False
    every: int = CHECKPOINT_EVERY


def prepared(task: Task[Any]) -> None:
    """Make sure that the model can be put where it is wanted."""
    must_be_free(task.out, task.fresh)


def must_be_free(out: Path, fresh: bool) -> None:
    """What stands where a model is to go is not replaced unasked, and nothing but a model ever is."""
    if out.exists() and not fresh:
        raise InputError("is there already: choose another --out, or say --fresh to replace it", out)
    if out.exists() and not (out / CARD).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is there already and is no model folder: choose another --out", out)


def train_bags(agent: str, query: Query, balance: float, task: Task[Settings], progress: Progress) -> ModelFolder:
    """Train the vectors of the words, and how much the profile counts."""
    prepared(task)
    device = device_named(task.device)
    begun = time.perf_counter()
    settings, condition = task.settings, task.condition
    path = training_file(task.data, task.personas, condition)
    split = held_back(dialogues_of(path), settings.held_back, task.seed)
    questions = list(questions_of(split.training, condition))
    if len(questions) < 2:
        raise InputError(f"has no profiles to show for the condition '{condition}': choose another", path)
    given = None if task.embeddings is None else read_embeddings(task.embeddings, _texts(split.training))
    width = settings.width if given is None else len(next(iter(given.values())))
    vocabulary = Vocabulary(_texts(split.training), width, given)
    examples = Examples.of(questions, condition, settings.turns, vocabulary)
    source = {"file": path.name, "sha256": sha256_of(path)}
    plan = {
        "agent": agent,
        "trained_on": task.personas,
        "condition": condition,
        "data": source,
        "settings": {**asdict(settings), "width": width},
        "embeddings": None if task.embeddings is None else sha256_of(task.embeddings),
        "seed": task.seed,
        "device": device.type,
    }
    checkpoint = Checkpoint(place_of(task.out), {**plan, "format": FORMAT})
    if task.fresh:
        checkpoint.clear()

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        import torch

        message, replies, sentences = examples.sums(batch, parameters["vectors"])
        missing = torch.from_numpy(examples.profiles[batch] < 0).to(device)
        numbers = torch.from_numpy(examples.replies[batch]).to(device)
        return margin_loss(
            query(message, sentences, missing, parameters["balance"], settings.hops),
            replies,
            numbers[:, None] == numbers,
            settings.margin,
            settings.negatives,
        )

    start = {"vectors": vocabulary.rows, "balance": np.array(balance, np.float32)}
    learnt = fit(start, loss, len(examples), settings.descent, task.seed, device, checkpoint, progress, task.every)
    tensors: Tensors = {**learnt, "words": texts_as_tensor(vocabulary.words)}
    plan["data"] = {**source, "dialogues": len(split.training), "questions": len(questions)}
    card = {**plan, "figures": figures_of(AGENTS[agent](model=ModelFolder(plan, tensors)), split, task.seed)}
    return finished(task.out, card, tensors, checkpoint, time.perf_counter() - begun)


def finished(
    out: Path, card: Mapping[str, Any], tensors: Tensors, checkpoint: Checkpoint | None, seconds: float
) -> ModelFolder:
    """Write the model; only then is its checkpoint no longer needed."""
    model = write_model(out, {**card, **about(seconds)}, tensors)
    if checkpoint is not None:
        checkpoint.clear()
    return model


def about(seconds: float) -> dict[str, Any]:
    """What every card says of its making."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {"format": FORMAT, "understudy": __version__, "created": created, "seconds": round(seconds, 1)}


def _texts(dialogues: list[Dialogue]) -> list[str]:
    """Every text that training sees, once for every time it stands there."""
    profiles = [sentence for dialogue in dialogues for profile in dialogue.profiles for sentence in profile]
    return profiles + [text for dialogue in dialogues for _, text in dialogue.turns]
