"""Replies in a chat: which characters answer a message, what they say, and the alternatives for a retry.

With several characters, those whom the user asks to answer do. Else those called by name ('Zita, who wrote it?', 'Who
wrote it, Prior?') answer; being mentioned ('Did Pia see it?') counts only if nobody is called. Otherwise the next in
turn answers: who comes after the last one who spoke, in the order of the scene. A greeting to all is answered by at
most `MAX_ANSWERS` characters.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import msgspec

from understudy.agents.conversation import message_last
from understudy.errors import UnderstudyError
from understudy.progress import Cancellation
from understudy.server.chats.scene import ChatMemory, history_for, situation_in
from understudy.server.chats.schemas import EvidenceDocument, MessageDocument, Why, why_of
from understudy.server.chats.store import Chat, Message
from understudy.server.executor import AgentExecutor
from understudy.server.problems import ProblemDocument, problem_of
from understudy.server.story_registry import StoryRegistry, reply_as_shown
from understudy.server.streaming import ShownPieces, server_event
from understudy.story.dialogue import USER_NAME, Reply, Sampling, Situation, Turn
from understudy.story.names import ShownNames, people_at, shown_names, shown_names_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment

SOURCE_KINDS = frozenset({"exchange", "approved", "bank", "script"})
"""Evidence of where a reply was taken from, which does not hold for another candidate."""

MAX_ANSWERS = 3
CLAUSES = re.compile(r"[,.!?;:…。、，！？；：\n]|--|—|–")
JOINERS = frozenset("and or & dear my oh the mr mrs miss dr と 和 跟".split())
GREETINGS = frozenset(
    "hello hi hey greetings welcome good morning evening afternoon night day bye goodbye farewell thanks thank you "
    "こんにちは おはよう こんばんは どうも 你好 您好 早 再见".split()
)
EVERYBODY = frozenset(
    "all everybody everyone both you two three friends people folks gentlemen ladies there "
    "みなさん 皆さん みんな 大家 各位 你们好 你们".split()
)


class ReplyGenerator:
    """Gets replies from the agent. Nothing is stored here."""

    def __init__(self, registry: StoryRegistry, executor: AgentExecutor, memory: ChatMemory) -> None:
        self._stories, self._executor, self._memory = registry, executor, memory

    async def shown_name(self, chat: Chat, name: str | None) -> str:
        """The name somebody is shown by at the chat's moment."""
        story = self._stories.story(chat.story)
        names = await asyncio.to_thread(lambda: shown_names(story, story.moment(chat.moment)))
        return USER_NAME if name is None else names.get(name, name)

    async def who_answers(self, chat: Chat, path: Sequence[Message]) -> list[str]:
        """Who answers the last message of a path; after a reply, the next in turn."""
        story, message = self._stories.story(chat.story), path[-1]
        listeners = await asyncio.to_thread(lambda: _listeners(story, chat, story.moment(chat.moment)))
        present = {listener.name for listener in listeners}
        if addressed := [name for name in message.addressed or () if name in present]:
            return addressed
        last = next((said.author for said in reversed(path) if said.is_reply), None)
        return who_answers("" if message.is_reply else message.text, listeners, last)

    async def begin(
        self,
        chat: Chat,
        name: str,
        path: Sequence[Message],
        not_again: Sequence[str] = (),
        cancellation: Cancellation | None = None,
    ) -> tuple[Message, AsyncGenerator[str | Message, None]]:
        """A character's reply to a path of messages: without its text, and the pieces as they are written and then
        the whole. Texts in `not_again` count as said already."""
        story = self._stories.story(chat.story)
        heard = await self._with_question_last(chat, name, path)

        def prepare() -> tuple[Situation, Sequence[Turn], ShownNames]:
            situation = self._memory.recall(chat, situation_in(story, chat, name, heard[-1]))
            names = shown_names_at(story, situation.persona.moment)
            return situation, history_for(story, situation, heard, not_again), names

        situation, history, names = await asyncio.to_thread(prepare)

        async def items() -> AsyncGenerator[str | Message, None]:
            shown = ShownPieces(names)
            sampling = _varied(chat.sampling, len(not_again))
            replying = self._executor.stream(situation, history, sampling, None, cancellation, chat.agent)
            async with aclosing(replying):
                async for item in replying:
                    if isinstance(item, str):
                        if piece := shown.feed(item):
                            yield piece
                    else:
                        if tail := shown.finish():
                            yield tail
                        yield _message(situation, reply_as_shown(item, names), names, chat.characters)

        return _message(situation, Reply(""), names, chat.characters), items()

    async def _with_question_last(self, chat: Chat, name: str, path: Sequence[Message]) -> Sequence[Message]:
        """The path with the user's message after the replies of others to it, where this one was asked as well."""
        reordered = message_last(path, lambda each: each.is_reply, lambda each: each.author == name)
        if reordered == list(path):
            return path
        asked = path[: path.index(reordered[-1]) + 1]
        return reordered if name in await self.who_answers(chat, asked) else path

    def candidate(self, old: Message, tries: Sequence[Message]) -> Message | None:
        """The best candidate that was not tried yet; `tries` are the replies so far."""
        tried = {message.text for message in tries}
        cut = [message.text for message in tries if message.state == "cut"]
        first = msgspec.json.decode(tries[0].why, type=Why)
        for candidate in first.candidates:
            if not candidate.text or candidate.rejected or candidate.text in tried:
                continue
            if not any(candidate.text.startswith(text) for text in cut):
                lasting = [evidence for evidence in first.evidence if evidence.kind not in SOURCE_KINDS]
                source = EvidenceDocument("exchange", candidate.text, candidate.moment, [])
                why = Why([source, *lasting], first.candidates)
                return replace(old, text=candidate.text, state="whole", why=msgspec.json.encode(why).decode())
        return None


