"""The registry of trainers, and `train` over it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from understudy.agents import SHIPPED, TRAINED
from understudy.errors import InputError, MissingExtra
from understudy.registry import Imported, Need
from understudy.training import TRAINERS, train


@pytest.mark.parametrize("name", TRAINERS)
def test_every_trainer_can_be_loaded_and_has_default_settings(name: str) -> None:
    factory = TRAINERS[name].factory
    assert isinstance(factory, Imported) and callable(factory.load())
    assert dataclasses.is_dataclass(TRAINERS[name].settings())


def test_every_agent_that_needs_a_model_has_a_trainer_or_ships_with_one() -> None:
    assert TRAINERS.keys() >= TRAINED - SHIPPED


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"\.\[train\]"):
        TRAINERS["voice"](None)
    assert Need.TORCH not in TRAINERS["kv-memory"].needs, "it only remembers dialogues"


def test_what_does_not_learn_from_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model to train 'causal'"):
        train("causal", tmp_path, tmp_path / "out")


def test_an_unknown_model_is_told_which_was_meant(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'starspace'"):
        train("starspce", tmp_path, tmp_path / "out")
