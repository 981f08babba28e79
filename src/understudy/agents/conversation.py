"""A conversation: what was said in it, what each side knows of that, and a reply that is written in a thread.

Agents hold no conversation. Whoever talks with them keeps it, here in memory or in a database, and hands over what the
character knows of it (`perspective`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol, TypeVar

from understudy.agents.reply_text import continuing, split_begun
from understudy.errors import AgentError, InputError, StoryError
from understudy.progress import Cancellation
from understudy.story.dialogue import (
    DEFAULT_SAMPLING,
    USER_NAME,
    Agent,
    Reply,
    Sampling,
    Situation,
    Streamed,
    StreamingAgent,
    Turn,
    mark_found,
    situation_at,
)
from understudy.story.persona import Other
from understudy.story.storyfile import Story
from understudy.story.types import LoreEntry, Moment

STOP_TIMEOUT_S = 5.0  # how long a cancelled agent is waited for

Item = TypeVar("Item")


class ConversationTurn(NamedTuple):
    """Something that was said, and what decides who knows of it."""

    speaker: str | None
    """By the name that the listener knows; None for the one whom it faces."""
    text: str
    moment: Moment | None = None
    present: Collection[str] | None = None
    """Who was there beside the speaker; None where everybody was."""


def other_speaker(situation: Situation) -> str:
    """The name by which the one who talks with a character stands in its history."""
    return situation.faced.name if situation.faced else USER_NAME


def perspective(
    said: Sequence[ConversationTurn], situation: Situation, not_again: Sequence[str] = ()
) -> tuple[Turn, ...]:
    """The history as a character knows it: nothing that was said later than its moment, or while it was away.

    What was said last it has heard, wherever it was: it is to answer that. Texts in `not_again` count as said by it
    just before.
    """
    persona = situation.persona
    heard = [
        Turn(other_speaker(situation) if each.speaker is None else each.speaker, each.text)
        for each in said
        if each.moment is None or each.moment <= persona.moment
        if each is said[-1] or each.present is None or persona.name in (*each.present, each.speaker)
    ]
    return (*heard[:-1], *(Turn(persona.name, text) for text in not_again), *heard[-1:])


def message_last(said: Sequence[Item], is_reply: Callable[[Item], bool], is_own: Callable[[Item], bool]) -> list[Item]:
    """What was said with the message after the replies of others to it, where the character has not replied itself.

    Each of several answers the message, whoever else has by now.
    """
    asked = max((number for number, each in enumerate(said) if not is_reply(each)), default=None)
    replies = [] if asked is None else said[asked + 1 :]
    if asked is None or not replies or any(map(is_own, replies)):
        return list(said)
    return [*said[:asked], *replies, said[asked]]


class UserMemory(Protocol):
    """Keeps what is told in a conversation for later ones."""

    def recall(self, situation: Situation) -> Situation:
        """The situation with what the one faced told the character in earlier chats."""
        ...

    def keep(self, situation: Situation, turn: int, text: str) -> object: ...
    def take_back(self, since: int) -> None: ...


class AnsweredMessage(NamedTuple):
    """A message and its reply, with the situation it was given in."""

    situation: Situation
    message: Turn
    reply: Reply


class Greeting(NamedTuple):
    """What the character said before anybody spoke to it."""

    number: int
    moment: Moment
    text: str


@dataclass
class Conversation:
    """Keeps what was said while the moment and the person faced change.

    After going back to an earlier moment, what was said at later ones is not part of the history.
    """

    story: Story
    agent: Agent
    name: str
    moment: str
    facing: str | Other | None = None
    answered: list[AnsweredMessage] = field(default_factory=list)
    lore: tuple[LoreEntry, ...] = ()
    remembered: UserMemory | None = None
    """Set where what the user tells of themselves is to be kept."""
    greeting: Greeting | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.situation = self._situation(self.moment, self.facing)
        self.name = self.situation.persona.name

    def open(self, number: int, is_asked: bool = True) -> None:
        """Open the talk with one of the card's greetings, counted from 1; 0 for none, and none where there is none."""
        if self.answered:
            raise StoryError("the talk has begun: /undo what was said, then choose a greeting")
        self.greeting = None
        if number and (is_asked or self.situation.persona.greetings):
            from understudy.formats.cards import greeting_number

            text = greeting_number(self.situation, number)
            self.greeting = Greeting(number, self.situation.persona.moment, text)

    def _situation(self, moment: str, facing: str | Other | None) -> Situation:
        situation = situation_at(self.story, self.name, moment, facing)
        persona = situation.persona
        if self.lore:
            situation = replace(situation, persona=replace(persona, lore=(*persona.lore, *self.lore)))
        return self.remembered.recall(situation) if self.remembered else situation

    def say(self, text: str) -> Reply:
        message = Turn(other_speaker(self.situation), text)
        reply = mark_found(self.agent.reply(self.situation, self._history(message)), self.situation)
        self._keep(message, reply)
        return reply

    def stream(self, text: str) -> Generator[str, None, Reply]:
        """The same piece by piece, where the agent writes so. What came before an error or a Ctrl-C is kept."""
        if not isinstance(self.agent, StreamingAgent):
            whole = self.say(text)
            yield whole.text
            return whole
        message, pieces = Turn(other_speaker(self.situation), text), list[str]()
        reply: Reply | None = None
        try:
            written = Streamed(stream_in_thread(self.agent, self.situation, self._history(message)))
            for piece in written:
                pieces.append(piece)
                yield piece
            reply = mark_found(written.value, self.situation)
        finally:
            if reply is not None or pieces:
                said = reply or Reply("".join(pieces).rstrip())
                self._keep(message, said)
        return reply

    def _keep(self, message: Turn, reply: Reply) -> None:
        """Keep an answered message, and what it tells of a user who is to be remembered."""
        self.answered.append(AnsweredMessage(self.situation, message, reply))
        if self.remembered is not None:
            self.remembered.keep(self.situation, len(self.answered), message.text)

    def move(self, at: str | None = None, facing: str | None = None) -> None:
        """Go to another moment, or before somebody else."""
        moment, faced = at or self.moment, facing or self.facing
        self.situation = self._situation(moment, faced)
        self.moment, self.facing = moment, faced
        if self.greeting is not None and not self.answered:
            self.open(self.greeting.number)

    def undo(self) -> AnsweredMessage | None:
        """Take back the last message and its reply, and what was remembered of it."""
        if self.answered and self.remembered is not None:
            self.remembered.take_back(len(self.answered))
        return self.answered.pop() if self.answered else None

    def _said(self) -> Iterator[ConversationTurn]:
        if self.greeting is not None:
            yield ConversationTurn(self.name, self.greeting.text, self.greeting.moment)
        for situation, message, reply in self.answered:
            yield ConversationTurn(message.speaker, message.text, situation.persona.moment)
            yield ConversationTurn(situation.persona.name, reply.text, situation.persona.moment)

    def _history(self, message: Turn) -> tuple[Turn, ...]:
        return perspective([*self._said(), ConversationTurn(message.speaker, message.text)], self.situation)

    def turns(self) -> list[dict[str, Any]]:
        return [
            {"moment": said.moment.dotted, "speaker": said.speaker, "text": said.text}
            for said in self._said()
            if said.moment is not None
        ]

    def save(self, path: Path) -> int:
        """Write the chat, one turn a line; returns how many."""
        turns = list(self.turns())
        try:
            # bytes that are not UTF-8 are read as lone surrogates, which JSON writes as escapes
            with path.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.writelines(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}; choose another name", path) from error
        except ValueError as error:
            raise InputError("that is no name of a file: choose another") from error
        return len(turns)


