"""Guessers whose transformer is fine-tuned: what they share. Casts as classes, held-back scenes, the model's folder.

    readers    vanilla, multi-row, scene-pooling: the states of a mask's tokens are pooled, and a show's own classifier
               says who it is. Any encoder or causal model in Hugging Face's layout, by default the installed MiniLM.
    naming     a causal model learns the scenes with their names; the names that make a scene likeliest are guessed.

One model learns from several shows at once. No such model is shipped: it reproduces the scripts it has learned from.
The last scenes of each story are held back, since that is how a guesser is used: it learns from what came before and
is asked about what comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import AgentError, InputError
from understudy.guessing.assignment import best_assignment, log_table
from understudy.guessing.scenes import Guesses, Masked, Masking, TrainingScenes, guess_in_order
from understudy.language.model_folder import write_card
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.run import TrainingRun

HELD_BACK = 0.05
Stories = Mapping[str, TrainingScenes]
"""Scenes to learn from, by the title of their story."""
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


def held_back(lessons: Stories, share: float) -> tuple[dict[str, TrainingScenes], Held]:
    """Of each story what is learned from, and the last scenes, a share of all."""
    training, held_out = {}, {}
    for title, story_lessons in lessons.items():
        cut = len(story_lessons.scenes) - int(len(story_lessons.scenes) * share)
        training[title] = replace(story_lessons, scenes=story_lessons.scenes[:cut])
        held_out[title] = story_lessons.scenes[cut:]
    return training, held_out


def data_summary(lessons: Stories) -> dict[str, Any]:
    """What a card says of the lessons, story by story; `last` is the moment of the last scene."""
    return {
        title: {
            "scenes": len(story_lessons.scenes),
            "lines": sum(len(scene.lines) for scene in story_lessons.scenes),
            "last": list(story_lessons.scenes[-1].moment.numbers),
        }
        for title, story_lessons in lessons.items()
    }


def guessing_figures(opened: Callable[[Sequence[str]], Guesser], lessons: Stories, held_out: Held) -> dict[str, Any]:
    """The share of speakers told right in scenes held back, and with one person behind each mask (`assigned`)."""
    hits: dict[str, list[tuple[bool, bool]]] = {}
    for title, scenes in held_out.items():
        masking = Masking(lessons[title].main, lessons[title].names)
        scenes_to_guess = [(scene, len(masking.masked(scene).answers) > 1) for scene in scenes]
        if any(has_choice for _, has_choice in scenes_to_guess):
            results = guess_in_order(opened(lessons[title].main), scenes_to_guess, masking, unknown_people)
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


def unknown_people(names: Sequence[str], scene: Scene) -> Sequence[Persona]:
    """The candidates of a scene, of whom only the names are known."""
    return [Persona(name, scene.moment) for name in names]


def _hits(masked: Masked, guesses: Guesses) -> list[tuple[bool, bool]]:
    """Whether each mask is told right by its own likeliest candidate, and in the likeliest assignment."""
    names = masked.candidates
    table = log_table(guesses, names)
    right = np.array([names.index(masked.answers[mask]) for mask in guesses])
    return list(zip((table.argmax(axis=1) == right).tolist(), (best_assignment(table) == right).tolist()))


def begin(run: TrainingRun, agent: str, what: str, base: str, casts: Casts, training: Stories) -> None:
    """The plan of a guesser's training."""
    run.begin(
        {
            "agent": agent,
            "what": f"Guesses who is speaking: {what}",
            "base": base,
            "casts": casts.to_json(),
            "data": data_summary(training),
            "note": "Learned from scripts, and belongs to them: share it only if you may share them.",
        }
    )


def write_figures(
    run: TrainingRun, folder: Path, opened: Callable[[Path, Sequence[str], str], Guesser], held_out: Held
) -> dict[str, Any]:
    """Write the card of a folder whose weights are written; the figures are those of the guesser opened from it."""
    card = run.card()
    write_card(folder, card)
    device = run.device.type
    card["figures"] = guessing_figures(lambda main: opened(folder, main, device), run.task.data, held_out)
    write_card(folder, card)
    return card
