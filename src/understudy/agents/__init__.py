"""The agents, by name. A factory imports what its agent needs, so that looking at the list costs nothing."""

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
"""Agents that are nothing without a model of yours; they are named by its folder."""

OF_THEIR_OWN = frozenset({"scripted"})
"""Agents that have all their words already."""


def draws_on_lines(spec: str) -> bool:
    """Does the agent that a word means answer with lines, so that it can be handed more than the character's own?"""
    return spec in AGENTS.keys() - OF_THEIR_OWN or (bool(spec) and Path(spec).is_dir())


def agent_named(spec: str, candidates: Candidates | None = None) -> Any:
    """The agent that a word on the command line means: a name, a model folder, or `module:factory`.

    A model folder says which agent it is for. A factory of your own is imported (from the current folder too), called
    without arguments, and gives an object with `reply` or `score`. `candidates` are for agents that draw on lines.
    """
    handed = {} if candidates is None or not draws_on_lines(spec) else {"candidates": candidates}
    if spec in AGENTS and spec not in TRAINED:
        return AGENTS[spec](**handed)
    if spec and Path(spec).is_dir():
        return _of_folder(Path(spec), **handed)
    if spec in TRAINED:
        raise AgentError(
            f"'{spec}' needs a model: make one with 'understudy train {spec} --data DIR --out MODEL', "
            "then name its folder instead"
        )
    if (made := factory_named(spec, "agent")) is not None:
        return _made(spec, made)
    ready = ", ".join(name for name in AGENTS if name not in TRAINED)
    raise AgentError(
        f"there is no agent '{spec}'{did_you_mean(spec, AGENTS)}: choose from {ready}, "
        f"a model folder ({', '.join(sorted(TRAINED))}: make one with "
        "'understudy train'), or a factory of your own as module:factory"
    )


def _of_folder(folder: Path, **handed: Candidates) -> Agent:
    from understudy.modelfolder import agent_of

    name = agent_of(folder)
    if name not in AGENTS:
        raise AgentError(f"{folder} is a model for '{name}', an agent that this version does not have")
    return AGENTS[name](model=folder, **handed)


def factory_named(spec: str, what: str) -> Callable[..., Any] | None:
    """The function or class that `module:factory` means, imported from the current folder too; None for other words.

    `what` says what it makes: an agent, a guesser.
    """
    module, colon, factory = spec.partition(":")
    if not colon or not factory or not all(part.isidentifier() for part in module.split(".")):
        return None
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # what is being written lies where one works; what is installed comes first
    try:
        made = getattr(import_module(module), factory, None)
    except ImportError as error:
        raise AgentError(f"cannot import '{module}' for the {what} '{spec}': {error}") from error
    if not callable(made):
        one = f"an {what}" if what[0] in "aeiou" else f"a {what}"
        raise AgentError(f"module '{module}' has no function or class '{factory}': nothing to make {one} with")
    found: Callable[..., Any] = made
    return found


def _made(spec: str, made: Callable[..., Any]) -> object:
    try:
        agent: object = made()
    except TypeError as error:
        raise AgentError(f"'{spec}' could not be called without arguments: {error}") from error
    if not isinstance(agent, Agent | Ranker):
        raise AgentError(f"what '{spec}' gives has neither reply nor score: an agent needs one of them")
    return agent
