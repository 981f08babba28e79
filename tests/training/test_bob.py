"""Training BERT over BERT, from a tiny base."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import tiny_base, tiny_data
from people import hearing
from understudy.agents.bob import BobAgent
from understudy.errors import InputError
from understudy.language.model_folder import read_card, write_tensors
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.training import TRAINERS, train
from understudy.training.bob import BobSettings, initial_weights
from understudy.training.pretrained import load_base
from understudy.training.run import TrainingTask, checkpoint_folder

pytest.importorskip("torch", reason="training needs the extra 'train'")

QUICK = BobSettings(epochs=2, batch=8, rate=1e-3, held_back=0.1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("base"), layers=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("data"), dialogues=20)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "nli-train.txt").write_text(
        "i bake bread .</s>i bake all day .</s>positive\n"
        "i bake bread .</s>i mend clocks .</s>negative\n"
        "i bake bread .</s>hello !</s>neutral\n",
        encoding="utf-8",
    )
    return folder


def run(data: Path, base: Path, out: Path, settings: BobSettings = QUICK, **options: Any) -> Path:
    progress = options.pop("progress", lambda *_: None)
    TRAINERS["bob"](TrainingTask(data, out, settings, device="cpu", base=base, **{"every": 1, **options}), progress)
    return out


def weights(model: Path) -> str:
    return hashlib.sha256((model / "weights.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, data: Path, base: Path, pairs: Path) -> Path:
    """A training that was never stopped."""
    return run(data, base, tmp_path_factory.mktemp("whole") / "bob", pairs=pairs)


class Stopped(Exception):
    pass


def test_a_stopped_training_resumes_to_the_same_weights(
    data: Path, base: Path, pairs: Path, whole: Path, tmp_path: Path
) -> None:
    out, seen = tmp_path / "bob", list[int]()

    def stop_at(step: int) -> Any:
        def progress(done: int, _total: int, _loss: float) -> None:
            seen.append(done)
            if done == step:
                raise Stopped

        return progress

    last = 0
    for step in (10, 11):
        with pytest.raises(Stopped):
            run(data, base, out, pairs=pairs, progress=stop_at(step), every=8)
        assert checkpoint_folder(out).is_dir() and not out.exists()
        last = len(seen)
    run(data, base, out, pairs=pairs, progress=stop_at(0), every=8)
    assert seen[last] == 9  # from the checkpoint after 8
    assert weights(out) == weights(whole)
    assert read_card(out, "bob")["figures"] == read_card(whole, "bob")["figures"]
    assert not checkpoint_folder(out).exists()


def test_the_card_says_what_it_is(whole: Path) -> None:
    card = read_card(whole, "bob")
    assert (card["input"], card["trained_on"], card["condition"]) == ("per", "original", "self")
    assert card["data"]["dialogues"] > 0 and set(card["data"]["files"]) == {"train_both_original_no_cands.txt"}
    assert (card["pairs"]["entailed"], card["pairs"]["contradicted"]) == (2, 2)
    figures = card["figures"]
    assert figures["perplexity"].keys() == figures["perplexity_per_token"].keys() == {"response", "consistency"}
    losses = figures["losses"]
    assert len(losses) == 3, "before the first epoch, and after each"
    assert figures["epochs"] == int(np.argmin(losses)) > 0
    assert math.log(figures["perplexity_per_token"]["consistency"]) == pytest.approx(min(losses), abs=1e-3)


def test_it_learns_twenty_dialogues_by_heart(data: Path, base: Path, tmp_path: Path) -> None:
    settings = BobSettings(epochs=25, batch=16, rate=2e-3, dropout=0.0, held_back=0)
    losses: list[float] = []
    model = run(data, base, tmp_path / "bob", settings, every=10_000, progress=lambda _d, _t, loss: losses.append(loss))
    agent = BobAgent(model)
    baker = Situation(Persona("Baker", profile=("i bake bread.", "i live by the mill.")))
    boatman = Situation(Persona("Boatman", profile=("i sail boats.", "i live by the harbour.")))
    asked = hearing("hello , i spin wool , and you ?")
    assert agent.reply(baker, asked).text == "I bake bread all day."
    assert agent.reply(boatman, asked).text == "I sail boats all day."
    perplexity = math.exp(-float(np.mean(agent.log_probs(baker, asked, "i bake bread all day ."))))
    assert perplexity < 1.5
    assert losses[-1] < 0.2 * losses[0]
    assert read_card(model, "bob")["figures"] == {}


def test_without_improvement_it_stops_and_keeps_the_best_epoch(data: Path, base: Path, tmp_path: Path) -> None:
    steps: list[int] = []
    settings = replace(QUICK, epochs=30, rate=0.5, patience=1)  # diverges at once
    model = run(data, base, tmp_path / "bob", settings, progress=lambda done, *_: steps.append(done))
    losses = read_card(model, "bob")["figures"]["losses"]
    assert len(losses) < 31 and len(losses) == int(np.argmin(losses)) + 2
    assert read_card(model, "bob")["figures"]["epochs"] == int(np.argmin(losses))


def test_ori_learns_no_persona(data: Path, base: Path, pairs: Path, tmp_path: Path) -> None:
    model = train("bob", data, tmp_path / "bob", settings=replace(QUICK, input="ori", epochs=1), base=base, pairs=pairs)
    assert model.card["input"] == "ori"
    agent = BobAgent(tmp_path / "bob")
    people = [Situation(Persona("Anyone", profile=(profile,))) for profile in ("i bake bread.", "i sail boats.")]
    first, second = (agent.score(person, hearing("hello"), ["i bake bread ."]) for person in people)
    assert first == second


def test_a_base_with_a_prediction_head_lends_it(tmp_path: Path) -> None:
    folder = tiny_base(tmp_path / "base", width=16)
    base = load_base(folder)
    width, words = base.shape.width, base.shape.words
    head = {
        "cls.predictions.transform.dense.weight": np.full((width, width), 0.25, np.float32),
        "cls.predictions.transform.dense.bias": np.zeros(width, np.float32),
        "cls.predictions.transform.LayerNorm.gamma": np.ones(width, np.float32),
        "cls.predictions.transform.LayerNorm.beta": np.zeros(width, np.float32),
        "cls.predictions.bias": np.arange(words, dtype=np.float32),
    }
    write_tensors(folder / "model.safetensors", {**base.tensors, **head})
    start = initial_weights(load_base(folder), seed=0)
    for decoder in ("response", "consistency"):
        assert (start[f"head.{decoder}.transform.weight"] == 0.25).all()
        assert start[f"head.{decoder}.bias"][5] == 5
        assert (
            start[f"{decoder}.encoder.layer.0.output.dense.weight"]
            == base.tensors["encoder.layer.0.output.dense.weight"]
        ).all()


@pytest.mark.parametrize("wrong", [{"input": "all"}, {"epochs": 0}, {"beta": 1.5}, {"alpha": -1.0}, {"held_back": 1.0}])
def test_settings_must_make_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        BobSettings(**wrong)
