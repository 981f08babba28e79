"""Fine-tuning of a guesser: casts as classes, held-back scenes, the training loop, and the model folder it ends with.

The last scenes of each story are held back, since that is how a guesser is used: it learns from what came before and
is asked about what comes after.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from understudy.errors import AgentError, InputError
from understudy.guessing import Guesses, Masked, Masking, TrainingScenes, guess_in_order
from understudy.guessing.assignment import LEAST, best_assignment
from understudy.language.model_folder import ModelFolder, atomic_folder, write_card
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.loop import Loss, Progress, fit
from understudy.training.pretrained import Weights
from understudy.training.task import Checkpoint, checkpoint_folder, provenance

if TYPE_CHECKING:
    from torch import device

__all__ = [
    "EVERY",
    "HELD_BACK",
    "Casts",
    "Learner",
    "check_share",
    "data_summary",
    "finetune",
    "guessing_figures",
    "held_back",
    "read_casts",
]

HELD_BACK = 0.05
Held = Mapping[str, Sequence[Scene]]
EVERY = 500  # steps between checkpoints, which hold a whole transformer three times


class Casts:
    """Casts by the titles of their stories. A namesake in another story is somebody else."""

    def __init__(self, casts: Mapping[str, Sequence[str]]) -> None:
        if not casts:
            raise InputError("there is no story to learn from")
        self._casts = {title: tuple(main) for title, main in casts.items()}
        people = [(title, name) for title, main in self._casts.items() for name in main]
        self._numbers = {person: number for number, person in enumerate(people)}
        self.names = [name for _, name in people]

    def classes(self, title: str, names: Sequence[str]) -> tuple[int, ...]:
        unknown = [name for name in names if (title, name) not in self._numbers]
        if unknown:
            who = ", ".join(unknown)
            raise AgentError(f"the model was not taught who {who} of {title} is: train it on scenes they speak in")
        return tuple(self._numbers[title, name] for name in names)

    def title_of(self, main: Sequence[str]) -> str:
        """The story whose cast these are."""
        for title, cast in self._casts.items():
            if set(main) <= set(cast):
                return title
        who, known = ", ".join(main), "; ".join(self._casts)
        raise AgentError(f"the model was taught no story with {who}, but {known}: train one on this story")

    def to_json(self) -> dict[str, list[str]]:
        """As a card has them."""
        return {title: list(main) for title, main in self._casts.items()}


def read_casts(card: Mapping[str, Any], folder: Path) -> Casts:
    """The casts of a card."""
    casts = card.get("casts")
    good = isinstance(casts, dict) and all(
        isinstance(main, list) and main and all(isinstance(name, str) for name in main) for main in casts.values()
    )
    if not good or not casts:
        raise InputError("does not say whom it was taught: train the model again", folder)
    return Casts(casts)


def check_share(share: float) -> None:
    if not 0 <= share < 1:
        raise InputError(f"held_back is a share from 0 to below 1, not {share}")


def held_back(lessons: Mapping[str, TrainingScenes], share: float) -> tuple[dict[str, TrainingScenes], Held]:
    """Of each story what is learned from, and the last scenes, a share of all."""
    training, held_out = {}, {}
    for title, story_lessons in lessons.items():
        cut = len(story_lessons.scenes) - int(len(story_lessons.scenes) * share)
        training[title] = replace(story_lessons, scenes=story_lessons.scenes[:cut])
        held_out[title] = story_lessons.scenes[cut:]
    return training, held_out


def data_summary(lessons: Mapping[str, TrainingScenes]) -> dict[str, Any]:
    """What a card says of the lessons, story by story; `last` is the moment of the last scene."""
    return {
        title: {
            "scenes": len(story_lessons.scenes),
            "lines": sum(len(scene.lines) for scene in story_lessons.scenes),
            "last": list(story_lessons.scenes[-1].moment.numbers),
        }
        for title, story_lessons in lessons.items()
    }


def guessing_figures(
    opened: Callable[[Sequence[str]], Guesser], lessons: Mapping[str, TrainingScenes], held_out: Held
) -> dict[str, Any]:
    """The share of speakers told right in scenes held back, and with one person behind each mask (`assigned`)."""
    hits: dict[str, list[tuple[bool, bool]]] = {}
    for title, scenes in held_out.items():
        masking = Masking(lessons[title].main, lessons[title].names)
        scenes_to_guess = [(scene, len(masking.masked(scene).answers) > 1) for scene in scenes]
        if any(has_choice for _, has_choice in scenes_to_guess):
            results = guess_in_order(opened(lessons[title].main), scenes_to_guess, masking, _people)
            hits[title] = [hit for masked, guesses in results for hit in _hits(masked, guesses)]
    if not hits:
        return {}
    by_name = {"all": [hit for some in hits.values() for hit in some], **hits}
    shares = {name: np.mean(some, axis=0).round(4).tolist() for name, some in by_name.items()}
    return {
        "speakers": len(by_name["all"]),
        "accuracy": {name: alone for name, (alone, _) in shares.items()},
        "assigned": {name: assigned for name, (_, assigned) in shares.items()},
    }


def _people(names: Sequence[str], scene: Scene) -> Sequence[Persona]:
    return [Persona(name, scene.moment) for name in names]


def _hits(masked: Masked, guesses: Guesses) -> list[tuple[bool, bool]]:
    """Whether each mask is told right by its own likeliest candidate, and in the likeliest assignment."""
    names = masked.candidates
    table = np.log([[max(probabilities[name], LEAST) for name in names] for probabilities in guesses.values()])
    right = np.array([names.index(masked.answers[mask]) for mask in guesses])
    return list(zip((table.argmax(axis=1) == right).tolist(), (best_assignment(table) == right).tolist()))


class GuesserTask(Protocol):
    """What is to be trained; `settings` say how, and have an `optimization`."""

    @property
    def lessons(self) -> Mapping[str, TrainingScenes]: ...
    @property
    def out(self) -> Path: ...
    @property
    def settings(self) -> Any: ...
    @property
    def seed(self) -> int: ...
    @property
    def fresh(self) -> bool: ...
    @property
    def every(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Learner:
    """What one kind of guesser brings: initial weights, a loss over `size` examples, and its files."""

    agent: str
    what: str
    base: str
    start: Weights
    loss: Loss
    size: int
    write: Callable[[Path, Weights], None]
    opened: Callable[[Path, Sequence[str], str], Guesser]


def finetune(
    task: GuesserTask, learner: Learner, casts: Casts, training: Mapping[str, TrainingScenes],
    held_out: Mapping[str, Sequence[Scene]], on: device, begun: float, progress: Progress,
) -> ModelFolder:  # fmt: skip
    """Train to the end, from where it was stopped if it was, and write the folder with its card and figures."""
    plan: dict[str, Any] = {
        "agent": learner.agent,
        "what": f"Guesses who is speaking: {learner.what}",
        "base": learner.base,
        "casts": casts.to_json(),
        "data": data_summary(training),
        "note": "Learned from scripts, and belongs to them: share it only if you may share them.",
        "settings": asdict(task.settings),
        "seed": task.seed,
    }
    # not bound to a device: it may be finished on another machine
    checkpoint = Checkpoint(checkpoint_folder(task.out), plan)
    if task.fresh:
        checkpoint.clear()
    learnt = fit(
        learner.start, learner.loss, learner.size, task.settings.optimization, task.seed, on, checkpoint, progress,
        task.every,
    )  # fmt: skip
    card = {**plan, "device": on.type, **provenance(time.perf_counter() - begun)}
    with atomic_folder(task.out) as folder:
        learner.write(folder, learnt)
        write_card(folder, card)
        card["figures"] = guessing_figures(lambda main: learner.opened(folder, main, on.type), task.lessons, held_out)
        write_card(folder, card)
    checkpoint.clear()
    return ModelFolder(card, {}, task.out)
