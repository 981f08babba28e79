"""A chat at the command line: what was said so far, to whom, and when in the story.

Agents hold no conversation; this does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.agents import agent_named
from understudy.dialogue import USER_NAME, Agent, Reply, Situation, Turn, situation_at
from understudy.errors import AgentError, InputError
from understudy.storyfile import Story

if TYPE_CHECKING:
    from understudy.agents.pools import Candidates

__all__ = ["Conversation", "Exchanged", "speaker_named"]


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A message and its reply, with the situation it was given in."""

    situation: Situation
    message: Turn
    reply: Reply


@dataclass
class Conversation:
    """Moves through time and from one partner to another, and keeps what was said.

    Who is asked at an earlier moment than before has not said yet what was said at the later one.
    """

    story: Story
    agent: Agent
    name: str
    moment: str
    facing: str | None = None
    exchanged: list[Exchanged] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.situation = situation_at(self.story, self.name, self.moment, self.facing)
        self.name = self.situation.persona.name

    def say(self, text: str) -> Reply:
        message = Turn(self.situation.faced.name if self.situation.faced else USER_NAME, text)
        reply = self.agent.reply(self.situation, (*self._history(), message))
        self.exchanged.append(Exchanged(self.situation, message, reply))
        return reply

    def move(self, at: str | None = None, facing: str | None = None) -> None:
        """Go to another moment, or before somebody else."""
        moment, faced = at or self.moment, facing or self.facing
        self.situation = situation_at(self.story, self.name, moment, faced)
        self.moment, self.facing = moment, faced

    def undo(self) -> Exchanged | None:
        """Take back the last message and its reply."""
        return self.exchanged.pop() if self.exchanged else None

    def turns(self) -> Iterator[dict[str, Any]]:
        for one in self.exchanged:
            moment = one.situation.persona.moment.dotted
            yield {"moment": moment, "speaker": one.message.speaker, "text": one.message.text}
            yield {"moment": moment, "speaker": one.situation.persona.name, "text": one.reply.text}

    def save(self, path: Path) -> int:
        """Write the chat, one turn a line; returns how many."""
        turns = list(self.turns())
        try:
            # half of a surrogate pair, as bytes that are no text are read, is written as JSON writes it
            with path.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.writelines(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}; choose another name", path) from error
        except ValueError as error:
            raise InputError("that is no name of a file: choose another") from error
        return len(turns)

    def _history(self) -> Iterator[Turn]:
        now = self.situation.persona.moment
        for one in (exchanged for exchanged in self.exchanged if exchanged.situation.persona.moment <= now):
            yield one.message
            yield Turn(one.situation.persona.name, one.reply.text)


def speaker_named(spec: str, candidates: Candidates | None = None) -> Agent:
    """The agent that a word on the command line means, if it can hold a conversation."""
    agent = agent_named(spec, candidates)
    if not isinstance(agent, Agent):
        raise AgentError(f"'{spec}' ranks replies but gives none of its own: choose an agent that has `reply`")
    return agent
