"""The chats of a house.

Requests of one chat are handled one after the other, in the order they came. A reply is in the database, whole, before
its first word is told; so whatever happens to the server or the listener, what was seen is there. A character asked at
an earlier moment does not remember what was said at a later one.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
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
from understudy.server.chats.scene import scene_of
from understudy.server.chats.store import Chat, Said
from understudy.server.chats.telling import Telling, pieces
from understudy.server.database import Database
from understudy.server.problems import Refused
from understudy.server.speaking import Speaking
from understudy.server.stage import Stage
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["Chats"]

LOG = logging.getLogger("understudy.server")
PACE = 0.025  # seconds between two words: fast enough to read along
LISTED = 200


class Chats:
    def __init__(self, database: Database, stage: Stage, speaking: Speaking, pace: float = PACE) -> None:
        self.pace = pace
        self._database, self._stage = database, stage
        self._replying = Replying(stage, speaking)
        self._order = Order()
        self._telling: WeakSet[Telling] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Let everybody finish what they are saying, so that it is kept."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def all(self) -> list[ChatSummary]:
        found = await self._database.run(lambda db: store.newest(db, LISTED))
        return await asyncio.to_thread(self._summaries, found)

    async def read(self, number: str) -> ChatDocument:
        return await self._chat_document(*await self._database.run(lambda db: _stored(db, number)))

    async def read_with_texts(self, number: str) -> tuple[ChatDocument, dict[int, str]]:
        """A chat, and what every message of it says, on whatever branch: both as of one moment."""
        kept, texts = await self._database.run(lambda db: (_stored(db, number), store.texts(db, number)))
        return await self._chat_document(*kept), texts

    async def _chat_document(
        self, chat: Chat, path: list[Said], following: dict[int | None, list[int]]
    ) -> ChatDocument:
        return await asyncio.to_thread(chat_document, chat, path, following, self._story_or_none(chat))

    async def create(self, story: str, characters: Sequence[str], at: str, speaker: str | None) -> ChatDocument:
        opened = self._stage.story(story)

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
                story = self._stage.story(old.story)

                def checked() -> dict[str, Any]:
                    moment = story.moment(at or old.moment)
                    as_whom = old.speaker if isinstance(speaker, msgspec.UnsetType) else speaker
                    names, known = scene_of(story, characters or old.characters, as_whom, moment)
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
            story = self._stage.story(old.story)
            document.difference = await asyncio.to_thread(
                differences, story, columns["characters"], columns["speaker"], old.moment, columns["moment"]
            )
        return document

    async def delete(self, number: str) -> None:
        async with self._order.turn(number):
            await self._database.run(lambda db: store.delete(db, number))

    async def remove(self, number: str, message: int) -> ChatDocument:
        async with self._order.turn(number):
            await self._database.run(lambda db: store.remove(db, number, message))
        return await self.read(number)

    async def branch(self, number: str, message: int) -> ChatDocument:
        async with self._order.turn(number):
            new = await self._database.run(lambda db: store.branch(db, number, message))
        return await self.read(new.id)

    async def stop(self, number: str, message: int | None, seen: int) -> ChatDocument:
        """Keep what was seen: so many pieces of a reply, or nothing of one that had not begun. Waits for nobody."""

        def cutting(db: sqlite3.Connection) -> None:
            store.chat(db, number)
            if message is not None and (said := store.message(db, number, message)).answers:
                store.cut(db, number, message, "".join(pieces(said.text)[:seen]).rstrip())

        for telling in list(self._telling):
            if telling.chat == number and (message is None or message in telling.told):
                telling.stopped = True
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
            chat, old = await self._message(number, message)
            if not old.answers:
                await self._user_says(chat, old.parent, text, telling)
                return
            why = Why([Grounds("notice", "written by you in the character's place")])
            written = replace(old, text=text, state="whole", why=msgspec.json.encode(why).decode())
            telling.tell("said", await self._kept(chat, old.parent, written))

        return await self._told(number, editing)

    async def retry(self, number: str, message: int) -> AsyncIterator[bytes]:
        """Another reply beside one: the next best that was considered. A message of the user is answered anew."""

        async def trying(telling: Telling) -> None:
            chat, old = await self._message(number, message)
            if not old.answers:
                telling.tell("said", await self._document(chat, old))
                await self._answered(chat, old.id, telling)
                return

            def tried(db: sqlite3.Connection) -> tuple[list[Said], list[Said]]:
                beside = [store.message(db, number, one) for one in store.siblings(db, number)[old.parent]]
                return [one for one in beside if one.author == old.author], store.path(db, old.parent)

            beside, path = await self._database.run(tried)
            said = await self._replying.another(chat, old, beside, path)
            if not telling.stopped:
                telling.speak(await self._kept(chat, old.parent, said))

        return await self._told(number, trying)

    async def _told(self, number: str, work: Callable[[Telling], Awaitable[None]]) -> AsyncIterator[bytes]:
        telling = Telling(number, self.pace)
        self._telling.add(telling)
        task = asyncio.create_task(self._in_order(number, telling, work))
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
        kept = await self._kept(chat, parent, Said(False, chat.speaker, shown, text, chat.moment))
        telling.tell("said", kept)
        await self._answered(chat, kept.id, telling)

    async def _answered(self, chat: Chat, message: int, telling: Telling) -> None:
        """Everybody who is spoken to answers, one after the other; each has heard the one before."""
        path = await self._database.run(lambda db: store.path(db, message))
        for name in await self._replying.spoken_to(chat, path):
            telling.tell("thinking", {"author": await self._replying.shown(chat, name)})
            said = await self._replying.reply(chat, name, path)
            if telling.stopped:
                return
            document = await self._kept(chat, path[-1].id, said)
            path.append(replace(said, id=document.id))
            telling.speak(document)

    async def _message(self, number: str, message: int) -> tuple[Chat, Said]:
        return await self._database.run(lambda db: (store.chat(db, number), store.message(db, number, message)))

    async def _kept(self, chat: Chat, parent: int | None, said: Said) -> MessageDocument:
        """Once this is back, the message is on the disk."""
        kept = await self._database.run(lambda db: store.append(db, chat.id, parent, said))
        return await self._document(chat, kept)

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
            return self._stage.story(chat.story)
        except UnknownStory:
            return None


def _stored(db: sqlite3.Connection, number: str) -> tuple[Chat, list[Said], dict[int | None, list[int]]]:
    chat = store.chat(db, number)
    return chat, store.path(db, chat.tip), store.siblings(db, number)
