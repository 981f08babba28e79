"""The registry of trainers, and `train` over it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from understudy.agents import TRAINED
from understudy.errors import InputError, MissingExtra
from understudy.training import TRAINERS, Trainer, train


@pytest.mark.parametrize("name", TRAINERS)
def test_every_trainer_can_be_loaded_and_has_default_settings(name: str) -> None:
    from understudy import training

    assert callable(training._load(TRAINERS[name].function))
    settings = TRAINERS[name].settings()
    assert dataclasses.is_dataclass(settings)


def test_every_agent_that_needs_a_model_has_a_trainer() -> None:
    assert TRAINERS.keys() >= TRAINED


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"understudy\[train\]"):
        TRAINERS["voice"].check_extra()
    Trainer("bag_rankers:train_kv_memory", "bag_rankers:BagSettings", extra=None).check_extra()


def test_what_does_not_learn_from_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model to train 'causal'"):
        train("causal", tmp_path, tmp_path / "out")
