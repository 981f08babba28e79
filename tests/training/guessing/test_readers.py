"""Readers learn who talks how, and open again as they were."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from speakers import CAST, lessons, scene, talk, tiny_reader
from understudy.errors import AgentError, InputError
from understudy.guessing.scenes import Masking, TrainingScenes
from understudy.language.model_folder import CARD
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.training.guessing.readers import WEIGHTS, ReaderSettings, open_reader, train_reader
from understudy.training.guessing.scene_tokens import KINDS, InputFormat
from understudy.training.run import TrainingTask, checkpoint_folder

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("transformers", reason="training needs the extra 'train'")

PEOPLE = [Persona(name) for name in CAST]


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bases")
    return {kind: tiny_reader(folder / kind, kind) for kind in ("causal", "masked", "long")}


def settings(kind: str, epochs: int = 5) -> ReaderSettings:
    vanilla = kind == "vanilla"
    return ReaderSettings(
        InputFormat(kind, row=24), epochs, 8, 3e-3, 0.0, together=0.0 if vanilla else 1.0, among_cast=vanilla
    )


def right(guesser: Guesser, taught: TrainingScenes, scenes: Sequence[Scene]) -> float:
    """The share of masks whose likeliest candidate is who they are."""
    masking, hits = Masking(taught.main, taught.names, seed=99), list[bool]()
    for masked in masking.scenes(scenes):
        guesses = guesser.guess(masked.scene, [Persona(name) for name in masked.candidates])
        assert guesses.keys() == masked.answers.keys()
        for mask, probabilities in guesses.items():
            assert probabilities.keys() == set(masked.candidates) and sum(probabilities.values()) == pytest.approx(1)
            hits.append(max(probabilities, key=lambda name: probabilities[name]) == masked.answers[mask])
    return float(np.mean(hits))


@pytest.mark.parametrize(
    ("kind", "base"),
    [*((kind, "masked") for kind in KINDS), ("scene-pooling", "causal"), ("scene-pooling", "long")],
)
def test_who_says_what_is_learned(kind: str, base: str, bases: Mapping[str, Path], tmp_path: Path) -> None:
    taught = lessons(talk(80, seed=1))
    train_reader(TrainingTask({"Keys": taught}, tmp_path / "model", settings(kind), bases[base], device="cpu"))
    guesser = open_reader(tmp_path / "model", CAST, "cpu")
    assert right(guesser, taught, talk(30, seed=2)) > 0.8
    assert guesser.guess(scene(1, ("Pilot", "no more dawn")), PEOPLE) == {}


def called(count: int, seed: int) -> list[Scene]:
    """Only who is called before they speak tells them apart."""
    chance = np.random.default_rng(seed)
    scenes = []
    for number in range(1, count + 1):
        there = chance.permutation(CAST)[:2].tolist()
        lines = [turn for who in there for turn in (("Pilot", f"{who} ?"), (who, "I like dawn"))]
        scenes.append(scene(number, *lines, chapter=seed))
    return scenes


def test_a_reader_of_scenes_learns_from_what_others_say_and_vanilla_cannot(
    bases: Mapping[str, Path], tmp_path: Path
) -> None:
    taught, judged = lessons(called(60, seed=1)), called(40, seed=2)
    shares = {}
    for kind in ("vanilla", "multi-row"):
        task = TrainingTask({"Keys": taught}, tmp_path / kind, settings(kind, epochs=8), bases["masked"], device="cpu")
        train_reader(task)
        shares[kind] = right(open_reader(tmp_path / kind, CAST, "cpu"), taught, judged)
    assert shares["vanilla"] < 0.7 and shares["multi-row"] > 0.8


def told_on(count: int, seed: int) -> list[Scene]:
    """In a chapter's first scene somebody takes up dawn; in its second, who speaks of it is that one."""
    chance = np.random.default_rng(seed)
    scenes = []
    for chapter in range(1, count + 1):
        first, second = chance.permutation(CAST)[:2].tolist()
        scenes.append(scene(1, (first, "I like dawn"), ("Pilot", "no more"), chapter=chapter))
        scenes.append(scene(2, (second, "where are the"), (first, "I like dawn"), chapter=chapter))
    return scenes


def test_what_happened_just_before_tells_who_goes_on_with_it(bases: Mapping[str, Path], tmp_path: Path) -> None:
    taught, reading = lessons(told_on(60, seed=1)), InputFormat("scene-pooling", history=40)
    read = ReaderSettings(reading, epochs=40, batch=8, rate=2e-3, dropout=0.0, together=1.0)
    train_reader(TrainingTask({"Keys": taught}, tmp_path / "model", read, bases["masked"], device="cpu"))
    guesser = open_reader(tmp_path / "model", CAST, "cpu")
    masking, hits = Masking(taught.main, taught.names), list[bool]()
    for told in told_on(25, seed=2):
        masked = masking.masked(told)
        if len(masked.answers) > 1:
            guesses = guesser.guess(masked.scene, [Persona(name) for name in masked.candidates])
            hits += [max(shares, key=shares.__getitem__) == masked.answers[mask] for mask, shares in guesses.items()]
        guesser.remember(told)
    assert np.mean(hits) > 0.8  # every one, whatever the seed; without what happened before it is a guess


