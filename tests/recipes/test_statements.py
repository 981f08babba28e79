from __future__ import annotations

from pathlib import Path

import pytest

from recipes.statements.train import StatementSettings, train
from understudy.errors import InputError
from understudy.people.claims import StatementModel, feature_names, shipped_model
from understudy.training.dialogues import talks_of
from understudy.training.loop import no_progress
from understudy.training.run import TrainingTask

DIALOGUES = """\
1 your persona: i am a nurse.
2 partner's persona: i play the harp.
3 hello .\ti am a nurse . i saw a film .
4 i play the harp . i ate an apple .\ti am great .
1 your persona: i have two dogs.
2 partner's persona: i live in a castle.
3 i live in a castle . i like soup .\ti have two dogs .
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "train_both_original_no_cands.txt").write_text(DIALOGUES, encoding="utf-8")
    return tmp_path


def test_both_sides_of_a_dialogue_are_read(data: Path) -> None:
    first, second = talks_of(data / "train_both_original_no_cands.txt")
    assert [speech.text for speech in first.speeches][:2] == ["hello .", "i am a nurse . i saw a film ."]
    assert sorted(second.profiles.values()) == [("i have two dogs.",), ("i live in a castle.",)]


def test_what_is_trained_can_be_loaded(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    task = TrainingTask(data, out, StatementSettings())
    card = train(task, no_progress).card
    model = StatementModel.load(out)
    assert len(model.weights) == len(feature_names()) == len(card["weights"])
    assert card["claims"] >= 4
    with pytest.raises(InputError, match="is there already"):
        train(task, no_progress)


def test_the_shipped_model_fits_this_version() -> None:
    assert len(shipped_model().weights) == len(feature_names())