def texts_tried(tries: Sequence[Message]) -> list[str]:
    """Texts of a reply and its alternatives so far, which should not come again."""
    if not tries:
        return []
    considered = msgspec.json.decode(tries[0].why, type=Why).candidates
    texts = {message.text for message in tries} | {candidate.text for candidate in considered}
    return sorted(text for text in texts if text)


def continued(old: Message, more: Message) -> Message:
    """A reply with what was added to it; its grounds are those of both."""
    before, added = (msgspec.json.decode(message.why, type=Why) for message in (old, more))
    text = old.text + more.text
    candidates = [
        msgspec.structs.replace(candidate, text=text) if candidate.text == more.text else candidate
        for candidate in added.candidates
    ]
    evidence = [*before.evidence, *(item for item in added.evidence if item not in before.evidence)]
    why = msgspec.json.encode(Why(evidence, candidates)).decode()
    return replace(more, text=text, shown_name=old.shown_name, why=why)


def _varied(sampling: Sampling, tries: int) -> Sampling:
    """Another try of the same seed is another text, and the same one each time."""
    return sampling if sampling.seed is None else replace(sampling, seed=(sampling.seed + tries) % 2**31)


def _message(situation: Situation, reply: Reply, names: ShownNames, present: tuple[str, ...]) -> Message:
    return Message(
        is_reply=True,
        author=situation.persona.name,
        shown_name=names.of(situation.persona.name),
        text=reply.text,
        moment=situation.persona.moment.dotted,
        faced=names.of(situation.faced.name) if situation.faced else None,
        why=msgspec.json.encode(why_of(reply)).decode(),
        present=present,
    )


@dataclass(frozen=True, slots=True)
class Listener:
    """Somebody in the scene, with all the names they may be called by."""

    name: str
    """The story's own name for them, which nobody may know yet."""
    aliases: tuple[str, ...]


def _listeners(story: Story, chat: Chat, moment: Moment) -> list[Listener]:
    known_as = {person.name: person.known_as for person in people_at(story, moment)}
    return [Listener(name, known_as.get(name, (name,))) for name in chat.characters if name != chat.speaker]


def who_answers(text: str, listeners: Sequence[Listener], last: str | None = None) -> list[str]:
    """Who answers, in order. `last` is who of them spoke last."""
    if len(listeners) < 2:
        return [listener.name for listener in listeners]
    forms = _unique_forms(listeners)
    clauses = [_normalize(clause) for clause in CLAUSES.split(text)]
    called = [name for clause in clauses for name in _called(clause, forms)]
    if called:
        return list(dict.fromkeys(called))[:MAX_ANSWERS]
    if any(_greets_all(clause) for clause in clauses):
        return [listener.name for listener in listeners][:MAX_ANSWERS]
    mentioned = _mentions(_normalize(text), forms)
    if mentioned:
        return [mentioned[0][1]]
    names = [listener.name for listener in listeners]
    return [names[(names.index(last) + 1) % len(names)] if last in names else names[0]]


def _unique_forms(listeners: Sequence[Listener]) -> dict[str, str]:
    """Form of address -> name: aliases and parts of them that only one listener has, the longest first."""
    owners: dict[str, set[str]] = {}
    for listener in listeners:
        for alias in listener.aliases:
            for form in {_normalize(alias), *_normalize(alias).split()}:
                if form and form not in JOINERS:
                    owners.setdefault(form, set()).add(listener.name)
    longest_first = sorted(owners.items(), key=lambda item: (-len(item[0]), item[0]))
    return {form: next(iter(names)) for form, names in longest_first if len(names) == 1}


def _called(clause: str, forms: dict[str, str]) -> Iterable[str]:
    """Whom a clause calls, if it consists of names and a greeting only: 'hello Zita and Pia'."""
    mentions = _mentions(clause, forms)
    remainder = clause
    for form, _ in mentions:
        remainder = remainder.replace(form, " ", 1)
    if mentions and set(remainder.split()) <= JOINERS | GREETINGS:
        return [name for _, name in mentions]
    return ()


