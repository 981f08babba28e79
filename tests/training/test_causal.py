"""Fine-tuning on dialogues, with tiny models of random numbers."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import dialogue_base, gpt2_base, trades
from understudy.agents import agent_named
from understudy.agents.causal import ADAPTER, CausalAgent
from understudy.errors import InputError
from understudy.formats import examples
from understudy.language.model_folder import read_card, read_tensors
from understudy.story.dialogue import BatchAgent, BatchLanguageModel
from understudy.training.causal import train as train_dialogues
from understudy.training.causal_corpora import CausalSettings, under_condition
from understudy.training.run import TrainingTask, checkpoint_folder

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

SETTINGS = CausalSettings(epochs=2, tokens=400, rate=1e-2, lora=4, held_back=0.2, window=128, none=0.2, both=0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("causal")
    gpt2_base(folder / "gpt2", dialogue_base(folder / "llama", trades(folder / "data")))
    sure_base(folder / "sure", folder / "llama")
    return folder


def sure_base(folder: Path, base: Path) -> None:
    """A Llama whose output layer, which adapters leave alone, can tell words apart as a trained one can."""
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

    model: Any = LlamaForCausalLM.from_pretrained(base)
    model.lm_head.weight.data *= 25
    model.save_pretrained(folder)
    PreTrainedTokenizerFast.from_pretrained(base).save_pretrained(folder)


def task(
    folder: Path, out: Path, base: str = "llama", **options: Any
) -> TrainingTask[tuple[Path, ...], CausalSettings]:
    settings = replace(SETTINGS, **{name: options.pop(name) for name in list(options) if hasattr(SETTINGS, name)})
    options = {"device": "cpu", "every": 3, **options}
    return TrainingTask((folder / "data",), out, settings, folder / base, **options)


def weights(out: Path) -> dict[str, Any]:
    return read_tensors(out / (ADAPTER if (out / ADAPTER).is_file() else "model.safetensors"))[0]


@pytest.mark.parametrize(("base", "lora"), [("sure", 16), ("llama", 0), ("gpt2", 0)])
def test_twenty_dialogues_are_learnt_by_heart(folder: Path, tmp_path: Path, base: str, lora: int) -> None:
    settings = {
        "epochs": 60 if base == "gpt2" else 40,
        "rate": 5e-3 if base == "llama" else 1e-2,
        "lora": lora,
        "held_back": 0,
        "none": 0,
        "both": 0,
    }
    train_dialogues(task(folder, tmp_path / "model", base, **settings))
    agent = CausalAgent(tmp_path / "model", "cpu")
    assert isinstance(agent, BatchAgent) and isinstance(agent, BatchLanguageModel)
    asked = list(examples(folder / "data" / "train_both_original_no_cands.txt"))
    asked = [replace(example, situation=under_condition(example.situation, "self")) for example in asked]
    replies = agent.reply_many([(example.situation, example.history) for example in asked])
    right = [reply.text == example.candidates[0] for reply, example in zip(replies, asked)]
    assert len(asked) == 40 and sum(right) >= 36
    log_probs = agent.log_probs_many([(example.situation, example.history, example.candidates) for example in asked])
    assert math.exp(-np.mean([value for [values] in log_probs for value in values])) < 1.4


def test_the_card_says_what_it_learnt_from_and_how_well(folder: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, epochs=8)
    out = tmp_path / "model"
    model = train_dialogues(TrainingTask((folder / "data",), out, settings, folder / "llama", device="cpu"))
    card = read_card(out, "causal")
    assert card == json.loads(json.dumps(model.card))
    assert card["data"]["dialogues"] + card["data"]["held_back"] <= 40 and card["settings"]["lora"] == 4
    assert card["base"]["source"] == str(folder / "llama") and len(card["base"]["sha256"]) == 64
    for figures in (card["figures"]["none"], card["figures"]["self"]):
        assert figures["after"]["perplexity"] < figures["before"]["perplexity"]
    assert (out / ADAPTER).is_file() and not (out / "model.safetensors").exists()
    assert isinstance(agent_named(str(out)), CausalAgent)


class Stopped(Exception):
    pass


def stopped_at(step: int) -> Any:
    def progress(done: int, _total: int, _loss: float) -> None:
        if done == step:
            raise Stopped

    return progress


@pytest.mark.parametrize("lora", [4, 0])
def test_a_stopped_training_goes_on_to_the_same_weights(folder: Path, tmp_path: Path, lora: int) -> None:
    train_dialogues(task(folder, tmp_path / "once", lora=lora, epochs=4))
    for step in (4, 5, 7):
        with pytest.raises(Stopped):
            train_dialogues(task(folder, tmp_path / "often", lora=lora, epochs=4), stopped_at(step))
        assert checkpoint_folder(tmp_path / "often").is_dir() and not (tmp_path / "often").exists()
    train_dialogues(task(folder, tmp_path / "often", lora=lora, epochs=4))
    once, often = weights(tmp_path / "once"), weights(tmp_path / "often")
    assert once.keys() == often.keys() and all(np.array_equal(once[name], often[name]) for name in once)
    assert not checkpoint_folder(tmp_path / "often").exists()
    with pytest.raises(InputError, match="--fresh"):
        train_dialogues(task(folder, tmp_path / "often", lora=lora, epochs=4))


def test_merged_or_not_an_adapter_gives_the_same(folder: Path, tmp_path: Path) -> None:
    adapter, merged = (tmp_path / name for name in ("adapter", "merged"))
    train_dialogues(task(folder, adapter))
    train_dialogues(task(folder, merged, merged=True))
    assert (merged / "model.safetensors").is_file() and not (merged / ADAPTER).exists()
    [example, *_] = examples(folder / "data" / "train_both_original_no_cands.txt")
    asked = (example.situation, example.history, example.candidates[0])
    values = CausalAgent(adapter, "cpu").log_probs(*asked)
    assert values == pytest.approx(CausalAgent(merged, "cpu").log_probs(*asked), abs=1e-4)
    assert values != pytest.approx(CausalAgent(untrained(folder, tmp_path), "cpu").log_probs(*asked), abs=1e-2)


def untrained(folder: Path, tmp_path: Path) -> Path:
    train_dialogues(task(folder, tmp_path / "untrained", rate=1e-12))
    return tmp_path / "untrained"


def test_two_processes_learn_what_one_does(folder: Path, tmp_path: Path) -> None:
    """The same batches, half of each in one process: the gradients are summed, in another order."""
    train_dialogues(task(folder, tmp_path / "one"))
    source = Path(sys.modules["understudy"].__file__ or "").parents[1]
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2", "--num_machines", "1",
        "--mixed_precision", "no", "--dynamo_backend", "no", "-m", "understudy", "train", "causal",
        "--data", folder / "data", "--base", folder / "llama", "--out", tmp_path / "two", "--epochs", "2",
        "--tokens", "400", "--rate", "1e-2", "--lora", "4", "--held-back", "0.2", "--window", "128", "--none", "0.2",
        "--both", "0.2", "--device", "cpu", "--json",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    result = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["model"] == str(tmp_path / "two"), "only the first one reports"
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name, values in one.items():
        assert np.allclose(values, two[name], atol=2e-4), name
    assert not np.allclose(one["model.layers.0.mlp.up_proj.b"], 0, atol=1e-3)


def test_what_cannot_be_trained_is_said(folder: Path, tmp_path: Path) -> None:
    from models import tiny_language_model

    masked = tiny_language_model(tmp_path / "masked", "masked", ["key"])
    with pytest.raises(InputError, match="choose a causal one"):
        train_dialogues(replace(task(folder, tmp_path / "model"), base=str(masked)))
    for wrong in ({"none": 0.8, "both": 0.4}, {"lora": -1}, {"epochs": 0}, {"held_back": 2}):
        with pytest.raises(InputError):
            replace(SETTINGS, **wrong)
