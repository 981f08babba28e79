from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import TRADES, tiny_data
from understudy.agents import agent_named
from understudy.agents.lstm import LSTMAgent, rarity_weights
from understudy.agents.word_tokens import SPECIAL
from understudy.errors import InputError, MissingExtra
from understudy.language.model_folder import read_model
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.training import TRAINERS, train
from understudy.training.dialogues import CONDITIONS, dialogues_of, questions_of
from understudy.training.run import TrainingTask, checkpoint_folder
from understudy.training.seq2seq import ReplyCounts, Seq2SeqSettings, chairs_of, reply_losses

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

NAMES = ("seq2seq", "generative-memory")
SMALL = Seq2SeqSettings(hidden=16, width=8, epochs=3, batch=16, dropout=0.2, held_back=0.1)
OVERFIT = Seq2SeqSettings(
    hidden=48, width=24, epochs=80, batch=4, rate=2e-2, recurrent_rate=4e-3, dropout=0.0, fewest=1, held_back=0.0
)  # fmt: skip

names = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, data: Path) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("trained")
    for name in NAMES:
        run(data, folder / name, name)
    return {name: folder / name for name in NAMES}


def run(data: Path, out: Path, name: str = "seq2seq", **options: Any) -> None:
    progress = options.pop("progress", lambda *_: None)
    TRAINERS[name](TrainingTask(data, out, **{"settings": SMALL, "device": "cpu", "every": 2, **options}), progress)


def weights(model: Path) -> str:
    return hashlib.sha256((model / "weights.safetensors").read_bytes()).hexdigest()


def opened(model: Path) -> LSTMAgent:
    agent = agent_named(str(model))
    assert isinstance(agent, LSTMAgent)
    return agent


