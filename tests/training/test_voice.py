from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import speaking
from understudy.errors import InputError
from understudy.metrics import Samples
from understudy.metrics.voice import Cast, voice
from understudy.metrics.voice.model import PARTS, EarModel
from understudy.model_folder import read_model
from understudy.training.course import Task
from understudy.training.loop import unwatched
from understudy.training.speaker_vectors import VoiceSettings
from understudy.training.voice import train

SETTINGS = VoiceSettings(width=8, epochs=20, novels=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("novels")
    names = list(speaking.CAST)
    for part, numbers in (("train", range(6)), ("valid", (20, 21))):
        (folder / part).mkdir()
        for number in numbers:
            cast = {f"{name}{number}": speaking.CAST[name] for name in names[number % 2 : number % 2 + 3]}
            text = json.dumps(speaking.novel(number, 60, cast), ensure_ascii=False)
            (folder / part / f"{number:03}.json").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "voice"
    train(Task(data, out, SETTINGS, device="cpu"), unwatched)
    return out


def test_what_is_trained_hears_characters_it_has_not_met(model: Path) -> None:
    found = read_model(model, "voice")
    assert found.card["figures"]["auc"] > 0.9
    assert 0 <= found.card["figures"]["calibration_error"] < 0.5
    assert found.card["parts"] == list(PARTS)
    ear = EarModel.of(found)
    samples = Samples(speaking.novel(50, 30), "ja")
    metric = voice(samples, "爺", Cast(samples, ear))
    own, other = (metric.values(samples.cut(speaking.novel(51, 10)[name])).mean() for name in ("爺", "ケン"))
    assert own > other


def test_the_same_seed_gives_the_same_ear(data: Path, model: Path, tmp_path: Path) -> None:
    train(Task(data, tmp_path / "again", SETTINGS, device="cpu"), unwatched)
    first, again = (EarModel.of(read_model(folder, "voice")) for folder in (model, tmp_path / "again"))
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.weights, again.weights)


def test_a_training_that_was_stopped_goes_on(data: Path, model: Path, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, _total: int, _loss: float) -> None:
        if done == 25:
            raise Stopped

    task = Task(data, tmp_path / "voice", replace(SETTINGS, epochs=40), device="cpu", every=20)
    with pytest.raises(Stopped):
        train(task, stop)
    seen: list[int] = []
    train(task, lambda done, _total, _loss: seen.append(done))
    assert seen[0] == 21, "twenty steps were saved"


def test_a_folder_without_novels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no novels"):
        train(Task(tmp_path, tmp_path / "out", SETTINGS, device="cpu"), unwatched)
    (tmp_path / "train").mkdir()
    for name in "abc":
        (tmp_path / "train" / f"{name}.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="character"):
        train(Task(tmp_path, tmp_path / "out", SETTINGS, device="cpu"), unwatched)
