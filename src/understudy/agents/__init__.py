"""The reply agents by name. Each factory imports its agent when called, so that listing them imports nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.dialogue import Agent, Ranker
from understudy.errors import AgentError
from understudy.text import did_you_mean

if TYPE_CHECKING:
    from understudy.agents.cross_encoder import CrossEncoder
    from understudy.agents.encoder import EncoderAgent
    from understudy.agents.kv_memory import KeyValueMemory
    from understudy.agents.pools import Candidates
    from understudy.agents.profile_memory import ProfileMemory
    from understudy.agents.scripted import Scripted
    from understudy.agents.starspace import Starspace
    from understudy.agents.tfidf import TfIdfAgent

__all__ = ["AGENTS", "TRAINED", "agent_named", "draws_on_lines", "factory_named"]


def tfidf(**options: Any) -> TfIdfAgent:
    from understudy.agents.tfidf import TfIdfAgent

    return TfIdfAgent(**options)


def encoder(model: Path | None = None, **options: Any) -> EncoderAgent:
    from understudy.agents.encoder import EncoderAgent

    return EncoderAgent(model, **options)


def scripted(replies: Iterable[str] | None = None) -> Scripted:
    from understudy.agents.scripted import Scripted

    return Scripted(replies if replies is not None else (f"Line {number}." for number in range(1, 101)))


def starspace(model: Path, **options: Any) -> Starspace:
    from understudy.agents.starspace import Starspace

    return Starspace(model, **options)


def profile_memory(model: Path, **options: Any) -> ProfileMemory:
    from understudy.agents.profile_memory import ProfileMemory

    return ProfileMemory(model, **options)


def kv_memory(model: Path, **options: Any) -> KeyValueMemory:
    from understudy.agents.kv_memory import KeyValueMemory

    return KeyValueMemory(model, **options)


def cross_encoder(model: Path, **options: Any) -> CrossEncoder:
    from understudy.agents.cross_encoder import CrossEncoder

    return CrossEncoder(model, **options)


AGENTS: dict[str, Callable[..., Agent]] = {
    "encoder": encoder,
    "tfidf": tfidf,
    "scripted": scripted,
    "starspace": starspace,
    "profile-memory": profile_memory,
    "kv-memory": kv_memory,
    "cross-encoder": cross_encoder,
}

TRAINED = frozenset({"starspace", "profile-memory", "kv-memory", "cross-encoder"})
"""Agents that need a trained model; they are selected by its folder."""

FIXED_REPLIES = frozenset({"scripted"})
"""Agents whose replies are fixed, so that no candidate lines can be passed to them."""


def draws_on_lines(spec: str) -> bool:
    """Does the agent that a word means answer with lines, so that it can be extra more than the character's own?"""
    return spec in AGENTS.keys() - FIXED_REPLIES or (bool(spec) and Path(spec).is_dir())


def agent_named(spec: str, candidates: Candidates | None = None) -> Any:
    """The agent that a word on the command line means: a name, a model folder, or `module:factory`.

    A model folder says which agent it is for. A factory of your own is imported (from the current folder too), called
    without arguments, and gives an object with `reply` or `score`. `candidates` are for agents that draw on lines.
    """
    extra = {} if candidates is None or not draws_on_lines(spec) else {"candidates": candidates}
    if spec in AGENTS and spec not in TRAINED:
        return AGENTS[spec](**extra)
    if spec and Path(spec).is_dir():
        return _folder_agent(Path(spec), **extra)
    if spec in TRAINED:
        raise AgentError(
            f"'{spec}' needs a model: make one with 'understudy train {spec} --data DIR --out MODEL', "
            "then name its folder instead"
        )
    if (factory := factory_named(spec, "agent")) is not None:
        return _checked_agent(spec, factory)
    ready = ", ".join(name for name in AGENTS if name not in TRAINED)
    raise AgentError(
        f"there is no agent '{spec}'{did_you_mean(spec, AGENTS)}: choose from {ready}, "
        f"a model folder ({', '.join(sorted(TRAINED))}: make one with "
        "'understudy train'), or a factory of your own as module:factory"
    )


def _folder_agent(folder: Path, **extra: Candidates) -> Agent:
    from understudy.model_folder import read_agent_name

    name = read_agent_name(folder)
    if name not in AGENTS:
        raise AgentError(f"{folder} is a model for '{name}', an agent that this version does not have")
    return AGENTS[name](model=folder, **extra)


def factory_named(spec: str, what: str) -> Callable[..., Any] | None:
    """The function or class that `module:factory` means, imported from the current folder too; None for other words.

    `what` says what it makes: an agent, a guesser.
    """
    module, colon, name = spec.partition(":")
    if not colon or not name or not all(part.isidentifier() for part in module.split(".")):
        return None
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # after what is installed, so that a local file cannot shadow a package
    try:
        function = getattr(import_module(module), name, None)
    except ImportError as error:
        raise AgentError(f"cannot import '{module}' for the {what} '{spec}': {error}") from error
    if not callable(function):
        article = "an" if what[0] in "aeiou" else "a"
        raise AgentError(f"module '{module}' has no function or class '{name}': nothing to make {article} {what} with")
    factory: Callable[..., Any] = function
    return factory


def _checked_agent(spec: str, factory: Callable[..., Any]) -> object:
    try:
        agent: object = factory()
    except TypeError as error:
        raise AgentError(f"'{spec}' could not be called without arguments: {error}") from error
    if not isinstance(agent, Agent | Ranker):
        raise AgentError(f"what '{spec}' gives has neither reply nor score: an agent needs one of them")
    return agent
