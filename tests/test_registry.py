"""What the registries of agents, guessers, metrics and trainers have in common."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from understudy.agents import AGENTS, Scripted
from understudy.errors import AgentError, MissingExtra
from understudy.guessing import GUESSERS
from understudy.metrics.registry import DEFAULT_METRICS, METRICS
from understudy.registry import Imported, Need, RegistryEntry, import_factory
from understudy.training import TRAINERS

REGISTRIES: dict[str, Mapping[str, RegistryEntry[Any]]] = {
    "agents": AGENTS,
    "guessers": GUESSERS,
    "metrics": METRICS,
    "trainers": TRAINERS,
}


@pytest.mark.parametrize("registry", REGISTRIES.values(), ids=REGISTRIES.keys())
def test_every_registry_is_a_plain_dict_of_entries_by_name(registry: Mapping[str, RegistryEntry[Any]]) -> None:
    assert type(registry) is dict and registry
    for name, entry in registry.items():
        assert isinstance(entry, RegistryEntry) and entry.name == name
        assert callable(entry.factory.load() if isinstance(entry.factory, Imported) else entry.factory)


def test_an_entry_is_called_like_its_factory() -> None:
    agent = AGENTS["scripted"](replies=["Aye."])
    assert isinstance(agent, Scripted) and agent.replies == ("Aye.",)
    assert isinstance(AGENTS["scripted"](), Scripted)


def test_needs_say_what_to_bring() -> None:
    assert AGENTS["starspace"].needs == Need.MODEL | Need.CANDIDATES
    assert {name for name, entry in METRICS.items() if entry.needs} == {"anachronism", "unwitnessed", "relation_fit"}
    assert set(DEFAULT_METRICS) <= METRICS.keys()
    assert Need.FOLDER in TRAINERS["starspace"].needs and Need.FOLDER not in TRAINERS["masked"].needs


def test_what_needs_torch_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    entry = RegistryEntry("mine", lambda: "made", Need.TORCH)
    with pytest.raises(MissingExtra, match=r"'mine' needs .* '\.\[train\]'"):
        entry()
    assert RegistryEntry("mine", lambda: "made")() == "made"


def test_listing_agents_and_trainers_imports_no_model() -> None:
    code = "import sys, understudy.agents, understudy.training; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "numpy", "onnxruntime", "understudy.agents.encoder"} & set(loaded)


def test_a_factory_of_ones_own_is_imported() -> None:
    assert import_factory("collections:Counter", "agent") is __import__("collections").Counter
    assert import_factory("encoder", "agent") is None and import_factory("a b:c", "agent") is None
    with pytest.raises(AgentError, match="nothing to make a guesser with"):
        import_factory("collections:nothing", "guesser")
