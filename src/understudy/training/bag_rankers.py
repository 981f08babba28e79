"""Trainers of the bag-of-words rankers: Starspace, Profile Memory and Key-Value Profile Memory.

    starspace        q = m + b (sum of the profile's sentences)
    profile-memory   q = m + b (attention over the profile's sentences), `hops` times
    kv-memory        profile-memory's weights; the training dialogues become keys (messages) and values (replies)

m, the sentences and the replies are sums of word vectors (see `word_vectors`, which has the loss); b is learnt with
them. kv-memory trains nothing; what profile-memory held back, it holds back too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.agents import AGENTS
from understudy.agents.bag_ranker import MAX_TURNS, KeyValueMemory, ProfileMemory
from understudy.errors import InputError
from understudy.language.model_folder import FORMAT, ModelFolder, Tensors, read_model, texts_as_tensor
from understudy.text import words
from understudy.training.dialogues import (
    ProfiledDialogue,
    dialogues_of,
    held_back,
    questions_of,
    sha256_of,
    training_file,
)
from understudy.training.evaluation import ranking_figures
from understudy.training.loop import Optimization, Progress
from understudy.training.run import Run, TrainingTask, check_positive, check_shares
from understudy.training.word_vectors import BagExamples, Vocabulary, margin_loss, read_embeddings, similarity

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["BagSettings", "train_kv_memory", "train_profile_memory", "train_starspace"]

Query = Callable[["Tensor", "Tensor", "Tensor", "Tensor", int], "Tensor"]
"""A model's formula: message, profile sentences, which of these are padding, balance b, hops."""

STARSPACE_BALANCE = 0.5  # b at the start
MEMORY_BALANCE = 3.0  # over all hops
KV_SHARPNESS = 5.0
KV_GAIN = 0.2  # more than that drowns what the profile says


@dataclass(frozen=True, slots=True)
class BagSettings:
    """What decides a training besides its data and seed.

    Chosen on held-back dialogues of PersonaChat's training split. `turns` is how many turns of the history the message
    is; more brought in more of what is no longer talked about.
    """

    width: int = 512
    turns: int = 1
    hops: int = 1
    epochs: int = 3
    batch: int = 256
    negatives: int = 40
    margin: float = 0.4
    rate: float = 0.003
    held_back: float = 0.05

    def __post_init__(self) -> None:
        check_positive(self, "width", "turns", "hops", "epochs", "batch", "negatives", "margin", "rate")
        check_shares(self, "held_back")

    @property
    def optimization(self) -> Optimization:
        return Optimization(self.epochs, self.batch, self.rate)


def train_starspace(task: TrainingTask[Path, BagSettings], progress: Progress) -> ModelFolder:
    return _train("starspace", _summed_query, STARSPACE_BALANCE, task, progress)


def train_profile_memory(task: TrainingTask[Path, BagSettings], progress: Progress) -> ModelFolder:
    return _train("profile-memory", _attentive_query, MEMORY_BALANCE / task.settings.hops, task, progress)


def _summed_query(message: Tensor, sentences: Tensor, _missing: Tensor, balance: Tensor, _hops: int) -> Tensor:
    return message + balance * sentences.sum(dim=1)


def _attentive_query(message: Tensor, sentences: Tensor, missing: Tensor, balance: Tensor, hops: int) -> Tensor:
    if sentences.shape[1] == 0:
        return message
    for _ in range(hops):
        shares = similarity(message[:, None], sentences).masked_fill(missing, float("-inf")).softmax(dim=1)
        message = message + balance * (shares[:, :, None] * sentences).sum(dim=1)
    return message


