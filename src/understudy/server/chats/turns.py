"""What is done in a chat that ends in replies, and how these come from the agent to the stream and the database.

Each of saying something, turns, going on, editing and another try sends its events to a stream, and is run by the
service when the chat is free. A retry, an edit or a branch happens as of its message: at that moment, with the
characters of that time, wherever the chat was moved to since.

A reply that is chosen whole is stored before its first word is streamed. One that is written is streamed as it comes
and stored every `WRITE_EVERY_S`, as a reply that was cut off, until it is whole: what a kill can lose of it is less
than that. Where the writing fails or is broken off, what came is kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import takewhile

import msgspec

from understudy.database import Database
from understudy.errors import UnderstudyError
from understudy.server.chats import store
from understudy.server.chats.leases import ChatLeases
from understudy.server.chats.replies import LiveReply, ReplyGenerator, ReplyStream, continued, texts_tried
from understudy.server.chats.scene import ChatMemory
from understudy.server.chats.schemas import EvidenceDocument, MessageDocument, Why, message_document
from understudy.server.chats.store import Chat, Message
from understudy.server.database import ServerDatabase
from understudy.server.problems import CLIENT_CLOSED, Refused, problem_of
from understudy.server.story_registry import StoryRegistry, resolve_name
from understudy.server.telemetry import LOG

WRITE_EVERY_S = 0.5  # how often a reply that is being written is stored


class ChatTurns:
    def __init__(
        self,
        database: ServerDatabase,
        registry: StoryRegistry,
        replies: ReplyGenerator,
        leases: ChatLeases,
        memory: ChatMemory,
    ) -> None:
        self._database, self._stories, self._replies, self._leases = database, registry, replies, leases
        self._memory = memory

    async def say(self, chat_id: str, text: str, answerers: Sequence[str] | None, stream: ReplyStream) -> None:
        """Events: the user's message and the replies to it. `answerers` are of the scene, and answer in this order."""
        chat = await self._database.read(lambda db: store.get_chat(db, chat_id))
        addressed = None if answerers is None else await self._in_scene(chat, answerers)
        await self._user_says(chat, chat.tip, text, stream, addressed)

    async def take_turns(self, chat_id: str, characters: Sequence[str] | None, stream: ReplyStream) -> None:
        """Events: replies without a message of the user; of those named, else of the next in turn."""

        def read(db: Database) -> tuple[Chat, list[Message]]:
            chat = store.get_chat(db, chat_id)
            return chat, store.path(db, chat.tip)

        chat, path = await self._database.read(read)
        if not path:
            raise Refused("nothing was said yet that anybody could answer: say something first", 409)
        names = await (
            self._replies.who_answers(chat, path) if characters is None else self._in_scene(chat, characters)
        )
        await self.speak(chat, names, path, stream)

    async def continue_reply(self, chat_id: str, message_id: int, stream: ReplyStream) -> None:
        """Events: a reply with what comes after it, beside it."""
        then, old = await self.as_of(chat_id, message_id)
        if not old.is_reply or old.author is None:
            raise Refused("only what a character says can be gone on with: let somebody answer it instead", 409)
        path = await self._database.read(lambda db: store.path(db, old.id))
        await self.speak(then, [old.author], path, stream)

    async def _in_scene(self, chat: Chat, names: Sequence[str]) -> tuple[str, ...]:
        """The story's own names of characters of the scene, who are named as they are shown."""
        story = self._stories.story(chat.story)

        def resolve() -> tuple[str, ...]:
            moment = story.moment(chat.moment)
            return tuple(dict.fromkeys(resolve_name(story, name, moment) for name in names))

        resolved = await asyncio.to_thread(resolve)
        if not set(resolved) <= set(chat.characters):
            raise Refused("only those in the scene can answer: bring the others into it first", 400, "characters")
        return resolved

    async def edit(self, chat_id: str, message_id: int, text: str, stream: ReplyStream) -> None:
        """Events: a message in place of another, on a new branch; if it is the user's, also the replies to it."""
        then, old = await self.as_of(chat_id, message_id)
        if not old.is_reply:
            await self._user_says(then, old.parent, text, stream, old.addressed)
            return
        why = Why([EvidenceDocument("notice", "written by you in the character's place", None, [])])
        edited = replace(old, text=text, state="whole", why=msgspec.json.encode(why).decode())
        stream.send("said", await self.save(then, old.parent, edited))

    async def retry(self, chat_id: str, message_id: int, was_unanswered: bool, stream: ReplyStream) -> None:
        """Events: another reply beside one, the next best candidate; or new replies to a message of the user.

        A message that `was_unanswered` when the retry was asked for, and was answered while it waited, as by another
        process, is not answered twice.
        """
        then, old = await self.as_of(chat_id, message_id)
        if not old.is_reply:
            stream.send("said", await self.document(then, old))
            answered_meanwhile = was_unanswered and not old.unanswered
            await (self.repeat if answered_meanwhile else self.answer)(then, old.id, stream)
            return

        def read(db: Database) -> tuple[list[Message], list[Message]]:
            siblings = [store.get_message(db, chat_id, key) for key in store.children(db, chat_id)[old.parent]]
            return [sibling for sibling in siblings if sibling.author == old.author], store.path(db, old.parent)

        if old.parent is None:
            raise Refused("a greeting is no reply: choose another one, or say something", 409)
        tries, path = await self._database.read(read)
        await self.alternative(then, old, tries, path, stream)

    async def _user_says(
        self, chat: Chat, parent: int | None, text: str, stream: ReplyStream, addressed: tuple[str, ...] | None
    ) -> None:
        name = chat.persona.name if chat.persona else await self._replies.shown_name(chat, chat.speaker)
        message = Message(
            False, chat.speaker, name, text, chat.moment, present=chat.characters, unanswered=True,
            persona=chat.persona, addressed=addressed,
        )  # fmt: skip
        saved = await self.save(chat, parent, message)
        stream.send("said", saved)
        await self._memory.keep(chat, await self._database.read(lambda db: store.path(db, saved.id)))
        await self.answer(chat, saved.id, stream)

    async def as_of(self, chat_id: str, message_id: int) -> tuple[Chat, Message]:
        """A message, and the chat as it stood when it was said."""

        def read(db: Database) -> tuple[Chat, Message]:
            now, message = store.get_chat(db, chat_id), store.get_message(db, chat_id, message_id)
            return store.as_of(now, store.path(db, message.id)), message

        return await self._database.read(read)

    async def answer(self, chat: Chat, message_id: int, stream: ReplyStream) -> None:
        """The replies of everybody who answers, in order; each has heard the ones before."""
        stream.user_message = message_id

        def begin(db: Database) -> list[Message]:
            if not stream.stopped:
                store.set_unanswered(db, chat.id, message_id, True)
            return store.path(db, message_id)

        path = await self._database.run(begin)
        await self.speak(chat, await self._replies.who_answers(chat, path), path, stream)

    async def speak(self, chat: Chat, names: Sequence[str], path: list[Message], stream: ReplyStream) -> None:
        """Replies of several after a path, in order; each has heard the ones before. Who spoke last goes on."""
        reserved = await self._database.run(lambda db: store.reserve_ids(db, len(names)))
        for number, (name, reply_id) in enumerate(zip(names, reserved), 1):
            stream.send("thinking", {"author": await self._replies.shown_name(chat, name)})
            last, is_last = path[-1], number == len(names)
            if last.is_reply and last.author == name:
                reply = await self._reply(chat, name, path, stream, reply_id, is_last, begun=path.pop())
            else:
                reply = await self._reply(chat, name, path, stream, reply_id, is_last)
            if reply is None:
                return
            path.append(reply)

    async def alternative(
        self, chat: Chat, old: Message, tries: Sequence[Message], path: Sequence[Message], stream: ReplyStream
    ) -> None:
        """A reply beside others: the best candidate that was not tried yet, else a new one of the agent.

        `tries` are the replies so far, `path` is what they answer, `chat` is as it stood then.
        """
        assert old.author is not None
        candidate = self._replies.candidate(old, tries)
        if candidate is not None:
            await self._send_whole(chat, old.parent, candidate, stream)
            return
        (reply_id,) = await self._database.run(lambda db: store.reserve_ids(db, 1))
        await self._reply(chat, old.author, path, stream, reply_id, tries=tries)

    async def save(self, chat: Chat, parent: int | None, message: Message) -> MessageDocument:
        def write(db: Database) -> Message:
            self._leases.check(db, chat.id)
            return store.append(db, chat.id, parent, message)

        return await self.document(chat, await self._database.run(write))

    async def repeat(self, chat: Chat, message_id: int, stream: ReplyStream) -> None:
        """Stream the replies that a message has on the branch that is shown."""
        path = await self._database.read(lambda db: store.path(db, store.get_chat(db, chat.id).tip))
        after = next((index for index, message in enumerate(path, 1) if message.id == message_id), len(path))
        for reply in takewhile(lambda message: message.is_reply, path[after:]):
            stream.send_reply(await self.document(chat, reply))

    async def document(self, chat: Chat, message: Message) -> MessageDocument:
        siblings = await self._database.read(lambda db: store.children(db, chat.id).get(message.parent, []))
        return message_document(message, siblings, self._stories.story_or_none(chat.story))

    async def _reply(
        self,
        chat: Chat,
        name: str,
        path: Sequence[Message],
        stream: ReplyStream,
        reply_id: int,
        is_last: bool = False,
        tries: Sequence[Message] = (),
        begun: Message | None = None,
    ) -> Message | None:
        """A character's reply to a path, stored; None where it was stopped.

        `begun` is a reply to the path that is gone on with: the whole becomes another beside it.
        """
        heard = path if begun is None else [*path, begun]
        opening, replying = await self._replies.begin(chat, name, heard, texts_tried(tries), stream.cancellation)
        if tries:
            opening = replace(opening, shown_name=tries[0].shown_name)
        live = LiveReply(reply_id, path[-1].id if path else None, opening)
        writing = LiveWriting(self._database, self._leases, chat.id, stream, live, is_last)
        whole: Message | None = None
        try:
            async with aclosing(replying):
                async for item in replying:
                    if isinstance(item, Message):
                        whole = replace(item, shown_name=opening.shown_name)
                        continue
                    if not live.pieces:
                        stream.begin_reply(live, self._announced(chat, live))
                        item = item if begun is None else begun.text + item
                    stream.send_piece(item)
                    writing.write_soon()
        except Exception as error:
            if live.pieces:
                await writing.finish(replace(opening, text=live.text.rstrip(), state="cut", why=_broken_off(error)))
            raise
        assert whole is not None
        if begun is not None:
            if not whole.text.strip():
                raise Refused(f"{opening.shown_name} has nothing to add: say something", 409)
            whole = continued(begun, whole)
        if not live.pieces:
            if whole.text in {message.text for message in tries}:
                raise Refused("there is no other reply to try: say it differently", 409)
            return await self._send_whole(chat, live.parent, whole, stream, is_last, reply_id)
        stored = await writing.finish(whole)
        if stored is not None:
            stream.send("done", await self.document(chat, stored))
        return stored

    def _announced(self, chat: Chat, live: LiveReply) -> dict[str, object]:
        document = message_document(live.message, [live.id], self._stories.story_or_none(chat.story))
        return {"id": live.id, "parent": live.parent, "author": document.author, "when": document.when}

    async def _send_whole(
        self,
        chat: Chat,
        parent: int | None,
        reply: Message,
        stream: ReplyStream,
        is_last: bool = False,
        reply_id: int | None = None,
    ) -> Message | None:
        """Store a reply and then stream it, unless the stream was stopped (None); a later stop finds it in
        `stream.saved`."""

        def write(db: Database) -> Message | None:
            if stream.stopped:
                return None
            self._leases.check(db, chat.id)
            saved = store.append(db, chat.id, parent, reply, reply_id)
            stream.saved.append(saved.id)
            if is_last and stream.user_message is not None:
                store.set_unanswered(db, chat.id, stream.user_message, False)
            return saved

        saved = await self._database.run(write)
        if saved is not None:
            stream.send_reply(await self.document(chat, saved))
        return saved


