"""The chats kept by a server.

Requests of one chat are handled one after the other, in the order they came. A reply is in the database, whole, before
its first word is told; so whatever happens to the server or the listener, what was seen is there. A character asked at
an earlier moment does not remember what was said at a later one. What is done in the place of a message (another try,
an edit, a branch) happens as of that message: at its moment, with who was there, whatever the chat was moved to since.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakSet

import msgspec

from understudy.errors import UnderstudyError, UnknownStory
from understudy.server.chats import store
from understudy.server.chats.documents import (
    Billing,
    ChatDocument,
    ChatSummary,
    Grounds,
    MessageDocument,
    Why,
    billing_at,
    chat_document,
    chat_summary,
    message_document,
)
from understudy.server.chats.moving import differences
from understudy.server.chats.order import Order
from understudy.server.chats.replying import Replying
from understudy.server.chats.scene import scene_of, still_possible
from understudy.server.chats.store import Chat, Said
from understudy.server.chats.telling import Telling, pieces
from understudy.server.database import Database
from understudy.server.executor import RETRY_AFTER, AgentExecutor
from understudy.server.problems import Refused
from understudy.server.standing import shown_names
from understudy.server.story_registry import StoryRegistry
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["Chats"]

LOG = logging.getLogger("understudy.server")
PACE = 0.025  # seconds between two words: fast enough to read along
LISTED = 200
STOP_TIMEOUT_S = 120.0  # how long replies under way may take when the server stops
MOST_WAITING = 20  # requests of one chat that are answered or wait for it; who leaves does not take theirs along
MOST_WAITING_IN_ALL = 1_000


class Chats:
    def __init__(
        self, database: Database, registry: StoryRegistry, executor: AgentExecutor, pace: float = PACE
    ) -> None:
        self.pace = pace
        self._database, self._stories = database, registry
        self._replying = Replying(registry, executor)
        self._order = Order()
        self._telling: WeakSet[Telling] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._give_up: Callable[[], object] | None = None  # while replies are waited for at the end

    async def close(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Let everybody finish what they are saying, so that it is kept; what takes longer stays marked as owed."""
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
        """Let `close` wait for nobody any longer. May be called by a signal handler."""
        if self._give_up is not None:
            self._give_up()

    async def all(self) -> list[ChatSummary]:
        found = await self._database.run(lambda db: store.newest(db, LISTED))
        return await asyncio.to_thread(self._summaries, found)

    async def read(self, number: str) -> ChatDocument:
        document, _ = await self.read_all(number)
        return document

    async def read_all(self, number: str) -> tuple[ChatDocument, dict[int, str]]:
        """A chat, and what every message of it says, as they were at one time."""

        def reading(db: sqlite3.Connection) -> tuple[Chat, list[Said], dict[int | None, list[int]], dict[int, str]]:
            chat = store.chat(db, number)
            return chat, store.path(db, chat.tip), store.siblings(db, number), store.texts(db, number)

        chat, path, following, texts = await self._database.run(reading)
        story = self._story_or_none(chat)
        return await asyncio.to_thread(chat_document, chat, path, following, story), texts

    async def create(self, story: str, characters: Sequence[str], at: str, speaker: str | None) -> ChatDocument:
        opened = self._stories.story(story)

        def checked() -> tuple[Moment, tuple[str, ...], str | None]:
            moment = opened.moment(at)
            return moment, *scene_of(opened, characters, speaker, moment)

        moment, names, known = await asyncio.to_thread(checked)
        chat = await self._database.run(lambda db: store.create(db, story, names, known, moment.dotted))
        return await self.read(chat.id)

    async def change(
        self,
        number: str,
        title: str | None = None,
        at: str | None = None,
        characters: Sequence[str] | None = None,
        speaker: str | msgspec.UnsetType | None = msgspec.UNSET,
        shown: int | None = None,
    ) -> ChatDocument:
        """Rename it, move it through the story, change who is there or who one speaks as, or show another branch."""
        async with self._order.turn(number):
            old = await self._database.run(lambda db: store.chat(db, number))
            columns: dict[str, Any] = {} if title is None else {"title": title}
            if at is not None or characters is not None or speaker is not msgspec.UNSET:
                story = self._stories.story(old.story)

                def checked() -> dict[str, Any]:
                    moment = story.moment(at or old.moment)
                    called = shown_names(story, moment)  # kept are the story's own names, asked for those of a reader
                    kept = None if old.speaker is None else called.get(old.speaker, old.speaker)
                    as_whom = kept if isinstance(speaker, msgspec.UnsetType) else speaker
                    stay = [called.get(name, name) for name in old.characters]
                    names, known = scene_of(story, characters or stay, as_whom, moment)
                    return {"characters": names, "speaker": known, "moment": moment.dotted}

                columns |= await asyncio.to_thread(checked)

            def changing(db: sqlite3.Connection) -> None:
                if shown is not None:
                    store.choose(db, number, shown)
                if columns:
                    store.change(db, number, **columns)

            await self._database.run(changing)
        document = await self.read(number)
        if columns.get("moment", old.moment) != old.moment:
            story = self._stories.story(old.story)
            document.difference = await asyncio.to_thread(
                differences, story, columns["characters"], columns["speaker"], old.moment, columns["moment"]
            )
        return document

    async def delete(self, number: str) -> None:
        async with self._order.turn(number):
            await self._database.run(lambda db: store.delete(db, number))
        for telling in self._of(number):
            telling.stopped = True

    async def remove(self, number: str, message: int) -> ChatDocument:
        async with self._order.turn(number):

            def removing(db: sqlite3.Connection) -> dict[int, str]:
                store.remove(db, number, message)
                return store.texts(db, number)

            left = await self._database.run(removing)
        for telling in self._of(number):
            telling.stopped |= not left.keys() >= telling.told  # nobody goes on telling what is not there any more
        return await self.read(number)

    async def branch(self, number: str, message: int) -> ChatDocument:
        """A chat of its own that stands where this one stood at a message.

        It follows the story as it is on now, which may have been read anew since: whoever cannot be there any more is
        left out, and where the moment itself is gone, or everybody, there is no branch. Where the story has been taken
        off, a branch is what was kept.
        """
        async with self._order.turn(number):
            then, _ = await self._as_of(number, message)
            story = self._story_or_none(then)
            if story is not None:
                then = await asyncio.to_thread(still_possible, story, then)
            new = await self._database.run(lambda db: store.branch(db, number, message, then))
        return await self.read(new.id)

    async def stop(self, number: str, message: int | None, seen: int, after: int | None = None) -> ChatDocument:
        """Keep what was seen: so many pieces of a reply, or nothing of one that had not begun. Waits for nobody.

        `after` is the last message that was heard to its end. A reply may be on its way into the database just now: it
        is either not put there any more, or taken out again, since both are done by the database's one thread.
        """
        stopped = [
            telling
            for telling in self._of(number)
            if message in telling.told or (message is None and after in (None, telling.asked, *telling.kept))
        ]
        for telling in stopped:
            telling.stopped = True

        def cutting(db: sqlite3.Connection) -> None:
            store.chat(db, number)
            if message is not None and (said := store.message(db, number, message)).answers:
                store.cut(db, number, message, "".join(pieces(said.text)[:seen]).rstrip())
            there = store.texts(db, number)
            for telling in stopped:
                unseen = telling.unseen(after) if message is None else []
                if first := next((one for one in unseen if one in there), None):
                    store.cut(db, number, first, "")  # and with it those after it
                if telling.asked is not None:
                    store.answered(db, number, telling.asked)  # nobody waits for a reply any more

        await self._database.run(cutting)
        return await self.read(number)

    async def say(self, number: str, text: str) -> AsyncIterator[bytes]:
        """The events of a message and what is answered, as they come."""

        async def saying(telling: Telling) -> None:
            chat = await self._database.run(lambda db: store.chat(db, number))
            await self._user_says(chat, chat.tip, text, telling)

        return await self._told(number, saying)

    async def edit(self, number: str, message: int, text: str) -> AsyncIterator[bytes]:
        """Say something else in a message's place: a new branch. What the user says otherwise is answered anew."""

        async def editing(telling: Telling) -> None:
            then, old = await self._as_of(number, message)
            if not old.answers:
                await self._user_says(then, old.parent, text, telling)
                return
            why = Why([Grounds("notice", "written by you in the character's place")])
            written = replace(old, text=text, state="whole", why=msgspec.json.encode(why).decode())
            telling.tell("said", await self._kept(then, old.parent, written))

        return await self._told(number, editing)

    async def retry(self, number: str, message: int) -> AsyncIterator[bytes]:
        """Another reply beside one: the next best that was considered. A message of the user is answered anew."""

        async def trying(telling: Telling) -> None:
            then, old = await self._as_of(number, message)
            if not old.answers:
                telling.tell("said", await self._document(then, old))
                await self._answered(then, old.id, telling)
                return

            def tried(db: sqlite3.Connection) -> tuple[list[Said], list[Said]]:
                beside = [store.message(db, number, one) for one in store.siblings(db, number)[old.parent]]
                return [one for one in beside if one.author == old.author], store.path(db, old.parent)

            beside, path = await self._database.run(tried)
            said = await self._replying.another(then, old, beside, path)
            if (kept := await self._reply_kept(then, old.parent, said, telling)) is not None:
                telling.speak(kept)

        return await self._told(number, trying)

    async def _told(self, number: str, work: Callable[[Telling], Awaitable[None]]) -> AsyncIterator[bytes]:
        waiting = sum(task.get_name() == number for task in self._tasks)
        if waiting >= MOST_WAITING or len(self._tasks) >= MOST_WAITING_IN_ALL:
            told = (
                f"{len(self._tasks)} messages wait for their replies, {waiting} of them in this chat: try again later"
            )
            raise Refused(told, 429, code="queue_full", retry_after=RETRY_AFTER)
        telling = Telling(number, self.pace)
        self._telling.add(telling)
        task = asyncio.create_task(self._in_order(number, telling, work), name=number)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await telling.events()

    async def _in_order(self, number: str, telling: Telling, work: Callable[[Telling], Awaitable[None]]) -> None:
        async with self._order.turn(number):
            try:
                await work(telling)
            except UnderstudyError as error:
                telling.fail(error)
            except Exception as error:  # whoever listens must hear that it is over
                LOG.error("a reply failed: %s", type(error).__name__)  # its message may hold what somebody said
                telling.fail(Refused("the reply failed on the server: try again", 500))
            finally:
                telling.end()

    async def _user_says(self, chat: Chat, parent: int | None, text: str, telling: Telling) -> None:
        shown = await self._replying.shown(chat, chat.speaker)
        said = Said(False, chat.speaker, shown, text, chat.moment, present=chat.characters, unanswered=True)
        kept = await self._kept(chat, parent, said)
        telling.tell("said", kept)
        await self._answered(chat, kept.id, telling)

    async def _answered(self, chat: Chat, message: int, telling: Telling) -> None:
        """Everybody who is spoken to answers, one after the other; each has heard the one before."""
        telling.asked = message

        def asking(db: sqlite3.Connection) -> list[Said]:
            if not telling.stopped:
                store.answered(db, chat.id, message, yes=False)
            return store.path(db, message)

        path = await self._database.run(asking)
        spoken_to = await self._replying.spoken_to(chat, path)
        for number, name in enumerate(spoken_to, 1):
            telling.tell("thinking", {"author": await self._replying.shown(chat, name)})
            said = await self._replying.reply(chat, name, path)
            document = await self._reply_kept(chat, path[-1].id, said, telling, number == len(spoken_to))
            if document is None:
                return
            path.append(replace(said, id=document.id))
            telling.speak(document)

    def _of(self, number: str) -> list[Telling]:
        """What is told of a chat at the moment."""
        return [telling for telling in self._telling if telling.chat == number]

    async def _as_of(self, number: str, message: int) -> tuple[Chat, Said]:
        """A message, and the chat as it stood when it was said."""

        def reading(db: sqlite3.Connection) -> tuple[Chat, Said]:
            now, said = store.chat(db, number), store.message(db, number, message)
            return store.as_of(now, store.path(db, said.id)), said

        return await self._database.run(reading)

    async def _kept(self, chat: Chat, parent: int | None, said: Said) -> MessageDocument:
        """Once this is back, the message is on the disk."""
        kept = await self._database.run(lambda db: store.append(db, chat.id, parent, said))
        return await self._document(chat, kept)

    async def _reply_kept(
        self, chat: Chat, parent: int | None, said: Said, telling: Telling, last: bool = False
    ) -> MessageDocument | None:
        """Keep a reply, unless it was stopped: whoever stops it now finds it among `telling.kept`. None: it was."""

        def keeping(db: sqlite3.Connection) -> Said | None:
            if telling.stopped:
                return None
            kept = store.append(db, chat.id, parent, said)
            telling.kept.append(kept.id)
            if last and telling.asked is not None:
                store.answered(db, chat.id, telling.asked)
            return kept

        kept = await self._database.run(keeping)
        return None if kept is None else await self._document(chat, kept)

    async def _document(self, chat: Chat, said: Said) -> MessageDocument:
        beside = await self._database.run(lambda db: store.siblings(db, chat.id).get(said.parent, []))
        return message_document(said, beside, self._story_or_none(chat))

    def _summaries(self, chats: Sequence[Chat]) -> list[ChatSummary]:
        """Many chats stand at the same moment of the same story: who is known there is looked up once."""
        billings: dict[tuple[str, str], Billing] = {}
        for chat in chats:
            if (chat.story, chat.moment) not in billings:
                billings[chat.story, chat.moment] = billing_at(self._story_or_none(chat), chat.moment)
        return [chat_summary(one, self._story_or_none(one), billings[one.story, one.moment]) for one in chats]

    def _story_or_none(self, chat: Chat) -> Story | None:
        try:
            return self._stories.story(chat.story)
        except UnknownStory:
            return None
