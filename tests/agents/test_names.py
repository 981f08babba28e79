"""Agents by what one writes on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from models import tiny_model
from understudy.agents import AGENTS, SHIPPED, TRAINED, agent_named
from understudy.agents.bag_ranker import KeyValueMemory
from understudy.agents.tfidf import TfIdfAgent
from understudy.errors import AgentError, InputError

MINE = """
class Echo:
    def reply(self, situation, history): ...

class Judge:
    def score(self, situation, history, candidates): ...

class Nobody: ...

def needs(something): ...

number = 3
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_agents.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_a_name() -> None:
    assert isinstance(agent_named("tfidf"), TfIdfAgent)


def test_a_model_folder(tmp_path: Path) -> None:
    assert isinstance(agent_named(str(tiny_model("kv-memory", tmp_path / "model"))), KeyValueMemory)


def test_folders_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no model\.json"):
        agent_named(str(tmp_path))
    with pytest.raises(AgentError, match="'oracle', an agent that this version does not have"):
        agent_named(str(tiny_model("oracle", tmp_path / "model")))
    with pytest.raises(InputError, match="format 2"):
        agent_named(str(tiny_model("starspace", tmp_path / "newer", format=2)))


@pytest.mark.parametrize("name", sorted(TRAINED - SHIPPED))
def test_an_agent_that_needs_a_model_says_how_to_make_one(name: str) -> None:
    assert name in AGENTS
    with pytest.raises(AgentError, match=f"understudy train {name}"):
        agent_named(name)


@pytest.mark.usefixtures("mine")
def test_an_agent_of_ones_own() -> None:
    assert hasattr(agent_named("my_own_agents:Echo"), "reply")
    assert hasattr(agent_named("my_own_agents:Judge"), "score")


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("my_own_agents:Nobody", "none of reply, score and log_probs"),
        ("my_own_agents:needs", "without arguments"),
        ("my_own_agents:number", "no function or class 'number'"),
        ("my_own_agents:gone", "no function or class 'gone'"),
        ("not_there_at_all:make", "cannot import 'not_there_at_all'"),
        ("oracle", "choose from .*tfidf.*understudy train.*module:factory"),
        ("", "there is no agent ''"),
        ("nowhere/model", "there is no agent"),
        ("a b:c", "there is no agent"),
        (":", "there is no agent"),
    ],
)
def test_what_cannot_be_an_agent(spec: str, word: str) -> None:
    with pytest.raises(AgentError, match=word):
        agent_named(spec)