class LiveWriting:
    """Stores a reply while it is written, without holding up its pieces."""

    def __init__(
        self,
        database: ServerDatabase,
        leases: ChatLeases,
        chat_id: str,
        stream: ReplyStream,
        live: LiveReply,
        is_last: bool,
    ) -> None:
        self._database, self._leases, self._chat_id, self._stream = database, leases, chat_id, stream
        self._live, self._is_last = live, is_last
        self._task: asyncio.Task[None] | None = None
        self._written_at = 0.0

    def write_soon(self) -> None:
        """Store what there is, unless that was done a moment ago."""
        now = time.monotonic()
        if now - self._written_at >= WRITE_EVERY_S and (self._task is None or self._task.done()):
            self._written_at = now
            self._task = asyncio.create_task(self._write_part())

    async def finish(self, message: Message) -> Message | None:
        """Store the reply as it is now to stay; None where it was stopped."""
        if self._task is not None:
            await asyncio.wait((self._task,))
        is_answered = self._is_last or message.state == "cut"

        def write(db: Database) -> Message | None:
            stored = self._store(db, message)
            if stored is not None and is_answered and self._stream.user_message is not None:
                store.set_unanswered(db, self._chat_id, self._stream.user_message, False)
            return stored

        return await self._database.run(write)

    async def _write_part(self) -> None:
        part = replace(self._live.message, text=self._live.text, state="cut")
        try:
            await self._database.run(lambda db: self._store(db, part))
        except UnderstudyError as error:  # the last write fails as well, and tells the client
            LOG.warning("a reply could not be stored while it was written: %s", type(error).__name__)

    def _store(self, db: Database, message: Message) -> Message | None:
        if self._stream.stopped:
            return None
        self._leases.check(db, self._chat_id)
        if self._live.id in self._stream.saved:
            store.rewrite(db, self._chat_id, self._live.id, message)
        else:
            store.append(db, self._chat_id, self._live.parent, message, self._live.id)
            self._stream.saved.append(self._live.id)
        return store.get_message(db, self._chat_id, self._live.id)


def cut_live(db: Database, chat_id: str, live: LiveReply, seen: str) -> None:
    """Reduce a reply whose writing was stopped to what was seen of it: nothing of it is stored where that is blank."""
    part = replace(live.message, text=seen, state="cut")
    is_stored = live.id in store.texts(db, chat_id)
    if is_stored and (not seen or store.get_message(db, chat_id, live.id).state == "whole"):
        store.truncate(db, chat_id, live.id, seen)  # it was finished before the stop came
    elif is_stored:
        store.rewrite(db, chat_id, live.id, part)
    elif seen:
        store.append(db, chat_id, live.parent, part, live.id)


def _broken_off(error: Exception) -> str:
    """What is shown as the reason of a reply that was not written to its end."""
    if isinstance(error, Refused) and error.status == CLIENT_CLOSED:
        return msgspec.json.encode(Why()).decode()
    reason = problem_of(error).message if isinstance(error, UnderstudyError) else "the reply failed on the server"
    return msgspec.json.encode(Why([EvidenceDocument("problem", reason, None, [])])).decode()
