"""The chat service: creates, changes and continues chats, and streams replies.

Requests to a chat are handled in the order they came. A reply that is chosen whole is stored before its first word is
streamed, and one that is written while it comes (see `turns`). A character at an earlier moment does
not remember what was said at a later one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields
from functools import partial
from typing import Any
from weakref import WeakSet, WeakValueDictionary

import msgspec

from understudy.database import Database
from understudy.errors import UnderstudyError
from understudy.server.chats import store
from understudy.server.chats.leases import ChatLeases
from understudy.server.chats.replies import ReplyGenerator, ReplyStream, split_tokens
from understudy.server.chats.scene import (
    ChatMemory,
    ResolvedScene,
    differences,
    greeting_messages,
    resolve_scene,
    still_possible,
)
from understudy.server.chats.schemas import (
    ChatDocument,
    ChatSummary,
    SamplingSettings,
    ShownCast,
    StopRequest,
    chat_document,
    chat_summary,
    shown_cast_at,
)
from understudy.server.chats.store import Chat, Message, OwnPersona
from understudy.server.chats.turns import ChatTurns, cut_live
from understudy.server.database import ServerDatabase
from understudy.server.executor import RETRY_AFTER_S, AgentExecutor
from understudy.server.problems import Refused
from understudy.server.story_registry import StoryRegistry
from understudy.server.telemetry import LOG
from understudy.story.dialogue import DEFAULT_SAMPLING, Sampling
from understudy.story.names import shown_names
from understudy.story.types import Moment

PACE_S = 0.025  # between two words: fast enough to read along
MAX_LISTED, MAX_DELETED_LISTED = 200, 20
RESTORE_S = 24 * 3600  # how long a deleted chat can be restored at least: the next new chat removes it after that
STOP_TIMEOUT_S = 120.0  # how long running replies may take when the server stops
MAX_PENDING = 20  # requests of a chat that run or wait; a client that leaves does not cancel its own
MAX_PENDING_TOTAL = 1_000

Work = Callable[[ReplyStream], Awaitable[None]]
Streaming = tuple[AsyncGenerator[bytes, None], Callable[[], None]]
"""The events of a request, and what to call where the client leaves before their end."""


class ChatService:
    def __init__(
        self,
        database: ServerDatabase,
        registry: StoryRegistry,
        executor: AgentExecutor,
        memory: ChatMemory,
        pace_s: float = PACE_S,
    ) -> None:
        self.pace_s = pace_s
        self._memory = memory
        self._database, self._stories = database, registry
        self._executor = executor
        replies = ReplyGenerator(registry, executor, memory)
        self._leases = ChatLeases(database)
        self._turns = ChatTurns(database, registry, replies, self._leases, memory)
        self._locks = WeakValueDictionary[str, asyncio.Lock]()
        self._streams: WeakSet[ReplyStream] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._give_up: Callable[[], object] | None = None  # set while `close` waits

    async def close(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Wait for running replies, so that they are stored; messages whose replies take longer stay unanswered."""
        finished, given_up = asyncio.gather(*self._tasks, return_exceptions=True), asyncio.Event()
        giving_up, loop = asyncio.create_task(given_up.wait()), asyncio.get_running_loop()
        self._give_up = partial(loop.call_soon_threadsafe, given_up.set)
        await asyncio.wait((finished, giving_up), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        giving_up.cancel()
        self._give_up = None
        if late := [task for task in self._tasks if not task.done()]:
            LOG.warning("%d replies were not ready when the server stopped: their messages are unanswered", len(late))
            for task in late:
                task.cancel()
            await asyncio.wait(late)

    def give_up(self) -> None:
        """Make `close` stop waiting. May be called by a signal handler."""
        if self._give_up is not None:
            self._give_up()

    @asynccontextmanager
    async def _exclusive(self, chat_id: str) -> AsyncIterator[None]:
        """Nobody else works on the chat meanwhile, in this process or in another."""
        lock = self._locks.setdefault(chat_id, asyncio.Lock())  # requests get it in the order they came
        async with lock, self._leases.hold(chat_id, partial(self._stop_here, chat_id)):
            yield

    async def list_chats(self, deleted: bool = False) -> list[ChatSummary]:
        """All chats, or those that are deleted and can be restored."""
        limit = MAX_DELETED_LISTED if deleted else MAX_LISTED
        chats = await self._database.read(lambda db: store.list_chats(db, limit, deleted))
        return await asyncio.to_thread(self._summaries, chats)

    async def get(self, chat_id: str) -> ChatDocument:
        document, _ = await self.get_with_texts(chat_id)
        return document

    async def get_with_texts(self, chat_id: str) -> tuple[ChatDocument, dict[int, str]]:
        """A chat, and the text of every message on any branch, read in one transaction."""

        def read(db: Database) -> tuple[Chat, list[Message], dict[int | None, list[int]], dict[int, str], bool]:
            chat, held = store.get_chat(db, chat_id), self._leases.is_held(db, chat_id)
            return chat, store.path(db, chat.tip), store.children(db, chat_id), store.texts(db, chat_id), held

        chat, path, children, texts, held = await self._database.read(read)
        document = await asyncio.to_thread(chat_document, chat, path, children, self._stories.story_or_none(chat.story))
        document.writing = held or any(task.get_name() == chat_id for task in self._tasks)
        return document, texts

    async def create(
        self,
        story: str,
        characters: Sequence[str],
        at: str,
        speaker: str | OwnPersona | None = None,
        agent: str | None = None,
        greeting: int = 1,
        sampling: Sampling = DEFAULT_SAMPLING,
    ) -> ChatDocument:
        opened = self._stories.story(story)
        self._executor.named(agent)

        def resolve() -> tuple[Moment, ResolvedScene]:
            moment = opened.moment(at)
            return moment, resolve_scene(opened, characters, speaker, moment)

        moment, scene = await asyncio.to_thread(resolve)

        def write(db: Database) -> Chat:
            store.purge(db, RESTORE_S)
            return store.create(
                db, story, scene.characters, scene.speaker, moment.dotted, "", agent, scene.persona, sampling
            )

        chat = await self._database.run(write)
        await self._greet(chat, greeting)
        return await self.get(chat.id)

    async def _greet(self, chat: Chat, number: int) -> None:
        """Open a new chat with the character's greetings, one of them shown; more than there are is the last one."""
        greetings = await asyncio.to_thread(greeting_messages, self._stories.story(chat.story), chat)
        if greetings and number:
            shown = min(number, len(greetings)) - 1
            await self._database.run(lambda db: store.open_with(db, chat.id, greetings, shown))

    async def update(
        self,
        chat_id: str,
        title: str | None = None,
        at: str | None = None,
        characters: Sequence[str] | None = None,
        speaker: str | OwnPersona | msgspec.UnsetType | None = msgspec.UNSET,
        shown: int | None = None,
        agent: str | msgspec.UnsetType | None = msgspec.UNSET,
        sampling: SamplingSettings | None = None,
    ) -> ChatDocument:
        """Rename a chat, move it in time, change its characters, its agent and how that writes, or whom the user speaks
        as, or show another branch."""
        async with self._exclusive(chat_id):
            old = await self._database.read(lambda db: store.get_chat(db, chat_id))
            columns: dict[str, Any] = {} if title is None else {"title": title}
            if agent is not msgspec.UNSET:
                self._executor.named(agent)
                columns["agent"] = agent
            if sampling is not None:
                columns["sampling"] = sampling.sampling()
            if at is not None or characters is not None or speaker is not msgspec.UNSET:
                story = self._stories.story(old.story)

                def resolve() -> dict[str, Any]:
                    moment = story.moment(at or old.moment)
                    shown_as = shown_names(story, moment)  # the story's own names are stored; clients use shown names
                    old_speaker = None if old.speaker is None else shown_as.get(old.speaker, old.speaker)
                    new_speaker = old.persona or old_speaker if isinstance(speaker, msgspec.UnsetType) else speaker
                    old_characters = [shown_as.get(name, name) for name in old.characters]
                    scene = resolve_scene(story, characters or old_characters, new_speaker, moment)
                    return {**_fields(scene), "moment": moment.dotted}

                columns |= await asyncio.to_thread(resolve)

            def write(db: Database) -> None:
                if shown is not None:
                    store.show_branch(db, chat_id, shown)
                if columns:
                    store.update(db, chat_id, **columns)

            await self._database.run(write)
        document = await self.get(chat_id)
        if columns.get("moment", old.moment) != old.moment:
            story = self._stories.story(old.story)
            document.difference = await asyncio.to_thread(
                differences, story, columns["characters"], columns["speaker"], old.moment, columns["moment"]
            )
        return document

    async def list_personas(self) -> list[OwnPersona]:
        """Those of users' own that were spoken as."""
        return await self._database.read(store.list_personas)

    async def delete_persona(self, name: str) -> None:
        await self._database.run(lambda db: store.delete_persona(db, name))

    async def delete(self, chat_id: str) -> None:
        """Delete a chat, and take back what was told in it; both can be restored for `RESTORE_S`."""
        await self._database.read(lambda db: store.get_chat(db, chat_id))
        for stream in self._streams_of(chat_id):
            stream.stop()  # what is being written would hold the lock until its end
        await self._leases.pass_on(chat_id, StopRequest())
        async with self._exclusive(chat_id):
            told = await self._memory.told_in(chat_id)

            def delete(db: Database) -> None:
                store.purge(db, RESTORE_S)
                store.delete(db, chat_id, told)

            await self._database.run(delete)
            await self._memory.take_back(chat_id)

    async def restore(self, chat_id: str) -> ChatDocument:
        async with self._exclusive(chat_id):
            await self._memory.bring_back(await self._database.run(lambda db: store.restore(db, chat_id)))
        return await self.get(chat_id)

    async def remove_message(self, chat_id: str, message_id: int) -> ChatDocument:
        """Delete a message with what followed it, and take back what was told there; both can be restored."""
        async with self._exclusive(chat_id):

            def read(db: Database) -> list[Message]:
                shown = store.path(db, store.get_chat(db, chat_id).tip)
                path = store.path(db, message_id)
                return path if path == shown[: len(path)] else []

            taken_back = await self._database.read(read)
            told = await self._memory.told_in(chat_id, taken_back) if taken_back else "[]"

            def remove(db: Database) -> dict[int, str]:
                store.purge(db, RESTORE_S)
                store.remove(db, chat_id, message_id, told)
                return store.texts(db, chat_id)

            remaining = await self._database.run(remove)
            if taken_back:
                await self._memory.take_back(chat_id, taken_back)
        for stream in self._streams_of(chat_id):
            if not remaining.keys() >= stream.streamed:
                stream.stop()
        return await self.get(chat_id)

    async def restore_message(self, chat_id: str, message_id: int) -> ChatDocument:
        async with self._exclusive(chat_id):
            told = await self._database.run(lambda db: store.put_back(db, chat_id, message_id))
            await self._memory.bring_back(told)
        return await self.get(chat_id)

    async def branch(self, chat_id: str, message_id: int) -> ChatDocument:
        """A new chat that stands where this one stood at a message.

        It follows the story as it is now, which may have been read again since: characters who cannot be there any
        more are left out, and if the moment itself is gone, or everybody, the branch is refused. If the story was
        removed, the branch is a copy of what is stored.
        """
        async with self._exclusive(chat_id):
            then, _ = await self._turns.as_of(chat_id, message_id)
            story = self._stories.story_or_none(then.story)
            if story is not None:
                then = await asyncio.to_thread(still_possible, story, then)
            new = await self._database.run(lambda db: store.branch(db, chat_id, message_id, then))
        return await self.get(new.id)

    async def stop(self, chat_id: str, message_id: int | None, seen: int, after: int | None = None) -> ChatDocument:
        """Stop a reply and its agent; of the reply the `seen` tokens are stored.

        Without `message_id`, a reply that had not begun is stopped.
        `after` is the last message that the client saw whole. Does not wait for the chat's lock: a reply that is being
        stored just now is either not stored any more or removed again, as both run in the database's one thread.
        Where another process writes the reply, that one stops it.
        """
        request = StopRequest(message_id, seen, after)
        if not await self._leases.pass_on(chat_id, request):
            await self._stop_here(chat_id, request)
        return await self.get(chat_id)

    async def _stop_here(self, chat_id: str, request: StopRequest) -> None:
        message_id, seen, after = request.message, request.seen, request.after
        stopped = [
            stream
            for stream in self._streams_of(chat_id)
            if message_id in stream.streamed
            or (message_id is None and after in (None, stream.user_message, *stream.saved))
        ]
        for stream in stopped:
            stream.stop()
        live = next((stream.live for stream in stopped if stream.live and stream.live.id == message_id), None)

        def truncate(db: Database) -> None:
            store.get_chat(db, chat_id)
            if live is not None:
                cut_live(db, chat_id, live, "".join(live.pieces[:seen]).rstrip())
            elif message_id is not None and (message := store.get_message(db, chat_id, message_id)).is_reply:
                store.truncate(db, chat_id, message_id, "".join(split_tokens(message.text)[:seen]).rstrip())
            existing = store.texts(db, chat_id)
            for stream in stopped:
                unseen = stream.unseen(after) if message_id is None else []
                if first := next((reply for reply in unseen if reply in existing), None):
                    store.truncate(db, chat_id, first, "")  # removes those after it too
                if stream.user_message is not None:
                    store.set_unanswered(db, chat_id, stream.user_message, False)

        await self._database.run(truncate)

    async def say(self, chat_id: str, text: str, answerers: Sequence[str] | None = None) -> Streaming:
        return await self._start(chat_id, partial(self._turns.say, chat_id, text, answerers))

    async def take_turns(self, chat_id: str, characters: Sequence[str] | None = None) -> Streaming:
        return await self._start(chat_id, partial(self._turns.take_turns, chat_id, characters))

    async def continue_reply(self, chat_id: str, message_id: int) -> Streaming:
        return await self._start(chat_id, partial(self._turns.continue_reply, chat_id, message_id))

    async def edit(self, chat_id: str, message_id: int, text: str) -> Streaming:
        return await self._start(chat_id, partial(self._turns.edit, chat_id, message_id, text))

    async def retry(self, chat_id: str, message_id: int) -> Streaming:
        message = await self._database.read(lambda db: store.get_message(db, chat_id, message_id))
        return await self._start(chat_id, partial(self._turns.retry, chat_id, message_id, message.unanswered))

    async def _start(self, chat_id: str, work: Work) -> Streaming:
        """Run `work` in a task that a disconnected client does not cancel, and return its events."""
        pending = sum(task.get_name() == chat_id for task in self._tasks)
        if pending >= MAX_PENDING or len(self._tasks) >= MAX_PENDING_TOTAL:
            problem = (
                f"{len(self._tasks)} messages wait for their replies, {pending} of them in this chat: try again later"
            )
            raise Refused(problem, 429, code="queue_full", retry_after=RETRY_AFTER_S)
        stream = ReplyStream(chat_id, self.pace_s)
        self._streams.add(stream)
        task = asyncio.create_task(self._run(chat_id, stream, work), name=chat_id)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await stream.events(), stream.leave

    async def _run(self, chat_id: str, stream: ReplyStream, work: Work) -> None:
        try:
            async with self._exclusive(chat_id):
                await work(stream)
        except UnderstudyError as error:
            stream.fail(error)
        except Exception as error:  # the client must learn that the stream is over
            LOG.error("a reply failed: %s", type(error).__name__)  # not its message, which may quote the user
            stream.fail(Refused("the reply failed on the server: try again", 500))
        finally:
            stream.close()

    def _streams_of(self, chat_id: str) -> list[ReplyStream]:
        return [stream for stream in self._streams if stream.chat_id == chat_id]

    def _summaries(self, chats: Sequence[Chat]) -> list[ChatSummary]:
        """Many chats are at the same moment of a story: its cast is looked up once."""
        casts: dict[tuple[str, str], ShownCast] = {}
        for chat in chats:
            if (chat.story, chat.moment) not in casts:
                casts[chat.story, chat.moment] = shown_cast_at(self._stories.story_or_none(chat.story), chat.moment)
        return [
            chat_summary(chat, self._stories.story_or_none(chat.story), casts[chat.story, chat.moment])
            for chat in chats
        ]


def _fields(scene: ResolvedScene) -> dict[str, Any]:
    return {field.name: getattr(scene, field.name) for field in fields(scene)}
