"""Guessers together, believed by what they say of scenes that none has learned from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from talkers import NAMES, PEOPLE, masked, personas, scenes, training_scenes
from understudy.dialogue import Guesser
from understudy.errors import AgentError
from understudy.guessing import Masking, TrainingScenes, Vanilla
from understudy.guessing.baselines import RandomGuesser
from understudy.model_folder import CARD, FORMAT
from understudy.training.guessing import WeightedGuessers
from understudy.training.guessing.readers import AGENT
from understudy.training.guessing.registry import guesser_named, weighted_guessers


class Noted:
    """Makes vanilla guessers, and keeps what each was made from."""

    def __init__(self) -> None:
        self.training_scenes: list[TrainingScenes] = []

    def __call__(self, told: TrainingScenes) -> Guesser:
        self.training_scenes.append(told)
        return Vanilla(told)


def folder_until(folder: Path, last: tuple[int, ...]) -> Path:
    folder.mkdir()
    told = {"agent": AGENT, "format": FORMAT, "casts": {"Sea": PEOPLE}, "data": {"Sea": {"last": last}}}
    (folder / CARD).write_text(json.dumps(told), encoding="utf-8")
    return folder


def test_weights_are_learned_from_scenes_that_nobody_had_seen(tmp_path: Path) -> None:
    made, told = Noted(), training_scenes(scenes(40))
    weighted_guessers([made], [folder_until(tmp_path / "a", (1, 25)), folder_until(tmp_path / "b", (1, 30))])(told)
    assert [len(one.scenes) for one in made.training_scenes] == [30, 40]
    weighted_guessers([made], [])(told)
    assert [len(one.scenes) for one in made.training_scenes[2:]] == [36, 40]


def test_where_all_was_seen_there_is_nothing_to_weigh_by(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="--held-back"):
        weighted_guessers([Noted()], [folder_until(tmp_path / "a", (1, 40))])(training_scenes(scenes(40)))


def test_who_knows_more_is_believed_more() -> None:
    together = weighted_guessers([Vanilla, lambda _told: RandomGuesser()], [])(training_scenes(scenes(60)))
    assert isinstance(together, WeightedGuessers) and together.weights[0] > 0.7 > together.weights[1]
    hits = []
    for one in Masking(PEOPLE, NAMES).scenes(scenes(20, seed=3)):
        for mask, found in together.guess(one.scene, personas(one.candidates)).items():
            hits.append(max(found, key=lambda name: found[name]) == one.answers[mask])
    assert np.mean(hits) > 0.9


def test_names_joined_by_plus_are_weighed_together() -> None:
    together = guesser_named("vanilla+random")(training_scenes(scenes(30)))
    assert isinstance(together, WeightedGuessers)
    one = masked(scenes(1, seed=5)[0])
    found = together.guess(one.scene, personas(one.candidates))
    assert sum(shares["Ann"] for shares in found.values()) == pytest.approx(1)
