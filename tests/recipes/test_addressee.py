from __future__ import annotations

from pathlib import Path

from novel_texts import write_talks
from recipes.addressee.train import AddresseeSettings, train
from understudy.language.model_folder import read_model
from understudy.people.addressees import AddresseeModel
from understudy.training.addressee import novel_lines
from understudy.training.loop import no_progress
from understudy.training.run import TrainingTask


def test_training_writes_a_model_that_is_read_back(tmp_path: Path) -> None:
    novels = write_talks(tmp_path / "pdnc")
    model = train(TrainingTask(novels, tmp_path / "model", AddresseeSettings()), no_progress)
    assert model.card["figures"]["accuracy"]["value"] > 0.9
    read = AddresseeModel.load(read_model(tmp_path / "model", "addressee"))
    line = novel_lines(novels / "two")[3]
    assert line.others[int(read.probabilities(line.evidence).argmax())] == "Ada"
