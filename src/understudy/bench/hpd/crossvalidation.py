"""Judging what learns from the sessions it is judged on: every session by models that have not seen it.

Sessions are dealt into folds, each fold is judged by a model that was fitted on the others, and all of that is repeated
with other folds. Sessions of the same scene are never parted: one must not be learned from where the other is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from understudy.dialogue import Example
from understudy.errors import InputError

__all__ = ["FEWEST_SCENES", "FOLDS", "REPEATS", "TOO_FEW", "Fold", "cross_validate", "folds_of", "scenes_of"]

FOLDS, REPEATS = 10, 10
FEWEST_SCENES = 2
TOO_FEW = "there are too few sessions to learn from some and judge on others: give another file to learn from (--train)"

Model = TypeVar("Model")
Scores = list[list[float]]


@dataclass(frozen=True, slots=True)
class Fold:
    """Indices of sessions: those to learn from, and those to be judged."""

    training: tuple[int, ...]
    judged: tuple[int, ...]


def scenes_of(examples: Sequence[Example]) -> list[str]:
    """What each session must not be parted from: its scene, or nothing but itself where it has none."""
    return [example.situation.setting.strip() or example.name for example in examples]


def folds_of(scenes: Sequence[str], folds: int, seed: int) -> Iterator[Fold]:
    """Every session is judged in one fold; as even as scenes allow. Two scenes are needed at least."""
    by_scene: dict[str, list[int]] = {}
    for index, scene in enumerate(scenes):
        by_scene.setdefault(scene, []).append(index)
    if len(by_scene) < FEWEST_SCENES:
        raise InputError(TOO_FEW)
    groups = list(by_scene.values())
    order = np.random.default_rng(seed).permutation(len(groups)).tolist()
    for first in range(min(folds, len(groups))):
        judged = sorted(index for position in order[first::folds] for index in groups[position])
        yield Fold(tuple(sorted(set(range(len(scenes))) - set(judged))), tuple(judged))


def cross_validate(
    scenes: Sequence[str],
    fit: Callable[[Sequence[int]], Model],
    scores: Callable[[Model, int], list[float]],
    seed: int = 0,
    folds: int = FOLDS,
    repeats: int = REPEATS,
) -> list[Scores]:
    """For each repeat, the scores of every session's candidates by the model that was fitted without it.

    `scenes` says which sessions must not be parted (`scenes_of`). `fit` takes the sessions to learn from; `scores`
    scores the candidates of one session.
    """
    results: list[Scores] = []
    for repeat in range(repeats):
        judged: dict[int, list[float]] = {}
        for fold in folds_of(scenes, folds, seed * repeats + repeat):
            model = fit(fold.training)
            judged |= {index: scores(model, index) for index in fold.judged}
        results.append([judged[index] for index in range(len(scenes))])
    return results
