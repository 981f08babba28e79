"""Guarded agents by name, for the command line, the server and the benches.

auto              guarded over `llm` where one is set up, else over the shipped writer where its model is on this
                  machine, else over old lines
guarded           guarded over old lines alone: what the character said, heard and is
guarded:AGENT     guarded over old lines and any other agent

A writer is taken for a capable one, whose words are said whole, unless it is the shipped one or of its kind: trained
for the same short prompt, or a model in this process that is smaller than a gigabyte.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from heapq import merge
from importlib.util import find_spec

from understudy.agents import agent_named
from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.pools import Candidates, KeyedCache, key_of, own_past
from understudy.errors import AgentError
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import Stories
from understudy.language.backends.catalog import DEFAULT_MODEL, installed_model
from understudy.language.backends.settings import is_set_up
from understudy.metrics.utterances import UtteranceStore
from understudy.metrics.utterances.record import Sayable
from understudy.progress import Cancellation
from understudy.story.dialogue import (
    DEFAULT_SAMPLING,
    Agent,
    Draft,
    Drafter,
    Reply,
    Sampling,
    Situation,
    StreamingAgent,
    Turn,
    Usage,
)
from understudy.story.types import Exchange, Line

__all__ = [
    "AUTO", "BEST_OF", "GUARDED", "SHIPPED_WRITER", "ApprovedCandidates", "can_write", "is_guarded", "load_guarded",
]  # fmt: skip

AUTO, GUARDED = "auto", "guarded"
BEST_OF = 6  # drafts of a model in this process, which share their prompt
SHIPPED_WRITER = "writer"
COMPACT = "compact"  # the prompt that small writers are trained for
NO_MODEL = (
    "Answers come from what the character has said and is. For answers that are written: "
    "'understudy models pull smollm2', or set up an LLM (see 'understudy models --help')."
)


SMALL_MODEL = 1_000_000_000  # bytes; quantised, about a billion and a half parameters


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


class StreamingDrafter(AgentDrafter):
    """One that gives its reply in pieces."""

    def __init__(self, agent: Agent, writer: StreamingAgent) -> None:
        super().__init__(agent)
        self._writer = writer

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        return self._writer.stream(situation, history, sampling, cancellation)


def is_guarded(spec: str) -> bool:
    """Does an agent's name mean a guarded agent?"""
    return spec == AUTO or spec.partition(":")[0] == GUARDED


def load_guarded(spec: str, stories: Stories, candidates: Candidates | None = None) -> GuardedAgent:
    """The guarded agent of a name. `stories` finds a story by its identity; `candidates` are for old lines."""
    encoder = EncoderAgent(candidates=candidates or own_past)
    old_lines = OldLines(encoder)
    if spec == AUTO:
        if not (name := _best_writer()):
            return GuardedAgent([old_lines], stories, encoder, notice=NO_MODEL)
        return load_guarded(f"{GUARDED}:{name}", stories, candidates)
    kind, _, inner = spec.partition(":")
    if kind != GUARDED:
        raise AgentError(f"'{spec}' is not a guarded agent: say {AUTO}, {GUARDED} or {GUARDED}:AGENT")
    if inner in ("", "encoder"):
        return GuardedAgent([old_lines], stories, encoder)
    if is_guarded(inner):
        return load_guarded(inner, stories, candidates)
    agent = agent_named(inner, candidates, encoder)
    if not isinstance(agent, Agent | Drafter):
        raise AgentError(f"'{inner}' ranks replies but gives none of its own: choose an agent that has `reply`")
    streams = isinstance(agent, StreamingAgent)
    is_capable = (streams or isinstance(agent, Drafter)) and not _is_small(inner, agent)
    # A small model writes several drafts, and the best of them competes with old lines.
    best_of = 1 if streams and is_capable else BEST_OF
    return GuardedAgent([old_lines, _drafter(agent)], stories, encoder, best_of, writer_first=is_capable)


def _drafter(agent: Agent | Drafter) -> Drafter:
    if isinstance(agent, Drafter):
        return agent
    return StreamingDrafter(agent, agent) if isinstance(agent, StreamingAgent) else AgentDrafter(agent)


def _is_small(name: str, agent: object) -> bool:
    if getattr(agent, "style", "") == COMPACT:
        return True
    kind, _, model = name.partition(":")
    path = installed_model(model or DEFAULT_MODEL) if kind == "local" else None
    return path is not None and path.stat().st_size < SMALL_MODEL


def _best_writer() -> str:
    """The agent that writes on this machine; blank where none can."""
    if is_set_up():
        return "llm"
    return SHIPPED_WRITER if can_write() else ""


def can_write() -> bool:
    """Are the shipped writer's model and what runs it on this machine?"""
    return installed_model(DEFAULT_MODEL) is not None and find_spec("xllamacpp") is not None


# Candidates from the utterance database: lines that are approved for a character at a moment, beside its own past.
#
#     e is a candidate at m  iff  it was said before m, or it is approved for the story and since(e) <= m < until(e)
#
# in story order, an approved line where it may first be said. The database's version is checked at each reply, so that
# a decision holds at once; lines are read and indexed again only when they have changed.


CACHE_SIZE = 64


class ApprovedCandidates:
    """Candidates for any agent that answers from lines. They are the character's by its name and its story's title."""

    def __init__(self, store: UtteranceStore) -> None:
        self._store = store
        self._lines = KeyedCache[tuple[Sayable, ...]](CACHE_SIZE)
        self._exchanges = KeyedCache[tuple[Exchange, ...]](CACHE_SIZE)

    def __call__(self, situation: Situation) -> Iterable[Exchange]:
        persona, past = situation.persona, own_past(situation)
        lines = self._lines.get_or_create(
            (persona.story, persona.name, persona.moment, self._store.version()),
            None,
            lambda: tuple(self._store.sayable(persona.name, persona.moment, persona.story)),
        )
        if not lines:
            return past
        # Agents index a collection once and recognise it by its identity.
        return self._exchanges.get_or_create(
            (key_of(past, persona), tuple(line.number for line in lines)),
            persona,
            lambda: tuple(merge(past, _as_exchanges(lines, persona.name), key=lambda exchange: exchange.said.moment)),
        )


def _as_exchanges(lines: Iterable[Sayable], who: str) -> list[Exchange]:
    exchanges = [Exchange(None, Line(line.since, who, line.text), "", line.number) for line in lines]
    return sorted(exchanges, key=lambda exchange: exchange.said.moment)
