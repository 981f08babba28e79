"""Training Starspace: the words of message and profile together must point to the reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.model_folder import ModelFolder
from understudy.training.course import Task, train_bags
from understudy.training.loop import Progress, Settings

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["train"]

BALANCE = 0.5  # what a word of a profile counts at the start


def train(task: Task[Settings], progress: Progress) -> ModelFolder:
    return train_bags("starspace", query, BALANCE, task, progress)


def query(message: Tensor, sentences: Tensor, _missing: Tensor, balance: Tensor, _hops: int) -> Tensor:
    return message + balance * sentences.sum(dim=1)
