"""What is held back from a guesser, and what it is found to be worth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from speakers import CAST, lessons, scene, talk
from understudy.errors import AgentError, InputError, StoryError
from understudy.guessing.assignment import named
from understudy.guessing.scenes import Guesses, masks_of
from understudy.language.model_folder import CARD, FORMAT
from understudy.story.persona import Persona
from understudy.story.types import Moment, Scene
from understudy.training.guessing import data_summary, guessing_figures, held_back
from understudy.training.guessing.readers import AGENT
from understudy.training.guessing.registry import learned_until, open_guesser


def test_the_last_scenes_of_each_story_are_held_back() -> None:
    stories = {"Keys": lessons(talk(20, seed=1)), "Bees": lessons(talk(10, seed=2))}
    training, held_out = held_back(stories, 0.25)
    assert {title: [scene_held.moment.numbers[-1] for scene_held in scenes] for title, scenes in held_out.items()} == {
        "Keys": [16, 17, 18, 19, 20],
        "Bees": [9, 10],
    }
    assert [*training["Keys"].scenes, *held_out["Keys"]] == talk(20, seed=1)
    assert data_summary(training)["Bees"] == {
        "scenes": 8,
        "lines": sum(len(scene_held.lines) for scene_held in talk(10, seed=2)[:8]),
        "last": [1, 2, 8],
    }
    assert (
        held_back(stories, 0.0)[0] == stories
        and guessing_figures(lambda _main: Fixed([]), stories, held_back(stories, 0.0)[1]) == {}
    )
    with pytest.raises(StoryError, match="nothing to learn from"):
        held_back({"Keys": lessons([scene(1, ("Pilot", "dawn")), scene(2, ("Ines", "keys"))])}, 0.5)


class Fixed:
    """Says what it was told to, in the order of the masks' names; and keeps what it is told."""

    def __init__(self, table: Sequence[Sequence[float]]) -> None:
        self._table = np.array(table)
        self.remembered: list[Scene] = []

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        return named(masks, [persona.name for persona in personas], self._table[: len(masks), : len(personas)])

    def remember(self, scene: Scene) -> None:
        self.remembered.append(scene)


def test_figures_are_of_masks_alone_and_of_whole_assignments() -> None:
    """The first to speak is taken for Ines both times, and the second too where each is asked alone."""
    stories = {"Keys": lessons([scene(1, ("Ines", "keys"), ("Vera", "wax"))])}
    held_out = {"Keys": [scene(2, ("Ines", "keys"), ("Vera", "wax")), scene(3, ("Pilot", "dawn"), ("Ines", "keys"))]}
    guesser = Fixed([[0.9, 0.1], [0.6, 0.4]])
    figures = guessing_figures(lambda _main: guesser, stories, held_out)
    assert figures == {
        "speakers": 2,
        "accuracy": {"all": 0.5, "Keys": 0.5},
        "assigned": {"all": 1.0, "Keys": 1.0},
    }
    assert guesser.remembered == held_out["Keys"]


def card(folder: Path, **more: object) -> Path:
    document = {"agent": AGENT, "format": FORMAT, "casts": {"Keys": list(CAST)}, "data": {"Keys": {"last": [1, 1, 7]}}}
    (folder / CARD).write_text(json.dumps({**document, **more}), encoding="utf-8")
    return folder


def test_a_model_is_not_asked_about_what_it_has_learned_from(tmp_path: Path) -> None:
    card(tmp_path)
    assert learned_until(tmp_path, lessons(talk(9, seed=1))) == Moment((1, 1, 7))
    with pytest.raises(AgentError, match=r"scenes up to 1\.1\.7"):
        open_guesser(tmp_path, lessons(talk(6, seed=1)))
    with pytest.raises(AgentError, match="no story with Ines, Rolf"):
        learned_until(tmp_path, lessons(talk(9, seed=1), ("Ines", "Rolf")))


@pytest.mark.parametrize("last", [None, [], [-1], "1.1", ["x"]])
def test_a_card_that_does_not_say_until_when_is_refused(tmp_path: Path, last: object) -> None:
    with pytest.raises(InputError, match="from what it has learned"):
        learned_until(card(tmp_path, data={"Keys": {"last": last}}), lessons(talk(9, seed=1)))


def test_a_model_for_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="guesses nobody"):
        open_guesser(card(tmp_path, agent="encoder"), lessons(talk(9, seed=1)))
