"""Training the reranker, with a tiny model of random numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import novel_texts
from models import tiny_language_model, trades, words_of
from recipes.reranker.questions import NAMES, NextReply
from recipes.reranker.train import RerankerSettings
from recipes.reranker.train import train as train_reranker
from understudy.agents import agent_named
from understudy.agents.reranker import ADAPTER, Reranker, RerankerFormat
from understudy.errors import InputError
from understudy.language.backends.transformer import open_transformer
from understudy.language.model_folder import read_tensors
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Persona
from understudy.training.run import TrainingTask, checkpoint_folder

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

SETTINGS = RerankerSettings(epochs=1, batch=8, rate=1e-2, rank=2, chats=0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, novels, and a model that knows their words."""
    folder = tmp_path_factory.mktemp("reranker")
    data, novels = trades(folder / "data", 6), novel_texts.folder(folder / "pdnc")
    texts = [path.read_text(encoding="utf-8") for path in (*data.glob("*.txt"), *novels.glob("*/novel_text.txt"))]
    labels = " ".join(f"{name}: " for name in (*NAMES, "Ines", "Tomas"))
    words = words_of(text.replace('"', "") for text in (*texts, labels))
    tiny_language_model(folder / "base", "causal", words, 64, spread=0.2)
    return folder


def task(folder: Path, out: Path, **options: Any) -> TrainingTask[tuple[Path, Path], RerankerSettings]:
    settings = replace(SETTINGS, **{name: options.pop(name) for name in list(options) if hasattr(SETTINGS, name)})
    options = {"device": "cpu", "every": 2, **options}
    return TrainingTask((folder / "data", folder / "pdnc"), out, settings, folder / "base", **options)


def test_the_loss_by_hand(folder: Path) -> None:
    """Scores of 0 choose among three by chance; the wording is the mean of - ln P of the right reply's tokens."""
    import torch

    from recipes.reranker.loss import RerankerLoss
    from understudy.language.backends.lora import Adapters

    asked = NextReply("Ines", "", "", (("Tomas", "Where is boat 2?"),), ("It is at boat", "The gulls", "it is at boat"))

    class One:
        def __len__(self) -> int:
            return 1

        def draw(self, index: int, rng: Random) -> NextReply:
            return asked

    model = open_transformer(folder / "base", "cpu")
    form = RerankerFormat(model.tokenizer, model.window)
    prompt = form.put_together(asked.name, "", "", asked.turns)
    right = form.reply(asked.replies[0])
    with torch.no_grad():
        logits = model.network(input_ids=torch.tensor([prompt + right])).logits[0].double().log_softmax(-1)
    wording = -np.mean([float(logits[len(prompt) - 1 + place, token]) for place, token in enumerate(right)])
    adapters = Adapters(model.network, {"q": "model.layers.0.self_attn.q_proj"}, 2, 2.0, 0)
    parameters = {name: torch.from_numpy(np.array(array)) for name, array in adapters.start.items()}
    parameters |= {"head.weight": torch.zeros(1, 32), "head.bias": torch.zeros(1)}
    loss = RerankerLoss(model, adapters, form, [One()], 0.25, 0)
    value = float(loss(parameters, np.array([0]), 0))
    assert value == pytest.approx(math.log(2) + 0.25 * wording, abs=1e-4)  # the third reply says the same: two are left


@pytest.mark.thorough
def test_who_asks_and_who_answers_is_learnt(folder: Path, tmp_path: Path) -> None:
    """In the novels Ines asks where a boat is, and Tomas says where."""
    train_reranker(task(folder, tmp_path / "model", epochs=16, rate=5e-3, rank=8, chats=0.0))
    agent = agent_named(str(tmp_path / "model"))
    assert isinstance(agent, Reranker)
    questions = [f"Where is boat {number}?" for number in range(0, 40, 2)]
    answers = [f"It is at boat number {number}." for number in range(0, 40, 2)]
    for name, faced, right, wrong in (("Tomas", "Ines", answers, questions), ("Ines", "Tomas", questions, answers)):
        asked = [(Situation(Persona(name)), (Turn(faced, text),), [*right, *wrong]) for text in wrong]
        scores = np.array(agent.score_many(asked))
        above = scores[:, : len(right), None] > scores[:, None, len(right) :]
        assert above.mean() > 0.8, f"{name}; half by chance"


@pytest.mark.thorough
def test_the_card_says_what_it_is(folder: Path, tmp_path: Path) -> None:
    card = train_reranker(task(folder, tmp_path / "model")).card
    assert card["agent"] == "reranker"
    assert card["data"]["novels"] == 2 and card["data"]["novel_questions"] == 78
    figures = card["figures"]["held_back_novels"]
    assert figures["questions"] == 39 and 0 < figures["mrr"] <= 1
    assert read_tensors(tmp_path / "model" / ADAPTER)[0]["head.weight"].any()


def stopped_at(step: int) -> Any:
    def progress(done: int, _total: int, _loss: float) -> None:
        if done == step:
            raise KeyboardInterrupt

    return progress


@pytest.mark.thorough
def test_a_stopped_training_goes_on_to_the_same_weights(folder: Path, tmp_path: Path) -> None:
    train_reranker(task(folder, tmp_path / "once"))
    for step in (3, 7):
        with pytest.raises(KeyboardInterrupt):
            train_reranker(task(folder, tmp_path / "often"), stopped_at(step))
        assert checkpoint_folder(tmp_path / "often").is_dir()
    train_reranker(task(folder, tmp_path / "often"))
    once, often = (read_tensors(tmp_path / name / ADAPTER)[0] for name in ("once", "often"))
    assert once.keys() == often.keys()
    assert all(np.array_equal(once[name], often[name]) for name in once)
    assert not checkpoint_folder(tmp_path / "often").exists()


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="above 0"):
        RerankerSettings(batch=0)
    with pytest.raises(InputError, match="share"):
        RerankerSettings(chats=2)