def short_dialogues(folder: Path, count: int) -> Path:
    """Two people name what they do, and what the other does: nothing of it is left to chance."""
    folder.mkdir()
    crafts = [f"{verb} {thing}" for thing, verb in TRADES.items()]
    lines = []
    for number in range(count):
        mine, yours = crafts[number % 12], crafts[(number * 5 + 1 + number // 12) % 12]
        lines += [f"1 your persona: {mine} .", f"2 partner's persona: {yours} ."]
        lines += [f"3 i {yours} .\tyou {yours} ? i {mine} ."]
    (folder / "train_both_original_no_cands.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def asked(data: Path, condition: str) -> list[tuple[Situation, list[Turn], list[str]]]:
    questions = []
    for question in questions_of(dialogues_of(data / "train_both_original_no_cands.txt"), condition):
        shown = CONDITIONS[condition]
        persona = Persona("Me", profile=question.own if "own" in shown else ())
        faced = Other("You", question.their if "their" in shown else ())
        history = [Turn("Me" if mine else "You", text) for mine, text in question.history]
        questions.append((Situation(persona, faced=faced), history, [question.reply]))
    return questions


@names
@pytest.mark.parametrize("count", [6, pytest.param(20, marks=pytest.mark.thorough)])
def test_dialogues_are_learnt_by_heart(name: str, count: int, tmp_path: Path) -> None:
    few = short_dialogues(tmp_path / "few", count)
    model = tmp_path / "model"
    run(few, model, name, settings=OVERFIT, every=1000)
    agent, questions = opened(model), asked(few, "self")
    values = [value for [of_text] in agent.log_probs_many(questions) for value in of_text]
    assert np.exp(-np.mean(values)) < 1.5
    replies = agent.reply_many([(where, history) for where, history, _ in questions])
    right = sum(reply.text == gold for reply, (_, _, [gold]) in zip(replies, questions))
    assert right / len(questions) > 0.8


def test_the_reply_depends_on_the_message(tmp_path: Path) -> None:
    crafts = [f"{verb} {thing}" for thing, verb in TRADES.items()]
    lines = [f"1 go on and on and on .\ti heard .\n2 i {craft} .\tyou {craft} ?" for craft in crafts * 2]
    (tmp_path / "train_none_original_no_cands.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(tmp_path, tmp_path / "model", settings=replace(OVERFIT, epochs=60), condition="none", every=1000)
    agent = opened(tmp_path / "model")

    def loss(shift: int) -> float:
        """Of what each says to the message of another."""
        questions = []
        for index, craft in enumerate(crafts):
            heard = f"i {crafts[(index + shift) % len(crafts)]} ."
            history = [Turn("You", "go on and on and on ."), Turn("Me", "i heard ."), Turn("You", heard)]
            questions.append((Situation(Persona("Me")), history, [f"you {craft} ?"]))
        return -float(np.mean([value for [of_text] in agent.log_probs_many(questions) for value in of_text]))

    assert loss(0) < 0.2 and loss(1) > 0.5


def test_the_encoder_does_not_saturate_on_long_inputs(tmp_path: Path) -> None:
    """At the full rate units are at 0.6 or -0.6 on average by then, whatever was read, and soon at 1 or -1."""
    filler = " ".join(f"{word} and {verb}" for word, verb in TRADES.items())
    lines = []
    for number, (thing, verb) in enumerate(TRADES.items()):
        turns = [f"{filler} {filler} {filler} {filler}\tgo on .", f"i {verb} {thing} .\tyou {verb} {thing} ?"]
        lines += [f"{line} {text}" for line, text in enumerate(turns, 1)] * (1 + number % 2)
    (tmp_path / "train_none_original_no_cands.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = Seq2SeqSettings(hidden=128, width=32, epochs=8, batch=8, fewest=1, dropout=0.0, held_back=0.0)
    model = tmp_path / "model"
    run(tmp_path, model, settings=settings, condition="none", every=1000)
    agent = opened(model)
    talks = [
        [Turn("You" if speaker == 0 else "Me", text) for speaker, text in dialogue.turns[:3]]
        for dialogue in dialogues_of(tmp_path / "train_none_original_no_cands.txt")
    ]
    assert len(talks[0][0].text.split()) > 140
    states = agent._encoded([agent._input(Situation(Persona("Me")), talk) for talk in talks])
    assert float(states.abs().mean()) < 0.25


@names
@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_loss_of_a_chair_is_that_of_its_questions(
    data: Path, trained: dict[str, Path], name: str, condition: str
) -> None:
    agent = opened(trained[name])
    agent.card["condition"] = condition
    chairs = chairs_of(
        dialogues_of(data / "train_both_original_no_cands.txt"), condition, type(agent), agent.vocabulary
    )
    with torch.no_grad():
        losses = reply_losses(agent._parameters, agent._weights if agent.has_memory else torch.zeros(1), chairs)
    values = [value for [of_text] in agent.log_probs_many(asked(data, condition)) for value in of_text]
    assert float(losses.sum()) == pytest.approx(-sum(values), rel=1e-4)
    counts = ReplyCounts.of(chairs)
    assert counts.tokens + counts.replies == len(losses) == len(values)


@names
def test_the_card_says_what_it_is(trained: dict[str, Path], name: str) -> None:
    card = read_model(trained[name], name).card
    assert (card["agent"], card["condition"], card["trained_on"]) == (name, "self", "original")
    figures = card["figures"]
    assert set(figures["hits@1"]) == {"none", "self"} and figures["candidates"] > 2
    assert 1 < figures["perplexity_per_token"] <= figures["perplexity"]
    assert 0 <= figures["unknown"] < 0.2
    assert card["data"]["vocabulary"] > len(SPECIAL)


@names
def test_a_stopped_training_goes_on_to_the_same_weights(
    data: Path, trained: dict[str, Path], name: str, tmp_path: Path
) -> None:
    class Stopped(Exception):
        pass

    def stopped_at(step: int) -> Any:
        def progress(done: int, _total: int, _loss: float) -> None:
            if done == step:
                raise Stopped

        return progress

    out = tmp_path / "model"
    for step in (3, 5, 6, 11):
        with pytest.raises(Stopped):
            run(data, out, name, progress=stopped_at(step))
        assert checkpoint_folder(out).is_dir() and not out.exists()
    run(data, out, name)
    assert weights(out) == weights(trained[name])
    assert not checkpoint_folder(out).exists()


def test_it_stops_when_held_back_dialogues_get_no_better(data: Path, tmp_path: Path) -> None:
    steps: list[int] = []
    settings = Seq2SeqSettings(
        hidden=16, width=8, epochs=30, batch=16, rate=0.3, recurrent_rate=0.3, dropout=0.0, held_back=0.1
    )
    run(data, tmp_path / "model", settings=settings, progress=lambda done, total, _loss: steps.append(total - done))
    assert steps[-1] > 0


def test_without_a_profile_the_memory_model_is_seq2seq(data: Path, tmp_path: Path) -> None:
    for name in NAMES:
        run(data, tmp_path / name, name, condition="none")
    models = [read_model(tmp_path / name, name).tensors for name in NAMES]
    for name, tensor in models[0].items():
        np.testing.assert_allclose(tensor, models[1][name], atol=1e-6)


def test_vectors_of_a_file_are_where_training_begins(data: Path, tmp_path: Path) -> None:
    lines = ["all 1 0 0 0 0", "zebra 1 1 1 1 1", "bread 0 0 2 0 0"]
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = Seq2SeqSettings(hidden=16, width=8, epochs=1, batch=64, rate=1e-6, recurrent_rate=1e-6, held_back=0.1)
    run(data, tmp_path / "model", "generative-memory", settings=settings, embeddings=path)
    agent = opened(tmp_path / "model")
    tensors = read_model(tmp_path / "model", "generative-memory").tensors
    assert agent.card["settings"]["width"] == 5
    at = {word: index for index, word in enumerate(agent.vocabulary.tokens)}
    np.testing.assert_allclose(tensors["embedding"][at["bread"]], [0, 0, 5**0.5, 0, 0], atol=1e-3)
    expected = rarity_weights(np.array([1, 3, 4]))
    np.testing.assert_allclose([tensors["memory.weights"][at[word]] for word in ("all", "bread", "mill")], expected)


def test_what_cannot_be_trained(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"epochs": 0}, {"dropout": 1.0}, {"held_back": -0.1}, {"hidden": 0}):
        with pytest.raises(InputError):
            Seq2SeqSettings(**wrong)
    (tmp_path / "train_none_original_no_cands.txt").write_text("1 hello .\thello you .\n", encoding="utf-8")
    with pytest.raises(InputError, match="no file to train on"):
        train("seq2seq", tmp_path, tmp_path / "model", condition="self")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"\.\[train\]"):
        train("seq2seq", data, tmp_path / "model")
