"""A conversation on the command line: agents store no history, so it is stored here."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from understudy.errors import InputError, StoryError
from understudy.formats.cards.document import greeting_number
from understudy.people.memory import RememberedChat, remembered_person
from understudy.progress import Cancellation
from understudy.story.dialogue import (
    DEFAULT_SAMPLING,
    USER_NAME,
    Agent,
    Reply,
    Situation,
    StreamingAgent,
    Turn,
    mark_found,
    situation_at,
)
from understudy.story.storyfile import Story
from understudy.story.types import LoreEntry, Moment

__all__ = ["AnsweredMessage", "Conversation", "Greeting"]

STOP_TIMEOUT_S = 5.0  # how long a cancelled agent is waited for


@dataclass(frozen=True, slots=True)
class AnsweredMessage:
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
    facing: str | None = None
    answered: list[AnsweredMessage] = field(default_factory=list)
    lore: tuple[LoreEntry, ...] = ()
    remembered: RememberedChat | None = None
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
            text = greeting_number(self.situation, number)
            self.greeting = Greeting(number, self.situation.persona.moment, text)

    def _situation(self, moment: str, facing: str | None) -> Situation:
        faced = remembered_person(self.remembered.person) if self.remembered and facing is None else facing
        situation = situation_at(self.story, self.name, moment, faced)
        persona = situation.persona
        if self.lore:
            situation = replace(situation, persona=replace(persona, lore=(*persona.lore, *self.lore)))
        return self.remembered.recall(situation) if self.remembered else situation

    def say(self, text: str) -> Reply:
        message = self._message(text)
        reply = mark_found(self.agent.reply(self.situation, (*self._history(), message)), self.situation)
        self._keep(message, reply)
        return reply

    def stream(self, text: str) -> Generator[str, None, Reply]:
        """The same piece by piece, where the agent writes so. What came before an error or a Ctrl-C is kept."""
        if not isinstance(self.agent, StreamingAgent):
            whole = self.say(text)
            yield whole.text
            return whole
        message, pieces = self._message(text), list[str]()
        reply: Reply | None = None
        try:
            writing = _stream_in_thread(self.agent, self.situation, (*self._history(), message))
            while reply is None:
                try:
                    pieces.append(next(writing))
                except StopIteration as end:
                    reply = mark_found(end.value, self.situation)
                else:
                    yield pieces[-1]
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

    def _message(self, text: str) -> Turn:
        return Turn(self.situation.faced.name if self.situation.faced else USER_NAME, text)

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

    def turns(self) -> Iterator[dict[str, Any]]:
        if self.greeting is not None:
            yield {"moment": self.greeting.moment.dotted, "speaker": self.name, "text": self.greeting.text}
        for answered in self.answered:
            message, persona = answered.message, answered.situation.persona
            yield {"moment": persona.moment.dotted, "speaker": message.speaker, "text": message.text}
            yield {"moment": persona.moment.dotted, "speaker": persona.name, "text": answered.reply.text}

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

    def _history(self) -> Iterator[Turn]:
        now = self.situation.persona.moment
        if self.greeting is not None and self.greeting.moment <= now:
            yield Turn(self.name, self.greeting.text)
        for answered in self.answered:
            persona = answered.situation.persona
            if persona.moment <= now:
                yield answered.message
                yield Turn(persona.name, answered.reply.text)


def _stream_in_thread(
    agent: StreamingAgent, situation: Situation, history: Sequence[Turn]
) -> Generator[str, None, Reply]:
    """The pieces as they come; the generator returns the reply. Closing it cancels the agent.

    The agent runs in a thread of its own, so that Ctrl-C interrupts at once whatever the agent waits for.
    """
    cancellation, queue = Cancellation(), SimpleQueue[str | Reply | BaseException]()

    def write() -> None:
        pieces = agent.stream(situation, history, DEFAULT_SAMPLING, cancellation)
        try:
            while not cancellation.is_cancelled:
                queue.put(next(pieces))
        except StopIteration as end:
            queue.put(end.value)
        except BaseException as error:  # raised again in the thread that prints
            queue.put(error)
        finally:
            pieces.close()

    thread = Thread(target=write, name="agent", daemon=True)
    thread.start()
    try:
        while True:
            item = queue.get()
            if isinstance(item, Reply):
                return item
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        cancellation.cancel()
        thread.join(STOP_TIMEOUT_S)