def _mentions(text: str, forms: dict[str, str]) -> list[tuple[str, str]]:
    """(form, name) of everybody named in a text, in order."""
    matches: list[tuple[int, str, str]] = []
    unmatched = text
    for form, name in forms.items():
        pattern = re.escape(form) if _is_unspaced(form) else rf"(?<!\w){re.escape(form)}(?!\w)"
        if match := re.search(pattern, unmatched):
            matches.append((match.start(), form, name))
            unmatched = unmatched[: match.start()] + "\0" * len(match[0]) + unmatched[match.end() :]
    first_forms: dict[str, str] = {}
    for _, form, name in sorted(matches):
        first_forms.setdefault(name, form)
    return [(form, name) for name, form in first_forms.items()]


def _greets_all(clause: str) -> bool:
    words = set(clause.split())
    return bool(words) and words <= GREETINGS | EVERYBODY | JOINERS and (words <= GREETINGS or bool(words & EVERYBODY))


def _normalize(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _is_unspaced(form: str) -> bool:
    """Whether its script has no spaces between words."""
    return any("\u3040" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff" for letter in form)


# The server-sent events of a request to a chat: the user's message, then the replies piece by piece.
#
# The service puts events into a queue and does not wait for the client, which may be slow or gone. A reply that was
# chosen whole is stored first and then sent word by word; one that is written is sent as it comes.

TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*|\s+")


Item = bytes | MessageDocument | UnderstudyError
"""An event: `said` (the user's message, stored), `thinking` (who is about to reply), `reply` (whose first token
follows), `token`, `done` (the whole message), `problem`, `end`. A message is a reply that is still to be cut into some,
an error a problem."""


@dataclass(slots=True)
class LiveReply:
    """A reply while it is written. Its id is reserved; the database has it from its first piece on, a moment later."""

    id: int
    parent: int | None
    message: Message
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class ReplyStream:
    """The events of a request. `stop` ends the stream before its next event, and whatever is being written.

    `user_message` is the message that is being answered, and `streamed` are the replies that were queued for streaming.
    `saved` are the replies in the order they were stored; the database's thread fills it within the transaction, so
    that a stop that runs in a later transaction knows every one of them. `live` is the reply that is being written.
    """

    def __init__(self, chat_id: str, pace_s: float) -> None:
        self.chat_id = chat_id
        self.stopped = False
        self.cancellation = Cancellation()
        self.live: LiveReply | None = None
        self.user_message: int | None = None
        self.saved: list[int] = []
        self.streamed: set[int] = set()
        self._started: set[int] = set()
        self._pace_s = pace_s
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue()

    def stop(self) -> None:
        self.stopped = True
        self.cancellation.cancel()

    def leave(self) -> None:
        """The client has gone: what is being written is broken off; a reply that is chosen whole will be stored."""
        self.cancellation.cancel()

    def send(self, name: str, document: object) -> None:
        self._queue.put_nowait(server_event(name, document))

    def begin_reply(self, live: LiveReply, opening: object) -> None:
        """Announce a reply that is being written."""
        self.live = live
        self.streamed.add(live.id)
        self._started.add(live.id)
        self.send("reply", opening)

    def send_piece(self, piece: str) -> None:
        assert self.live is not None
        self.live.pieces.append(piece)
        self.send("token", {"message": self.live.id, "text": piece})

    def send_reply(self, message: MessageDocument) -> None:
        """Stream a stored reply word by word."""
        self.streamed.add(message.id)
        self._queue.put_nowait(message)

    def unseen(self, after: int | None) -> list[int]:
        """The replies of which the client has seen nothing: those after a message; else those not started yet."""
        if after is not None and after in (self.user_message, *self.saved):
            return self.saved[self.saved.index(after) + 1 :] if after in self.saved else list(self.saved)
        return [reply for reply in self.saved if reply not in self._started]

    def fail(self, error: UnderstudyError) -> None:
        self._queue.put_nowait(error)

    def close(self) -> None:
        self._queue.put_nowait(None)

    async def events(self) -> AsyncGenerator[bytes, None]:
        """The encoded events. An error before the first event is raised: the response has not begun yet."""
        first = await self._queue.get()
        if isinstance(first, UnderstudyError):
            raise first
        return self._events_from(first)

    async def _events_from(self, first: Item | None) -> AsyncGenerator[bytes, None]:
        item = first
        while item is not None and not self.stopped:
            if isinstance(item, MessageDocument):
                async for event in self._reply_events(item):
                    yield event
            elif isinstance(item, UnderstudyError):
                yield server_event("problem", ProblemDocument(problem_of(item)))
            else:
                yield item
            if not self.stopped:
                item = await self._queue.get()
        if not self.stopped:
            yield server_event("end", {})

    async def _reply_events(self, message: MessageDocument) -> AsyncGenerator[bytes, None]:
        self._started.add(message.id)
        opening = {"id": message.id, "parent": message.parent, "author": message.author, "when": message.when}
        yield server_event("reply", opening)
        for token in split_tokens(message.text):
            if self.stopped:
                return
            yield server_event("token", {"message": message.id, "text": token})
            if self._pace_s:
                await asyncio.sleep(self._pace_s)
        yield server_event("done", message)


def split_tokens(text: str) -> list[str]:
    """Words with the space after them, or characters in scripts without spaces. Joined, they are the text."""
    return TOKEN.findall(text)
