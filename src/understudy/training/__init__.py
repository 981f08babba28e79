"""Training: one trainer a model. Each gives a model folder; what was learnt is judged on dialogues held back.

    model = train("starspace", Path("personachat"), Path("my-model"))

A training that is stopped, or killed, goes on where it was when it is asked for again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.modelfolder import ModelFolder
    from understudy.training.loop import Progress, Settings

__all__ = ["TRAINERS", "train"]

TRAINERS = ("starspace", "profile-memory", "kv-memory")


def train(
    agent: str,
    data: Path,
    out: Path,
    *,
    settings: Settings | None = None,
    personas: str = "original",
    condition: str = "self",
    seed: int = 0,
    device: str = "auto",
    origin: Path | None = None,
    embeddings: Path | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ModelFolder:
    """Train an agent on the PersonaChat files of a folder and write its model folder.

    `personas` are those of the training file to show, `condition` whose ('none', 'self', 'their', 'both'); `origin` is
    the model that kv-memory takes its weights from; `embeddings` a file of word vectors to begin with; `fresh` starts
    over and replaces what is there.
    """
    from understudy.training import kv_memory, profile_memory, starspace
    from understudy.training.course import Task
    from understudy.training.data import CONDITIONS, PERSONAS
    from understudy.training.loop import Settings, unwatched

    trainers = dict(zip(TRAINERS, (starspace.train, profile_memory.train, kv_memory.train)))
    for what, told, known in (
        ("agent to train", agent, TRAINERS),
        ("kind of personas", personas, PERSONAS),
        ("condition", condition, tuple(CONDITIONS)),
    ):
        if told not in known:
            raise InputError(f"there is no {what} '{told}': choose from {', '.join(known)}")
    task = Task(data, out, settings or Settings(), personas, condition, seed, device, origin, embeddings, fresh)
    return trainers[agent](task, progress or unwatched)
