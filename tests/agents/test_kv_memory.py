from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import tiny_model
from people import hearing, situation
from understudy.agents.bag_ranker import unit
from understudy.agents.kv_memory import KeyValueMemory
from understudy.errors import InputError
from understudy.language.model_folder import read_model, texts_as_tensor, write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model("kv-memory", tmp_path_factory.mktemp("models") / "kv")


@pytest.fixture(scope="module")
def agent(model: Path) -> KeyValueMemory:
    return KeyValueMemory(model)


def test_the_second_hop_brings_in_the_replies_of_like_messages(agent: KeyValueMemory) -> None:
    of = agent.vectors.of
    query = unit(of("where is the key"))
    keys = [unit(of(text)) for text in ("where is the key", "who are you", "where is the boat")]
    values = np.stack([unit(of(text)) for text in ("in my pocket", "the pilot", "by the quay")])
    grown = np.exp([10 * query @ key for key in keys])
    recalled = unit(((grown / grown.sum()) @ values).astype(np.float32))
    expected = unit(query + np.float32(0.4) * recalled) @ unit(of("my pocket"))
    assert agent.score(situation(), hearing("Where is the key?"), ["My pocket."]) == pytest.approx([expected], abs=1e-6)


def test_the_memory_is_evidence(agent: KeyValueMemory) -> None:
    given = situation(("Ines", "So?", "Pocket."), profile=("Harbour pilot.",))
    evidence = agent.reply(given, hearing("Where is the key?")).evidence
    recalled = [item.text for item in evidence if item.kind == "memory" and "->" in item.text]
    assert recalled[0].startswith("where is the key ? -> in my pocket . (attention 0.")
    assert any(item.kind == "profile" for item in evidence)


def test_many_questions_score_as_one_by_one(agent: KeyValueMemory) -> None:
    given = situation(profile=("Harbour pilot.",))
    questions = [(given, hearing(text), ("the key", "a boat")) for text in ("Where is the key?", "Boat!", "")]
    for many, single in zip(agent.score_many(questions), (agent.score(*question) for question in questions)):
        assert many == pytest.approx(single, abs=1e-6)
    assert agent.score_many([]) == []


def test_a_memory_that_is_not_whole(model: Path, tmp_path: Path) -> None:
    folder = read_model(model, "kv-memory")
    broken = {**folder.tensors, "memory.said": texts_as_tensor(["one"])}
    write_model(tmp_path / "broken", folder.card, broken)
    with pytest.raises(InputError, match="3 messages and 1 replies"):
        KeyValueMemory(tmp_path / "broken")


def test_an_empty_memory_is_a_profile_memory(model: Path) -> None:
    folder = read_model(model, "kv-memory")
    empty = {**folder.tensors, "memory.said": texts_as_tensor([]), "memory.heard": texts_as_tensor([])}
    agent = KeyValueMemory(type(folder)(folder.card, empty))
    query = agent.query(situation(), hearing("Where is the key?"))
    np.testing.assert_allclose(query.direction, unit(agent.vectors.of("where is the key")))
    assert agent.score_many([(situation(), hearing("key"), ["key"])])[0] == pytest.approx([1.0])
