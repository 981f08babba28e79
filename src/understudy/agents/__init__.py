"""Reply agents, by name, and the prompts of those that write.

An agent is imported when its entry is called, so that listing them imports no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import AgentError
from understudy.registry import Imported, Need, RegistryEntry, import_factory
from understudy.story.dialogue import Agent, Candidate, Evidence, LanguageModel, Ranker, Reply, Situation, Turn
from understudy.text import did_you_mean

if TYPE_CHECKING:
    from understudy.agents.encoder import EncoderAgent
    from understudy.agents.pools import Candidates


FROM_MODEL = Need.MODEL | Need.CANDIDATES
WRITING_MODEL = Need.MODEL | Need.TORCH

AGENTS: dict[str, RegistryEntry[Agent]] = {
    entry.name: entry
    for entry in (
        RegistryEntry("encoder", Imported("understudy.agents.encoder", "EncoderAgent"), Need.CANDIDATES),
        RegistryEntry("tfidf", Imported("understudy.agents.tfidf", "TfIdfAgent"), Need.CANDIDATES),
        RegistryEntry("llm", Imported("understudy.agents.writer", "llm_agent"), Need.BACKEND),
        RegistryEntry("batch", Imported("understudy.agents.writer", "batch_agent"), Need.BACKEND),
        RegistryEntry("local", Imported("understudy.agents.writer", "local_agent"), Need.BACKEND),
        RegistryEntry("writer", Imported("understudy.agents.writer", "writer_agent"), Need.BACKEND),
        RegistryEntry("scripted", Imported("understudy.agents", "Scripted")),
        RegistryEntry("starspace", Imported("understudy.agents.bag_ranker", "Starspace"), FROM_MODEL),
        RegistryEntry("profile-memory", Imported("understudy.agents.bag_ranker", "ProfileMemory"), FROM_MODEL),
        RegistryEntry("kv-memory", Imported("understudy.agents.bag_ranker", "KeyValueMemory"), FROM_MODEL),
        RegistryEntry("causal", Imported("understudy.agents.causal", "CausalAgent"), WRITING_MODEL),
        RegistryEntry("seq2seq", Imported("understudy.agents.lstm", "Seq2Seq"), WRITING_MODEL),
        RegistryEntry("generative-memory", Imported("understudy.agents.lstm", "GenerativeMemory"), WRITING_MODEL),
        RegistryEntry("cross-encoder", Imported("understudy.agents.cross_encoder", "CrossEncoder"), FROM_MODEL),
        RegistryEntry("bob", Imported("understudy.agents.bob", "BobAgent"), WRITING_MODEL),
        RegistryEntry("reranker", Imported("understudy.agents.reranker", "Reranker"), FROM_MODEL | Need.TORCH),
    )
}

TRAINED = frozenset(name for name, entry in AGENTS.items() if Need.MODEL in entry.needs)
"""Agents that need a trained model; they are selected by its folder."""

SHIPPED = frozenset({"reranker"})
"""Those of them whose model comes with the package: their name alone means it."""

WRITING = frozenset(name for name, entry in AGENTS.items() if Need.BACKEND in entry.needs)
"""Agents that write with a language model."""

WITH_MODEL = frozenset({"llm", "local", "batch"})
"""Agents that take the name of a model, or where it is, after a colon: llm:MODEL, local:PATH, batch:FOLDER."""


def draws_on_lines(spec: str) -> bool:
    """Does the agent that a word means answer with lines, so that it can be given more than the character's own?"""
    if spec in AGENTS:
        return Need.CANDIDATES in AGENTS[spec].needs
    if spec == "auto" or spec.partition(":")[0] == "guarded":  # see `judging.loading`
        return True
    return bool(spec) and Path(spec).is_dir() and _model_draws_on_lines(Path(spec))


