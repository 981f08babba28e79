"""What is done in a chat that ends in replies: saying something, turns, going on, editing, another try.

Each sends its events to a stream, and is run by the service when the chat is free. A retry, an edit or a branch happens
as of its message: at that moment, with the characters of that time, wherever the chat was moved to since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from understudy.database import Database
from understudy.server.chats import store
from understudy.server.chats.answering import Answering
from understudy.server.chats.remembering import ChatMemory
from understudy.server.chats.replies import ReplyGenerator, ReplyStream
from understudy.server.chats.schemas import Why
from understudy.server.chats.store import Chat, Message
from understudy.server.database import ServerDatabase
from understudy.server.names import resolve_name
from understudy.server.problems import Refused
from understudy.server.schemas import EvidenceDocument
from understudy.server.story_registry import StoryRegistry


class ChatTurns:
    def __init__(
        self,
        database: ServerDatabase,
        registry: StoryRegistry,
        answering: Answering,
        replies: ReplyGenerator,
        memory: ChatMemory,
    ) -> None:
        self._database, self._stories, self._answering = database, registry, answering
        self._replies, self._memory = replies, memory

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
            self._answering.next_in_turn(chat, path) if characters is None else self._in_scene(chat, characters)
        )
        await self._answering.speak(chat, names, path, stream)

    async def continue_reply(self, chat_id: str, message_id: int, stream: ReplyStream) -> None:
        """Events: a reply with what comes after it, beside it."""
        then, old = await self.as_of(chat_id, message_id)
        if not old.is_reply or old.author is None:
            raise Refused("only what a character says can be gone on with: let somebody answer it instead", 409)
        path = await self._database.read(lambda db: store.path(db, old.id))
        await self._answering.speak(then, [old.author], path, stream)

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
        stream.send("said", await self._answering.save(then, old.parent, edited))

    async def retry(self, chat_id: str, message_id: int, was_unanswered: bool, stream: ReplyStream) -> None:
        """Events: another reply beside one, the next best candidate; or new replies to a message of the user.

        A message that `was_unanswered` when the retry was asked for, and was answered while it waited, as by another
        process, is not answered twice.
        """
        then, old = await self.as_of(chat_id, message_id)
        if not old.is_reply:
            stream.send("said", await self._answering.document(then, old))
            answered_meanwhile = was_unanswered and not old.unanswered
            await (self._answering.repeat if answered_meanwhile else self._answering.answer)(then, old.id, stream)
            return

        def read(db: Database) -> tuple[list[Message], list[Message]]:
            siblings = [store.get_message(db, chat_id, key) for key in store.children(db, chat_id)[old.parent]]
            return [sibling for sibling in siblings if sibling.author == old.author], store.path(db, old.parent)

        if old.parent is None:
            raise Refused("a greeting is no reply: choose another one, or say something", 409)
        tries, path = await self._database.read(read)
        await self._answering.alternative(then, old, tries, path, stream)

    async def _user_says(
        self, chat: Chat, parent: int | None, text: str, stream: ReplyStream, addressed: tuple[str, ...] | None
    ) -> None:
        name = chat.persona.name if chat.persona else await self._replies.shown_name(chat, chat.speaker)
        message = Message(
            False, chat.speaker, name, text, chat.moment, present=chat.characters, unanswered=True,
            persona=chat.persona, addressed=addressed,
        )  # fmt: skip
        saved = await self._answering.save(chat, parent, message)
        stream.send("said", saved)
        await self._memory.keep(chat, await self._database.read(lambda db: store.path(db, saved.id)))
        await self._answering.answer(chat, saved.id, stream)

    async def as_of(self, chat_id: str, message_id: int) -> tuple[Chat, Message]:
        """A message, and the chat as it stood when it was said."""

        def read(db: Database) -> tuple[Chat, Message]:
            now, message = store.get_chat(db, chat_id), store.get_message(db, chat_id, message_id)
            return store.as_of(now, store.path(db, message.id)), message

        return await self._database.read(read)
