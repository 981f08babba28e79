"""The mean of trained models: its weights, and what has none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dialogues import dialogue_base, gpt2_base, trades
from understudy.agents.causal import CausalAgent, load_transformer
from understudy.errors import InputError
from understudy.language.model_folder import read_card, read_tensors
from understudy.training.causal.averaging import average_models
from understudy.training.causal.corpora import CausalSettings
from understudy.training.causal.trainer import DialogueTask
from understudy.training.causal.trainer import train as train_dialogues

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter, a model with all weights, and one of another base."""
    folder = tmp_path_factory.mktemp("averaging")
    llama = dialogue_base(folder / "llama", trades(folder / "data"))
    gpt2_base(folder / "gpt2", llama)
    for name, base, lora in (("adapter", "llama", 4), ("whole", "llama", 0), ("other", "gpt2", 0)):
        settings = CausalSettings(epochs=1, tokens=400, rate=1e-2, lora=lora, held_back=0, window=128)
        train_dialogues(DialogueTask((folder / "data",), str(folder / base), folder / name, settings, device="cpu"))
    return folder


def test_weights_are_the_mean_of_both_whatever_they_were_trained_as(folder: Path, tmp_path: Path) -> None:
    both = [folder / "adapter", folder / "whole"]
    card = average_models(both, tmp_path / "mean").card
    assert [one["folder"] for one in card["mean_of"]] == ["adapter", "whole"] and card["figures"] == {}
    networks = [load_transformer(one, read_card(one, "causal"), "cpu").network for one in both]
    first, second = (dict(network.named_parameters()) for network in networks)
    for name, values in read_tensors(tmp_path / "mean" / "model.safetensors")[0].items():
        expected = (first[name].detach().numpy() + second[name].detach().numpy()) / 2
        np.testing.assert_allclose(values, expected, atol=1e-6)
    assert CausalAgent(tmp_path / "mean", "cpu").card["mean_of"] == card["mean_of"]


def test_the_mean_of_a_model_with_itself_is_that_model(folder: Path, tmp_path: Path) -> None:
    average_models([folder / "whole", folder / "whole"], tmp_path / "same")
    own = read_tensors(folder / "whole" / "model.safetensors")[0]
    for name, values in read_tensors(tmp_path / "same" / "model.safetensors")[0].items():
        np.testing.assert_allclose(values, own[name], atol=1e-6)


def test_what_has_no_mean_is_refused_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two models"):
        average_models([folder / "whole"], tmp_path / "mean")
    with pytest.raises(InputError, match="another base"):
        average_models([folder / "whole", folder / "other"], tmp_path / "mean")
    lines = tmp_path / "lines"
    lines.mkdir()
    card = json.loads((folder / "whole" / "model.json").read_text())
    (lines / "model.json").write_text(json.dumps({name: value for name, value in card.items() if name != "speakers"}))
    with pytest.raises(InputError, match="a character's lines"):
        average_models([folder / "whole", lines], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
    average_models([folder / "whole", folder / "adapter"], tmp_path / "mean")
    with pytest.raises(InputError, match="--fresh"):
        average_models([folder / "whole", folder / "adapter"], tmp_path / "mean")
