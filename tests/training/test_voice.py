from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import measured
from understudy.errors import InputError
from understudy.language.model_folder import read_model
from understudy.metrics import Samples
from understudy.metrics.voice import VoiceCast, voice
from understudy.metrics.voice.model import PARTS, VoiceModel
from understudy.training.loop import no_progress
from understudy.training.run import TrainingTask
from understudy.training.voice import VoiceSettings, train

SETTINGS = VoiceSettings(width=8, epochs=20, novels=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("novels")
    names = list(measured.CAST)
    for part, numbers in (("train", range(6)), ("valid", (20, 21))):
        (folder / part).mkdir()
        for number in numbers:
            cast = {f"{name}{number}": measured.CAST[name] for name in names[number % 2 : number % 2 + 3]}
            text = json.dumps(measured.novel(number, 60, cast), ensure_ascii=False)
            (folder / part / f"{number:03}.json").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "voice"
    train(TrainingTask(data, out, SETTINGS, device="cpu"), no_progress)
    return out


def test_what_is_trained_hears_characters_it_has_not_met(model: Path) -> None:
    trained = read_model(model, "voice")
    assert trained.card["figures"]["auc"] > 0.75  # .9, whatever the seed: some lines anybody might say
    assert 0 <= trained.card["figures"]["calibration_error"] < 0.25
    assert trained.card["parts"] == list(PARTS)
    ear = VoiceModel.of(trained)
    samples = Samples(measured.novel(50, 30), "ja")
    metric = voice(samples, "爺", VoiceCast(samples, ear))
    own, other = (metric.values(samples.tokenize(measured.novel(51, 10)[name])).mean() for name in ("爺", "ケン"))
    assert own > 0.7 and other < 0.3


def test_the_same_seed_gives_the_same_ear(data: Path, model: Path, tmp_path: Path) -> None:
    train(TrainingTask(data, tmp_path / "again", SETTINGS, device="cpu"), no_progress)
    first, again = (VoiceModel.of(read_model(folder, "voice")) for folder in (model, tmp_path / "again"))
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.weights, again.weights)


def test_a_training_that_was_stopped_goes_on(data: Path, model: Path, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, _total: int, _loss: float) -> None:
        if done == 25:
            raise Stopped

    task = TrainingTask(data, tmp_path / "voice", replace(SETTINGS, epochs=40), device="cpu", every=20)
    with pytest.raises(Stopped):
        train(task, stop)
    seen: list[int] = []
    train(task, lambda done, _total, _loss: seen.append(done))
    assert seen[0] == 21, "twenty steps were saved"


def test_a_folder_without_novels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no novels"):
        train(TrainingTask(tmp_path, tmp_path / "out", SETTINGS, device="cpu"), no_progress)
    (tmp_path / "train").mkdir()
    for name in "abc":
        (tmp_path / "train" / f"{name}.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="character"):
        train(TrainingTask(tmp_path, tmp_path / "out", SETTINGS, device="cpu"), no_progress)
