"""Guessers together, believed by what they say of scenes that none has learned from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from talkers import NAMES, PEOPLE, lessons, masked, personas, scenes
from understudy.bench.guessers import Chance, guesser_named
from understudy.bench.weighed import weighed
from understudy.dialogue import Guesser
from understudy.errors import AgentError
from understudy.guessing import Lessons, Masking, Vanilla
from understudy.model_folder import CARD, FORMAT
from understudy.training.guessing import Together
from understudy.training.guessing.readers import AGENT


class Noted:
    """Makes vanilla guessers, and keeps what each was made from."""

    def __init__(self) -> None:
        self.lessons: list[Lessons] = []

    def __call__(self, told: Lessons) -> Guesser:
        self.lessons.append(told)
        return Vanilla(told)


def folder_until(folder: Path, last: tuple[int, ...]) -> Path:
    folder.mkdir()
    told = {"agent": AGENT, "format": FORMAT, "casts": {"Sea": PEOPLE}, "data": {"Sea": {"last": last}}}
    (folder / CARD).write_text(json.dumps(told), encoding="utf-8")
    return folder


def test_weights_are_learned_from_scenes_that_nobody_had_seen(tmp_path: Path) -> None:
    made, told = Noted(), lessons(scenes(40))
    weighed([made], [folder_until(tmp_path / "a", (1, 25)), folder_until(tmp_path / "b", (1, 30))])(told)
    assert [len(one.scenes) for one in made.lessons] == [30, 40]
    weighed([made], [])(told)
    assert [len(one.scenes) for one in made.lessons[2:]] == [36, 40]


def test_where_all_was_seen_there_is_nothing_to_weigh_by(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="--held-back"):
        weighed([Noted()], [folder_until(tmp_path / "a", (1, 40))])(lessons(scenes(40)))


def test_who_knows_more_is_believed_more() -> None:
    together = weighed([Vanilla, lambda _told: Chance()], [])(lessons(scenes(60)))
    assert isinstance(together, Together) and together.weights[0] > 0.7 > together.weights[1]
    hits = []
    for one in Masking(PEOPLE, NAMES).scenes(scenes(20, seed=3)):
        for mask, found in together.guess(one.scene, personas(one.candidates)).items():
            hits.append(max(found, key=lambda name: found[name]) == one.answers[mask])
    assert np.mean(hits) > 0.9


def test_names_joined_by_plus_are_weighed_together() -> None:
    together = guesser_named("vanilla+random")(lessons(scenes(30)))
    assert isinstance(together, Together)
    one = masked(scenes(1, seed=5)[0])
    found = together.guess(one.scene, personas(one.candidates))
    assert sum(shares["Ann"] for shares in found.values()) == pytest.approx(1)
