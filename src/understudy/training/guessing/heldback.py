"""Scenes at the end of each story that a guesser does not learn from: they tell what it is worth.

That is in order of time, as a guesser is used: learned from what came before, asked about what comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from understudy.dialogue import Guesser
from understudy.errors import InputError
from understudy.guessing import Guesses, Masked, Masking, TrainingScenes, guess_in_order
from understudy.guessing.assignment import LEAST, best_assignment
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["HELD_BACK", "figures_of", "held_back", "learned", "share_checked"]

HELD_BACK = 0.05
Held = Mapping[str, Sequence[Scene]]


def share_checked(share: float) -> None:
    if not 0 <= share < 1:
        raise InputError(f"held_back is a share from 0 to below 1, not {share}")


def held_back(lessons: Mapping[str, TrainingScenes], share: float) -> tuple[dict[str, TrainingScenes], Held]:
    """Of each story what is learned from, and the last scenes, a share of all."""
    taught, held = {}, {}
    for title, told in lessons.items():
        cut = len(told.scenes) - int(len(told.scenes) * share)
        taught[title] = replace(told, scenes=told.scenes[:cut])
        held[title] = told.scenes[cut:]
    return taught, held


def learned(lessons: Mapping[str, TrainingScenes]) -> dict[str, Any]:
    """What a card says of the lessons, story by story; `last` is the moment of the last scene."""
    return {
        title: {
            "scenes": len(told.scenes),
            "lines": sum(len(scene.lines) for scene in told.scenes),
            "last": list(told.scenes[-1].moment.numbers),
        }
        for title, told in lessons.items()
    }


def figures_of(
    opened: Callable[[Sequence[str]], Guesser], lessons: Mapping[str, TrainingScenes], held: Held
) -> dict[str, Any]:
    """The share of speakers told right in scenes held back, and with one person behind each mask (`assigned`)."""
    hits: dict[str, list[tuple[bool, bool]]] = {}
    for title, scenes in held.items():
        masking = Masking(lessons[title].main, lessons[title].names)
        asked = [(scene, len(masking.masked(scene).answers) > 1) for scene in scenes]
        if any(one for _, one in asked):
            found = guess_in_order(opened(lessons[title].main), asked, masking, _people)
            hits[title] = [hit for masked, guesses in found for hit in _hits(masked, guesses)]
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
    table = np.log([[max(found[name], LEAST) for name in names] for found in guesses.values()])
    right = np.array([names.index(masked.answers[mask]) for mask in guesses])
    return list(zip((table.argmax(axis=1) == right).tolist(), (best_assignment(table) == right).tolist()))