def agent_named(spec: str, candidates: Candidates | None = None, encoder: EncoderAgent | None = None) -> Any:
    """The agent that a word on the command line means: a name, a model folder, or `module:factory`.

    `llm` and `local` take a model after a colon: `llm:MODEL`, `local:PATH`; `batch` takes the folder of its files. A
    model folder says which agent it is for. A factory of your own is imported (from the current folder too), called
    without arguments, and gives an object with `reply` or `score`. `candidates` are for agents that draw on lines;
    `encoder` is one whose encoded past an agent that writes may share.
    """
    extra: dict[str, Any] = {} if candidates is None or not draws_on_lines(spec) else {"candidates": candidates}
    if encoder is not None and spec.partition(":")[0] in WRITING:
        from understudy.agents.recall import Recall

        extra["recall"] = Recall(encoder)
    if spec in AGENTS and spec not in TRAINED:
        return AGENTS[spec](**extra)
    name, _, model = spec.partition(":")
    if name in WITH_MODEL and model:
        return AGENTS[name](model, **extra)
    if spec and Path(spec).is_dir():
        return _folder_agent(Path(spec), **extra)
    if spec in SHIPPED:
        return AGENTS[spec](**extra)
    if spec in TRAINED:
        raise AgentError(
            f"'{spec}' needs a model: make one with 'understudy train {spec} --data DIR --out MODEL', "
            "then name its folder instead"
        )
    if (factory := import_factory(spec, "agent")) is not None:
        return _checked_agent(spec, factory)
    ready = ", ".join(name for name in AGENTS if name not in TRAINED - SHIPPED)
    raise AgentError(
        f"there is no agent '{spec}'{did_you_mean(spec, AGENTS)}: choose from {ready}, "
        f"llm:MODEL, local:MODEL, batch:FOLDER, a model folder ({', '.join(sorted(TRAINED))}: make one with "
        "'understudy train'), or a factory of your own as module:factory"
    )


def _model_draws_on_lines(folder: Path) -> bool:
    from understudy.language.model_folder import read_agent_name

    name = read_agent_name(folder)
    return name not in AGENTS or Need.CANDIDATES in AGENTS[name].needs


def _folder_agent(folder: Path, **extra: Candidates) -> Agent:
    from understudy.language.model_folder import read_agent_name

    name = read_agent_name(folder)
    if name not in AGENTS:
        raise AgentError(f"{folder} is a model for '{name}', an agent that this version does not have")
    return AGENTS[name](model=folder, **(extra if Need.CANDIDATES in AGENTS[name].needs else {}))


def _checked_agent(spec: str, factory: Callable[..., Any]) -> object:
    try:
        agent: object = factory()
    except TypeError as error:
        raise AgentError(f"'{spec}' could not be called without arguments: {error}") from error
    if not isinstance(agent, Agent | Ranker | LanguageModel):
        raise AgentError(f"what '{spec}' gives has none of reply, score and log_probs: an agent needs one of them")
    return agent


# An agent with a fixed list of replies, for tests of programs that talk to an agent.

NUMBERED = tuple(f"Line {number}." for number in range(1, 101))


class Scripted:
    """Gives the n-th of its replies where the character has spoken n - 1 times in the history.

    It holds no state: the history says which reply is due, so one instance serves any number of chats.
    """

    def __init__(self, replies: Iterable[str] = NUMBERED) -> None:
        self.replies = tuple(replies)
        for number, reply in enumerate(self.replies, 1):
            if not reply.strip():
                raise AgentError(f"scripted reply {number} is blank: give every reply some text")

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        number = _times_spoken(situation, history)
        if number >= len(self.replies):
            raise AgentError(
                f"the script has {len(self.replies)} replies, and {situation.persona.name} has spoken {number} times: "
                f"give Scripted at least {number + 1} replies, or a shorter history"
            )
        text = self.replies[number]
        evidence = Evidence("script", f"reply {number + 1} of {len(self.replies)}")
        return Reply(text, (Candidate(text, 1.0),), (evidence,))

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        """1 for the reply that comes next in the script, 0 for any other."""
        number = _times_spoken(situation, history)
        due = self.replies[number] if number < len(self.replies) else None
        return [float(candidate == due) for candidate in candidates]


def _times_spoken(situation: Situation, history: Sequence[Turn]) -> int:
    return sum(turn.speaker == situation.persona.name for turn in history)
