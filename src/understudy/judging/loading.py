"""Guarded agents by name, for the command line, the server and the benches.

auto              guarded over `llm` where one is set up, else over the shipped writer where its model is on this
                  machine, else over old lines
guarded           guarded over old lines alone: what the character said, heard and is
guarded:AGENT     guarded over old lines and any other agent
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from understudy.agents import agent_named
from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.pools import Candidates, own_past
from understudy.cancellation import Cancellation
from understudy.dialogue import (
    DEFAULT_SAMPLING,
    Agent,
    Draft,
    Drafter,
    Sampling,
    Situation,
    StreamingAgent,
    Turn,
    Usage,
)
from understudy.errors import AgentError, UnderstudyError
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import Stories

__all__ = ["AUTO", "GUARDED", "AgentDrafter", "is_guarded", "load_guarded"]

AUTO, GUARDED = "auto", "guarded"
BEST_OF = 8  # drafts of a model in this process, which share their prompt
MODEL = "smollm2"
NO_MODEL = (
    "Answers come from what the character has said and is. For answers that are written: "
    "'understudy models pull smollm2', or set up an LLM (see 'understudy models --help')."
)


class AgentDrafter:
    """An agent that only replies, as a drafter: its candidates, or its reply where it lists none."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def drafts(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,  # noqa: ARG002
        cancellation: Cancellation | None = None,  # noqa: ARG002
    ) -> tuple[list[Draft], Usage]:
        reply = self._agent.reply(situation, history)
        drafts = [
            Draft(candidate.text, "exchange" if candidate.moment else "writer", candidate.moment, ())
            for candidate in reply.candidates
        ]
        if all(draft.text != reply.text for draft in drafts):
            drafts.insert(0, Draft(reply.text, "writer", None, reply.evidence))
        return drafts, reply.usage or Usage()


def is_guarded(spec: str) -> bool:
    """Does a word on the command line mean a guarded agent?"""
    return spec == AUTO or spec.partition(":")[0] == GUARDED


def load_guarded(spec: str, stories: Stories, candidates: Candidates | None = None) -> GuardedAgent:
    """The guarded agent that a word means. `stories` finds those of a title; `candidates` are for old lines."""
    encoder = EncoderAgent(candidates=candidates or own_past)
    old_lines = OldLines(encoder)
    if spec == AUTO:
        name, best_of = _best_writer()
        if not name:
            return GuardedAgent([old_lines], stories, encoder, notice=NO_MODEL)
        return GuardedAgent([old_lines, agent_named(name)], stories, encoder, best_of)
    kind, _, inner = spec.partition(":")
    if kind != GUARDED:
        raise AgentError(f"'{spec}' is not a guarded agent: say {AUTO}, {GUARDED} or {GUARDED}:AGENT")
    if inner in ("", "encoder"):
        return GuardedAgent([old_lines], stories, encoder)
    if is_guarded(inner):
        return load_guarded(inner, stories, candidates)
    agent = agent_named(inner, candidates)
    if not isinstance(agent, Agent | Drafter):
        raise AgentError(f"'{inner}' ranks replies but gives none of its own: choose an agent that has `reply`")
    drafter = agent if isinstance(agent, Drafter) else AgentDrafter(agent)
    streams = isinstance(agent, StreamingAgent) and inner.partition(":")[0] not in ("local", "writer")
    return GuardedAgent([old_lines, drafter], stories, encoder, 1 if streams else BEST_OF)


def _best_writer() -> tuple[str, int]:
    """The agent that writes on this machine, and how many drafts it is asked for; blank where none can."""
    settings, catalog = _optional("understudy.backends.settings"), _optional("understudy.backends.catalog")
    if settings is not None and settings.is_set_up():
        return "llm", 1  # a large model needs one draft, and is shown as it writes
    if catalog is not None and _optional("xllamacpp") is not None and _has_model(catalog):
        return "writer", BEST_OF
    return "", 1


def _optional(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        return None


def _has_model(catalog: Any) -> bool:
    try:
        return catalog.installed_model(MODEL) is not None
    except UnderstudyError:
        return False