def _train(
    agent: str, query: Query, balance: float, task: TrainingTask[Path, BagSettings], progress: Progress
) -> ModelFolder:
    """Train the word vectors, and the balance between message and profile."""
    run = Run(task, progress)
    settings, condition = task.settings, task.condition
    path = training_file(task.data, task.personas, condition)
    split = held_back(dialogues_of(path), settings.held_back, task.seed)
    questions = list(questions_of(split.training, condition))
    if len(questions) < 2:
        raise InputError(f"has no profiles to show for the condition '{condition}': choose another", path)
    training_words = {word for text in _texts(split.training) for word in words(text)}
    pretrained = None if task.embeddings is None else read_embeddings(task.embeddings, training_words)
    width = settings.width if pretrained is None else len(next(iter(pretrained.values())))
    vocabulary = Vocabulary(_texts(split.training), width, pretrained)
    examples = BagExamples.of(questions, condition, settings.turns, vocabulary)
    source = {"file": path.name, "sha256": sha256_of(path)}
    plan = {
        "agent": agent,
        "trained_on": task.personas,
        "condition": condition,
        "data": source,
        "settings": {**asdict(settings), "width": width},
        "embeddings": None if task.embeddings is None else sha256_of(task.embeddings),
        "seed": task.seed,
        "device": run.device.type,
    }
    run.begin({**plan, "format": FORMAT})

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        import torch

        message, replies, sentences = examples.sums(batch, parameters["vectors"])
        missing = torch.from_numpy(examples.profiles[batch] < 0).to(run.device)
        numbers = torch.from_numpy(examples.replies[batch]).to(run.device)
        return margin_loss(
            query(message, sentences, missing, parameters["balance"], settings.hops),
            replies,
            numbers[:, None] == numbers,
            settings.margin,
            settings.negatives,
        )

    start = {"vectors": vocabulary.rows, "balance": np.array(balance, np.float32)}
    learnt = run.fit(start, loss, len(examples), settings.optimization)
    tensors: Tensors = {**learnt, "words": texts_as_tensor(vocabulary.words)}
    plan["data"] = {**source, "dialogues": len(split.training), "questions": len(questions)}
    figures = ranking_figures(AGENTS[agent](model=ModelFolder(plan, tensors)), split, task.seed)
    return run.write(run.card(data=plan["data"], figures=figures), tensors)


def _texts(dialogues: list[ProfiledDialogue]) -> list[str]:
    """Every text that training sees, once for every time it stands there."""
    profiles = [sentence for dialogue in dialogues for profile in dialogue.profiles for sentence in profile]
    return profiles + [text for dialogue in dialogues for _, text in dialogue.turns]


def train_kv_memory(task: TrainingTask[Path, BagSettings], progress: Progress) -> ModelFolder:
    """Take the weights of the model at `task.origin`; personas, condition and settings are that model's."""
    if task.origin is None:
        raise InputError(
            "kv-memory uses the weights of a profile-memory model: train one with 'understudy train profile-memory', "
            "then name it with --from"
        )
    run = Run(task, progress, uses_torch=False)
    folder = read_model(task.origin, ProfileMemory.name)
    ProfileMemory(folder)  # raises where the folder is damaged
    personas, condition = str(folder.card.get("trained_on")), str(folder.card.get("condition"))
    path = training_file(task.data, personas, condition)
    seed = folder.integer("seed", low=0, high=2**63 - 1)
    split = held_back(dialogues_of(path), folder.number("settings", "held_back", low=0, high=1), seed)
    turns = folder.integer("settings", "turns", low=0, high=MAX_TURNS)
    pairs = [(question.message(turns), question.reply) for question in questions_of(split.training, "none")]
    pairs = [pair for pair in dict.fromkeys(pairs) if pair[0].strip()]
    tensors: Tensors = {
        **folder.tensors,
        "memory.heard": texts_as_tensor(message for message, _ in pairs),
        "memory.said": texts_as_tensor(reply for _, reply in pairs),
    }
    data = {"file": path.name, "sha256": sha256_of(path), "dialogues": len(split.training), "memories": len(pairs)}
    plan = {
        **folder.card,
        "agent": "kv-memory",
        "data": data,
        "settings": {**folder.card["settings"], "sharpness": KV_SHARPNESS, "gain": KV_GAIN},
        "weights_from": {"agent": ProfileMemory.name, "data": folder.card.get("data")},
    }
    run.begin(plan)
    progress(1, 2, 0.0)
    figures = ranking_figures(KeyValueMemory(ModelFolder(plan, tensors)), split, seed)
    progress(2, 2, 0.0)
    return run.write(run.card(figures=figures), tensors)
