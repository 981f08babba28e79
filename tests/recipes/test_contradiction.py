from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recipes.contradiction.train import ContradictionSettings, train
from understudy.errors import InputError
from understudy.language.model_folder import read_model
from understudy.metrics.contradiction import ContradictionModel
from understudy.training.bob_examples import read_nli_pairs
from understudy.training.loop import no_progress
from understudy.training.run import TrainingTask

SETTINGS = ContradictionSettings(width=8, epochs=15, batch=16)
JOBS = ("nurse", "lawyer", "baker", "sailor", "teacher", "farmer")


def pairs(start: int) -> str:
    lines = []
    for number, job in enumerate(JOBS):
        other, thing = JOBS[(number + start) % len(JOBS)], ("dog", "cat", "car")[number % 3]
        lines += [f"i am a {job} .</s>i work as a {other} .</s>negative"]
        lines += [f"i am a {job} .</s>i work as a {job} .</s>positive"]
        lines += [f"i am a {job} .</s>i have a {thing} .</s>neutral"]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "nli-train.txt").write_text("\n".join(pairs(start) for start in (1, 2, 3)))
    (folder / "nli-valid.txt").write_text(pairs(4))
    return folder


@pytest.mark.thorough
def test_what_is_trained_beats_the_most_frequent_label_and_can_be_read(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    train(TrainingTask(data, out, SETTINGS, device="cpu"), no_progress)
    trained = read_model(out, "contradiction")
    figures = trained.card["figures"]
    assert figures["accuracy"]["value"] > figures["accuracy of the most frequent label"]["value"]
    assert figures["accuracy"]["low"] <= figures["accuracy"]["value"] <= figures["accuracy"]["high"]
    ContradictionModel.of(trained)
    train(TrainingTask(data, tmp_path / "again", SETTINGS, device="cpu"), no_progress)
    again = read_model(tmp_path / "again", "contradiction")
    assert all(np.array_equal(trained.tensors[name], again.tensors[name]) for name in trained.tensors)


def test_files_that_are_not_pairs_are_refused_with_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nli-train.txt and nli-valid.txt"):
        read_nli_pairs(tmp_path / "nli-train.txt")
    for text, problem in (("a</s>b</s>maybe", "line 1"), ("a</s>b", "line 1"), ("", "empty")):
        (tmp_path / "nli-train.txt").write_text(text)
        with pytest.raises(InputError, match=problem):
            read_nli_pairs(tmp_path / "nli-train.txt")
