"""Several guessers, each believed as far as it deserves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from speakers import CAST, lessons, talk
from understudy.errors import InputError
from understudy.guessing import Guesses, Masked, Masking
from understudy.guessing.assignment import named
from understudy.guessing.scenes import masks_of
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.guessing.registry import WeightedGuessers, combined, fitted_weights

LISTENS = {"keys": "Ines", "locks": "Ines", "doors": "Ines", "boats": "Tobias", "tides": "Tobias", "oars": "Tobias"}


class Listener:
    """Knows two people by what they talk of; the third it never heard."""

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks, names = masks_of(masked), [persona.name for persona in personas]
        table = np.full((len(masks), len(names)), 0.1)
        for line in masked.lines:
            who = LISTENS.get(line.text.split()[-1])
            if line.speaker in masks and who in names:
                table[masks.index(line.speaker), names.index(who)] = 1.0
        return named(masks, names, table / table.sum(axis=1, keepdims=True))


class Misled:
    """As sure as the other, of the first that comes."""

    def __init__(self) -> None:
        self.remembered: list[Scene] = []

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks, names = masks_of(masked), [persona.name for persona in personas]
        table = np.full((len(masks), len(names)), 0.1) + np.eye(len(masks), len(names))
        return named(masks, names, table / table.sum(axis=1, keepdims=True))

    def remember(self, scene: Scene) -> None:
        self.remembered.append(scene)


def asked(seed: int) -> list[Masked]:
    return list(Masking(CAST, lessons(talk(1, 1)).names, seed=seed).scenes(talk(40, seed)))


def people(masked: Masked) -> list[Persona]:
    return [Persona(name) for name in masked.candidates]


def right(guesser: Listener | Misled | WeightedGuessers, scenes: Sequence[Masked]) -> float:
    hits = [
        max(probabilities, key=lambda name: probabilities[name]) == masked.answers[mask]
        for masked in scenes
        for mask, probabilities in guesser.guess(masked.scene, people(masked)).items()
    ]
    return float(np.mean(hits))


def test_who_knows_more_weighs_more_and_one_place_is_for_one_person() -> None:
    guessers: list[Listener | Misled] = [Listener(), Misled()]
    held_back = asked(seed=1)
    predictions = [[guesser.guess(masked.scene, people(masked)) for masked in held_back] for guesser in guessers]
    together = WeightedGuessers(guessers, fitted_weights(held_back, predictions))
    assert together.weights[0] > 5 * together.weights[1]
    fresh = asked(seed=2)
    assert right(together, fresh) == 1.0 > right(guessers[0], fresh) > right(guessers[1], fresh)


def test_what_was_said_already_is_combined_as_if_it_were_asked_for() -> None:
    guessers: list[Listener | Misled] = [Listener(), Misled()]
    weights = np.array([0.7, 0.2])
    for masked in asked(seed=3)[:5]:
        said = [guesser.guess(masked.scene, people(masked)) for guesser in guessers]
        assert combined(said, weights) == WeightedGuessers(guessers, weights).guess(masked.scene, people(masked))
    assert combined([{}, {}], weights) == {}


def test_what_is_told_reaches_those_who_remember() -> None:
    misled = Misled()
    scenes = talk(3, seed=1)
    together = WeightedGuessers([Listener(), misled], [1.0, 1.0])
    for scene in scenes:
        together.remember(scene)
    assert misled.remembered == scenes


def test_each_guesser_needs_a_weight_and_there_must_be_scenes_to_weigh_by() -> None:
    with pytest.raises(InputError, match="2 guessers and 1 weights"):
        WeightedGuessers([Listener(), Misled()], [1.0])
    with pytest.raises(InputError, match="no scene to weigh"):
        fitted_weights([], [[]])
