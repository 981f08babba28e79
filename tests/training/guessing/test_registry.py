"""Guessers together, believed by what they say of scenes that none has learned from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from speakers import CAST, lessons, talk
from talkers import NAMES, PEOPLE, masked, personas, scenes, training_scenes
from understudy.errors import AgentError, InputError
from understudy.guessing import GUESSERS, GuesserEntry
from understudy.guessing.assignment import named
from understudy.guessing.baselines import Vanilla
from understudy.guessing.scenes import Guesses, Masked, Masking, TrainingScenes, masks_of
from understudy.language.model_folder import CARD, FORMAT
from understudy.registry import Need, RegistryEntry
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.guessing.readers import AGENT
from understudy.training.guessing.registry import (
    WeightedGuessers,
    combined,
    find_assigned,
    find_guesser,
    find_guessers,
    fitted_weights,
    together_weights,
    unregistered,
    weighted_guessers,
)


class Noted:
    """Creates vanilla guessers, and notes what each was created from."""

    def __init__(self) -> None:
        self.training_scenes: list[TrainingScenes] = []

    def __call__(self, training: TrainingScenes) -> Guesser:
        self.training_scenes.append(training)
        return Vanilla(training)

    def of_folder(self, folder: Path, last: tuple[int, ...]) -> GuesserEntry:
        """By the name of a model folder that says until when it has learned."""
        folder.mkdir()
        card = {"agent": AGENT, "format": FORMAT, "casts": {"Sea": PEOPLE}, "data": {"Sea": {"last": last}}}
        (folder / CARD).write_text(json.dumps(card), encoding="utf-8")
        return RegistryEntry(str(folder), self, Need.MODEL)


@pytest.fixture
def model(tmp_path: Path) -> str:
    return Noted().of_folder(tmp_path / "who", (1, 25)).name


def test_weights_are_learned_from_scenes_that_nobody_had_seen(tmp_path: Path) -> None:
    noted, training = Noted(), training_scenes(scenes(40))
    trained = [noted.of_folder(tmp_path / "a", (1, 25)), noted.of_folder(tmp_path / "b", (1, 30))]
    weighted_guessers(trained)(training)
    assert [len(seen.scenes) for seen in noted.training_scenes] == [30, 30, 40, 40]
    noted = Noted()
    weighted_guessers([RegistryEntry("noted", noted), GUESSERS["random"]])(training)
    assert [len(seen.scenes) for seen in noted.training_scenes] == [36, 40]


def test_where_all_was_seen_there_is_nothing_to_weigh_by(tmp_path: Path) -> None:
    together = weighted_guessers([Noted().of_folder(tmp_path / "a", (1, 40)), GUESSERS["vanilla"]])
    with pytest.raises(AgentError, match="--held-back"):
        together(training_scenes(scenes(40)))


def test_who_knows_more_is_believed_more() -> None:
    together = weighted_guessers([GUESSERS["vanilla"], GUESSERS["random"]])(training_scenes(scenes(60)))
    assert isinstance(together, WeightedGuessers) and together.weights[0] > 0.7 > together.weights[1]
    hits = []
    for asked in Masking(PEOPLE, NAMES).scenes(scenes(20, seed=3)):
        for mask, shares in together.guess(asked.scene, personas(asked.candidates)).items():
            hits.append(max(shares, key=lambda name: shares[name]) == asked.answers[mask])
    assert np.mean(hits) > 0.9


def test_models_together_are_named_for_all_of_them() -> None:
    together = weighted_guessers(find_guessers(["vanilla", "random", "vanilla"]))
    assert together.name == "vanilla+random"
    guesser = together(training_scenes(scenes(30)))
    assert isinstance(guesser, WeightedGuessers)
    asked = masked(scenes(1, seed=5)[0])
    guesses = guesser.guess(asked.scene, personas(asked.candidates))
    assert sum(shares["Ann"] for shares in guesses.values()) == pytest.approx(1)


def test_several_stories_have_one_set_of_weights() -> None:
    guessers, stories = (
        find_guessers(["vanilla", "random"]),
        [training_scenes(scenes(60, seed=seed)) for seed in (1, 2)],
    )
    both, first, second = (together_weights(guessers, some) for some in (stories, stories[:1], stories[1:]))
    assert both.shape == (2,) and both[0] > max(first[0], second[0])  # two agree: less is held to the beginning


def test_one_person_behind_each_mask_is_an_option_for_what_has_no_name(model: str) -> None:
    assert unregistered(find_guessers(["joint", model, "random"])) == {model}
    assert find_assigned(model).name == f"{model}+assigned"
    assert Need.MODEL in find_assigned(model).needs
    for registered in ("joint", "vanilla+assigned"):
        with pytest.raises(AgentError, match="have names for it, such as 'vanilla\\+assigned'"):
            find_assigned(registered)
    with pytest.raises(AgentError, match="have names for it"):
        unregistered(find_guessers(["joint", "random"]))


def test_one_model_is_not_weighted() -> None:
    with pytest.raises(AgentError, match="name two or more"):
        weighted_guessers(find_guessers(["joint", "joint"]))


def test_what_is_an_option_now_is_advised(model: str) -> None:
    with pytest.raises(AgentError, match=f"name '{model}' and add --assigned"):
        find_guesser(f"{model}+assigned")
    with pytest.raises(AgentError, match=f"name joint,{model} and add --together"):
        find_guesser(f"joint+{model}")
    with pytest.raises(AgentError, match="knows people by their own names"):
        find_guesser(model, "swap")


def test_a_folder_may_have_a_plus_in_its_name(tmp_path: Path) -> None:
    folder = Noted().of_folder(tmp_path / "who+assigned", (1, 25)).name
    assert find_guesser(folder).name == folder


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
    for scene in asked(seed=3)[:5]:
        said = [guesser.guess(scene.scene, people(scene)) for guesser in guessers]
        assert combined(said, weights) == WeightedGuessers(guessers, weights).guess(scene.scene, people(scene))
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