def write_reply(
    agent: StreamingAgent,
    situation: Situation,
    history: Sequence[Turn],
    put: Callable[[str | Reply | BaseException | None], None],
    sampling: Sampling = DEFAULT_SAMPLING,
    cancellation: Cancellation | None = None,
) -> None:
    """Run an agent's generator to its end, in this thread; what is put last is the reply, an error, or None where it
    was cancelled.

    Where the last turn is the character's own, the reply is what comes after it (see `agents.reply_text`).
    """
    cancellation = cancellation or Cancellation()
    pieces, begun = agent.stream(situation, history, sampling, cancellation), split_begun(situation.persona, history)[1]
    if begun:
        pieces = continuing(pieces, begun)
    last: Reply | BaseException | None = None
    try:
        while not cancellation.is_cancelled:
            if piece := next(pieces):
                put(piece)
    except StopIteration as end:
        no_reply = f"{type(agent).__name__}.stream returned no Reply: end its generator with `return Reply(...)`"
        last = end.value if isinstance(end.value, Reply) else AgentError(no_reply)
    except BaseException as error:  # raised again by whoever waits for the reply
        last = None if cancellation.is_cancelled else error
    finally:
        pieces.close()
    put(last)


def stream_in_thread(
    agent: StreamingAgent, situation: Situation, history: Sequence[Turn]
) -> Generator[str, None, Reply]:
    """The pieces as they come; the generator returns the reply. Closing it cancels the agent.

    The agent runs in a thread of its own, so that Ctrl-C interrupts at once whatever the agent waits for.
    """
    cancellation, queue = Cancellation(), SimpleQueue[str | Reply | BaseException | None]()
    writing = (agent, situation, history, queue.put, DEFAULT_SAMPLING, cancellation)
    thread = Thread(target=write_reply, args=writing, name="agent", daemon=True)
    thread.start()
    try:
        while isinstance(item := queue.get(), str):
            yield item
        if isinstance(item, Reply):
            return item
        raise item or AgentError("the reply was stopped")
    finally:
        cancellation.cancel()
        thread.join(STOP_TIMEOUT_S)
