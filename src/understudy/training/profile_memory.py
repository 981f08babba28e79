"""Training the Profile Memory network: attention over the profile is part of what is learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.model_folder import ModelFolder
from understudy.training.bags import similarity
from understudy.training.course import Task, train_bags
from understudy.training.loop import Progress, Settings

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["train"]

BALANCE = 3.0  # what the profile counts at the start, over all hops


def train(task: Task[Settings], progress: Progress) -> ModelFolder:
    return train_bags("profile-memory", query, BALANCE / task.settings.hops, task, progress)


def query(message: Tensor, sentences: Tensor, missing: Tensor, balance: Tensor, hops: int) -> Tensor:
    if sentences.shape[1] == 0:
        return message
    for _ in range(hops):
        shares = similarity(message[:, None], sentences).masked_fill(missing, float("-inf")).softmax(dim=1)
        message = message + balance * (shares[:, :, None] * sentences).sum(dim=1)
    return message
