"""BERT over BERT as an agent, with a tiny network of random weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models import tiny_model
from people import hearing, situation, tie
from understudy.agents import agent_named
from understudy.agents.bob.agent import TEXT_TOKENS, BobAgent
from understudy.agents.pools import own_past
from understudy.errors import InputError
from understudy.language.model_folder import read_tensors, write_tensors
from understudy.story.dialogue import BatchAgent, BatchLanguageModel, Turn

pytest.importorskip("torch", reason="the network needs the extra 'train'")

TOMAS = situation(profile=("i mend clocks .", "i live by the mill ."))
BAKER = situation(profile=("i bake bread .",), relations=(tie("Ines", "affection", 8),), faced="Ines")
TALK = [
    *hearing("hello , where do you live ?"),
    Turn("Tomas", "by the mill ."),
    *hearing("and what do you do all day ?"),
]
TEXTS = [
    "i mend clocks all day .",
    "",
    "i bake bread .",
    "where is the brass key that you lost in the boat by the mill ?",
]
QUESTIONS = [(TOMAS, TALK, TEXTS), (BAKER, hearing("hello"), TEXTS[:1]), (TOMAS, [], TEXTS[1:])]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model("bob", tmp_path_factory.mktemp("models") / "bob")


@pytest.fixture(scope="module")
def agent(model: Path) -> BobAgent:
    return BobAgent(model)


def test_it_speaks_the_protocols(agent: BobAgent, model: Path) -> None:
    assert isinstance(agent, BatchAgent) and isinstance(agent, BatchLanguageModel)
    assert isinstance(agent_named(str(model), candidates=own_past), BobAgent)


def test_what_follows_does_not_change_the_probability_of_what_came_before(agent: BobAgent) -> None:
    whole = agent.log_probs(TOMAS, TALK, "i mend clocks all day by the mill")
    for words in (1, 3, 5):
        part = agent.log_probs(TOMAS, TALK, " ".join("i mend clocks all day by the mill".split()[:words]))
        assert len(part) == words + 1
        assert part[:-1] == pytest.approx(whole[:words], abs=1e-5)


def test_probabilities_of_a_next_word_sum_to_one(agent: BobAgent, model: Path) -> None:
    vocabulary = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = [word for word in vocabulary if not word.startswith("[")]
    first = [values[0] for values in agent.log_probs_many([(TOMAS, TALK, words)])[0]]
    end = agent.log_probs(TOMAS, TALK, "")[0]
    assert 0 < np.exp(first).sum() + np.exp(end) <= 1 + 1e-5
    assert np.exp(first).sum() + np.exp(end) > 0.5  # the rest are special tokens


def test_many_at_once_are_as_one_at_a_time(agent: BobAgent) -> None:
    together = agent.log_probs_many(QUESTIONS)
    for (given, history, texts), values in zip(QUESTIONS, together):
        assert len(values) == len(texts)
        for text, own in zip(texts, values):
            assert own == pytest.approx(agent.log_probs(given, history, text), abs=1e-4)
    scores = agent.score_many(QUESTIONS)
    assert scores[0] == pytest.approx(agent.score(*QUESTIONS[0]), abs=1e-4)
    asked = [(given, history) for given, history, _ in QUESTIONS]
    assert [reply.text for reply in agent.reply_many(asked)] == [agent.reply(*question).text for question in asked]
    assert agent.reply_many([]) == [] and agent.log_probs_many([]) == []


def test_a_score_is_the_mean_log_probability(agent: BobAgent) -> None:
    expected = [np.mean(agent.log_probs(TOMAS, TALK, text)) for text in TEXTS]
    assert agent.score(TOMAS, TALK, TEXTS) == pytest.approx(expected, abs=1e-6)


def test_persona_and_history_are_read_by_per_and_history_alone_by_ori(model: Path, tmp_path: Path) -> None:
    per, ori = BobAgent(model), BobAgent(tiny_model("bob", tmp_path / "ori", input="ori"))
    assert per.score(TOMAS, TALK, TEXTS) != per.score(BAKER, TALK, TEXTS)
    assert ori.score(TOMAS, TALK, TEXTS) == ori.score(BAKER, TALK, TEXTS)
    assert ori.score(TOMAS, TALK, TEXTS) != ori.score(TOMAS, TALK[:1], TEXTS)


def test_the_consistency_decoder_reads_the_persona_again(model: Path) -> None:
    agents = [BobAgent(model, decoder=decoder) for decoder in ("response", "consistency")]
    first, second = (agent.score(TOMAS, TALK, TEXTS) for agent in agents)
    assert first != second
    with pytest.raises(InputError, match="choose from response, consistency"):
        BobAgent(model, decoder="third")


def test_a_reply_is_what_it_says_it_is_worth(agent: BobAgent) -> None:
    reply = agent.reply(TOMAS, TALK)
    assert reply.log_probs is not None and reply.candidates[0].score == pytest.approx(np.mean(reply.log_probs))
    assert reply.log_probs == pytest.approx(agent.log_probs(TOMAS, TALK, reply.text), abs=1e-4)


def test_more_beams_find_replies_that_are_no_less_probable(model: Path) -> None:
    greedy, wide = BobAgent(model), BobAgent(model, beams=4)
    asked = [(TOMAS, TALK), (BAKER, hearing("hello")), (TOMAS, hearing("where is the key ?"))]
    replies = (agent.reply_many(asked) for agent in (greedy, wide))
    first, second = ([reply.candidates[0].score or 0.0 for reply in each] for each in replies)
    assert np.mean(second) >= np.mean(first)


def test_a_text_without_end_is_read_up_to_a_limit(agent: BobAgent) -> None:
    assert len(agent.log_probs(TOMAS, TALK, "where " * 10_000)) == TEXT_TOKENS - 1


def test_a_damaged_folder_says_so(tmp_path: Path) -> None:
    folder = tiny_model("bob", tmp_path / "bob")
    tensors, _ = read_tensors(folder / "weights.safetensors")
    name = "cross.consistency.persona.0.key.weight"
    write_tensors(folder / "weights.safetensors", {key: value for key, value in tensors.items() if key != name})
    with pytest.raises(InputError, match=rf"{name}.*train the model again"):
        BobAgent(folder)
    write_tensors(folder / "weights.safetensors", {**tensors, name: tensors[name][:3]})
    with pytest.raises(InputError, match="not those of such a network"):
        BobAgent(folder)
    write_tensors(folder / "weights.safetensors", {**tensors, name: tensors[name] * np.float16("nan")})
    with pytest.raises(InputError, match="not finite"):
        BobAgent(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        BobAgent(folder)