def test_without_history_what_happened_before_changes_no_answer(bases: Mapping[str, Path], tmp_path: Path) -> None:
    taught, before = lessons(told_on(16, seed=1)), told_on(1, seed=2)
    for history in (0, 40):
        out, reading = tmp_path / str(history), InputFormat("scene-pooling", history=history)
        train_reader(TrainingTask({"Keys": taught}, out, ReaderSettings(reading, 1, 8), bases["masked"], device="cpu"))
        asked = scene(2, ("P0", "where are the"), ("P1", "I like dawn"))
        fresh, told = (open_reader(out, CAST, "cpu") for _ in range(2))
        told.remember(before[0])
        assert (fresh.guess(asked, PEOPLE) == told.guess(asked, PEOPLE)) is (history == 0)


def test_how_masks_are_numbered_changes_nothing_in_an_answer(bases: Mapping[str, Path], tmp_path: Path) -> None:
    taught = {"Keys": lessons(talk(16, seed=1))}
    train_reader(TrainingTask(taught, tmp_path / "model", settings("scene-pooling", 1), bases["masked"], device="cpu"))
    guesser = open_reader(tmp_path / "model", CAST, "cpu")
    told = ("I like keys", "no more bees", "where are the")
    first = guesser.guess(scene(1, *zip(("P0", "P1", "P2"), told)), PEOPLE)
    other = guesser.guess(scene(1, *zip(("P1", "P2", "P0"), told)), PEOPLE)
    for mask, same in (("P0", "P1"), ("P1", "P2"), ("P2", "P0")):
        assert first[mask] == pytest.approx(other[same], abs=1e-5)


class Stopped(Exception):
    pass


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(bases: Mapping[str, Path], tmp_path: Path) -> None:
    taught = {"Keys": lessons(talk(24, seed=1))}

    def task(out: str) -> TrainingTask[Any, ReaderSettings]:
        return TrainingTask(taught, tmp_path / out, settings("multi-row", 2), bases["masked"], device="cpu", every=2)

    def stop(done: int, _total: int, _loss: float) -> None:
        if done == 4:
            raise Stopped

    train_reader(task("whole"))
    with pytest.raises(Stopped):
        train_reader(task("parts"), stop)
    assert checkpoint_folder(tmp_path / "parts").is_dir() and not (tmp_path / "parts").exists()
    train_reader(task("parts"))
    for file in (WEIGHTS, "model.safetensors"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "parts" / file).read_bytes()
    assert not checkpoint_folder(tmp_path / "parts").exists()


def test_two_stories_are_learned_at_once_and_asked_about_apart(bases: Mapping[str, Path], tmp_path: Path) -> None:
    """A namesake in another story is somebody else: here Ines and Vera have changed places."""
    swapped = {"Ines": "Vera", "Vera": "Ines"}
    others = [
        scene(number, *((swapped.get(str(line.speaker), line.speaker), line.text) for line in talked.lines))
        for number, talked in enumerate(talk(80, seed=3), 1)
    ]
    taught = {"Keys": lessons(talk(80, seed=1)), "Bees": lessons(others, ("Ines", "Tobias", "Vera", "Pilot"))}
    train_reader(TrainingTask(taught, tmp_path / "model", settings("vanilla"), bases["masked"], device="cpu"))
    assert right(open_reader(tmp_path / "model", CAST, "cpu"), taught["Keys"], talk(20, seed=4)) > 0.8
    assert right(open_reader(tmp_path / "model", (*CAST, "Pilot"), "cpu"), taught["Bees"], others[:20]) > 0.8


def test_a_model_folder_that_does_not_fit_is_refused(bases: Mapping[str, Path], tmp_path: Path) -> None:
    taught, out = {"Keys": lessons(talk(16, seed=1))}, tmp_path / "model"
    task = TrainingTask(taught, out, settings("vanilla", 1), bases["masked"], device="cpu")
    train_reader(task)
    with pytest.raises(InputError, match="is there already"):
        train_reader(task)
    with pytest.raises(AgentError, match="no story with Ines, Rolf"):
        open_reader(out, ("Ines", "Rolf"), "cpu")
    with pytest.raises(AgentError, match="was not taught who Rolf"):
        open_reader(out, CAST, "cpu").guess(scene(1, ("P0", "I like keys")), [Persona("Rolf")])
    card = json.loads((out / CARD).read_text())
    for part, said in (("casts", "whom it was taught"), ("settings", "how scenes are read")):
        (out / CARD).write_text(json.dumps({**card, part: {}}))
        with pytest.raises(InputError, match=said):
            open_reader(out, CAST, "cpu")
    (out / CARD).write_text(json.dumps({**card, "casts": {"Keys": [*CAST, "Pilot"]}}))
    with pytest.raises(InputError, match="does not fit"):
        open_reader(out, CAST, "cpu")


def test_settings_that_cannot_be_are_refused() -> None:
    for wrong in ({"epochs": 0}, {"rate": 0.0}, {"dropout": 1.0}, {"together": -1.0}, {"held_back": 1.0}):
        with pytest.raises(InputError):
            ReaderSettings(**wrong)
