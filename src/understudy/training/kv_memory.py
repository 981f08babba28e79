"""Making a Key-Value Profile Memory: profile-memory's weights, and the training dialogues to remember.

Nothing is trained. The messages of the training dialogues become keys, the replies they got values; dialogues that
profile-memory held back are held back here too.
"""

from __future__ import annotations

import time

from understudy.agents.bag_ranker import MAX_TURNS
from understudy.agents.kv_memory import KeyValueMemory
from understudy.agents.profile_memory import ProfileMemory
from understudy.errors import InputError
from understudy.model_folder import ModelFolder, Tensors, read_model, texts_as_tensor
from understudy.training.course import Task, finished, prepared
from understudy.training.data import dialogues_of, held_back, questions_of, sha256_of, training_file
from understudy.training.figures import figures_of
from understudy.training.loop import Progress, Settings

__all__ = ["train"]

SHARPNESS = 5.0
GAIN = 0.2  # more than that drowns what the profile says


def train(task: Task[Settings], progress: Progress) -> ModelFolder:
    """Take the weights of the model at `task.origin`; personas, condition and settings are that model's."""
    if task.origin is None:
        raise InputError(
            "kv-memory uses the weights of a profile-memory model: train one with 'understudy train profile-memory', "
            "then name it with --from"
        )
    prepared(task)
    begun = time.perf_counter()
    folder = read_model(task.origin, ProfileMemory.name)
    ProfileMemory(folder)  # says what is wrong with it, if something is
    personas, condition = str(folder.card.get("trained_on")), str(folder.card.get("condition"))
    path = training_file(task.data, personas, condition)
    seed = folder.integer("seed", low=0, high=2**63 - 1)
    split = held_back(dialogues_of(path), folder.number("settings", "held_back", low=0, high=1), seed)
    turns = folder.integer("settings", "turns", low=0, high=MAX_TURNS)
    pairs = [(question.message(turns), question.reply) for question in questions_of(split.training, "none")]
    pairs = [pair for pair in dict.fromkeys(pairs) if pair[0].strip()]
    tensors: Tensors = {
        **folder.tensors,
        "memory.heard": texts_as_tensor(heard for heard, _ in pairs),
        "memory.said": texts_as_tensor(said for _, said in pairs),
    }
    settings = {**folder.card["settings"], "sharpness": SHARPNESS, "gain": GAIN}
    data = {"file": path.name, "sha256": sha256_of(path), "dialogues": len(split.training), "memories": len(pairs)}
    card = {
        **folder.card,
        "agent": "kv-memory",
        "data": data,
        "settings": settings,
        "weights_from": {"agent": ProfileMemory.name, "data": folder.card.get("data")},
    }
    progress(1, 2, 0.0)
    card["figures"] = figures_of(KeyValueMemory(ModelFolder(card, tensors)), split, seed)
    progress(2, 2, 0.0)
    return finished(task.out, card, tensors, None, time.perf_counter() - begun)
