"""Remembering who chats: switched on for a chat by a name, and off by default.

What the user tells of themselves from then on is kept for the characters of the scene (`understudy.people.memory`), who
know it in later chats. The file is shared with the command line where the server uses the user's data folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated

import msgspec

from understudy.errors import InputError, UnderstudyError
from understudy.people.memory import PeopleMemory, RememberedChat, Telling, remembered_person
from understudy.server.chats import store
from understudy.server.chats.scene import situation_in
from understudy.server.chats.schemas import moment_in_words
from understudy.server.chats.store import Chat, Message
from understudy.server.database import ServerDatabase
from understudy.server.names import situation_between
from understudy.server.problems import Refused
from understudy.server.story_registry import StoryRegistry
from understudy.story.dialogue import MAX_NAME, Situation
from understudy.story.names import shown_names
from understudy.story.storyfile import Story


class MemorySwitch(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)] | None,
        msgspec.Meta(description="the name to be remembered by; null switches it off, and keeps what is remembered"),
    ]


class RememberedText(msgspec.Struct, forbid_unknown_fields=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class RememberedSentence(msgspec.Struct):
    """Something the user told a character of the scene."""

    number: int
    character: str
    text: str
    moment: str
    when: Annotated[str, msgspec.Meta(description="the moment in the story's own words")]
    chat: str
    turn: int
    said: str
    edited: str | None
    here: Annotated[bool, msgspec.Meta(description="told in this chat; otherwise in an earlier one")]


class MemoryDocument(msgspec.Struct):
    """What the characters of a chat know of the user by now."""

    name: Annotated[str | None, msgspec.Meta(description="the name the user is remembered by; null: switched off")]
    remembered: list[RememberedSentence] = []
    undo: Annotated[bool, msgspec.Meta(description="whether there is a change to undo")] = False


class ChatMemory:
    def __init__(self, database: ServerDatabase, registry: StoryRegistry, memory: PeopleMemory) -> None:
        self._database, self._stories, self._memory = database, registry, memory

    async def get(self, chat_id: str) -> MemoryDocument:
        chat = await self._database.read(lambda db: store.get_chat(db, chat_id))
        return await asyncio.to_thread(self._document, chat)

    async def switch(self, chat_id: str, name: str | None) -> MemoryDocument:
        """Remember the user of a chat by a name from now on, or (None) no longer."""
        chat = await self._database.read(lambda db: store.get_chat(db, chat_id))
        person = None if name is None else await asyncio.to_thread(self._checked, chat, name)
        await self._database.run(lambda db: store.update(db, chat_id, remember=person))
        return await self.get(chat_id)

    async def edit(self, chat_id: str, number: int, text: str) -> MemoryDocument:
        return await self._change(chat_id, lambda person, _: self._memory.edit(person, number, text), number)

    async def forget(self, chat_id: str, number: int | None = None) -> MemoryDocument:
        """Forget one thing that the characters of the chat were told, or (None) all of it."""

        def work(person: str, shown: Sequence[RememberedSentence]) -> None:
            numbers = [sentence.number for sentence in shown] if number is None else [number]
            self._memory.forget(person, numbers)

        return await self._change(chat_id, work, number)

    async def undo(self, chat_id: str) -> MemoryDocument:
        return await self._change(chat_id, lambda *_: self._memory.undo())

    def recall(self, chat: Chat, situation: Situation) -> Situation:
        """A situation with what the user told the character in earlier chats, where they are remembered."""
        remembered = self._remembered(chat)
        return situation if remembered is None else remembered.recall(situation)

    async def keep(self, chat: Chat, path: Sequence[Message]) -> None:
        """Keep what the last message of a path tells, in place of what another branch had told from there on."""
        remembered = self._remembered(chat)
        if remembered is None:
            return
        message, turn = path[-1], sum(not message.is_reply for message in path)
        story = self._stories.story(chat.story)

        def work() -> None:
            remembered.take_back(turn)
            for name in chat.characters:
                situation = situation_in(story, chat, name, message)
                remembered.keep(situation, turn, message.text, message.created)

        await asyncio.to_thread(work)

    async def take_back(self, chat_id: str, path: Sequence[Message] = ()) -> None:
        """Forget what was told from the last message of a path on; of an empty path, in the whole chat."""
        await asyncio.to_thread(self._memory.take_back, chat_id, _first_turn(path))

    async def told_in(self, chat_id: str, path: Sequence[Message] = ()) -> str:
        """What `take_back` would forget, as JSON for `bring_back`."""
        tellings = await asyncio.to_thread(self._memory.tellings, chat=chat_id)
        return msgspec.json.encode([telling for telling in tellings if telling.turn >= _first_turn(path)]).decode()

    async def bring_back(self, told: str) -> None:
        if tellings := msgspec.json.decode(told, type=list[Telling]):
            await asyncio.to_thread(self._memory.bring_back, tellings)

    async def _change(
        self, chat_id: str, work: Callable[[str, Sequence[RememberedSentence]], object], number: int | None = None
    ) -> MemoryDocument:
        """Change what is remembered here; a sentence that is not shown here cannot be changed from here."""

        chat = await self._database.read(lambda db: store.get_chat(db, chat_id))
        if chat.remember is None:
            raise Refused("nobody is remembered in this chat: switch it on first", 409)
        person = chat.remember

        def change() -> None:
            shown = self._document(chat).remembered
            if number is not None and number not in {sentence.number for sentence in shown}:
                raise Refused("there is nothing of that number here: it may have been forgotten; reload the chat", 404)
            try:
                work(person, shown)
            except InputError as error:
                raise Refused(str(error), 409) from error

        await asyncio.to_thread(change)
        return await self.get(chat_id)

    def _remembered(self, chat: Chat) -> RememberedChat | None:
        return None if chat.remember is None else RememberedChat(self._memory, chat.remember, chat.id, chat.created)

    def _checked(self, chat: Chat, name: str) -> str:
        """The name, if nobody of the story has it."""
        person, story = remembered_person(name), self._stories.story(chat.story)
        for character in chat.characters:
            situation_between(story, character, story.moment(chat.moment), person)
        return person.name

    def _document(self, chat: Chat) -> MemoryDocument:
        remembered = self._remembered(chat)
        if remembered is None:
            return MemoryDocument(None)
        story = self._stories.story(chat.story)
        blank = Message(False, chat.speaker, "", "", chat.moment, persona=chat.persona)
        names = shown_names(story, story.moment(chat.moment))
        sentences: list[RememberedSentence] = []
        for name in chat.characters:
            with suppress(UnderstudyError):  # the story was read anew, and they are not there any more
                situation = situation_in(story, chat, name, blank)
                told = remembered.tellings(situation)
                sentences += (_sentence(telling, names.get(name, name), story, chat) for telling in told)
        return MemoryDocument(chat.remember, sentences, self._memory.can_undo)


def _first_turn(path: Sequence[Message]) -> int:
    """The number of the user's turn from which a branch begins with the last message of a path."""
    return 1 + sum(not message.is_reply for message in path[:-1]) if path else 0


def _sentence(telling: Telling, character: str, story: Story, chat: Chat) -> RememberedSentence:
    return RememberedSentence(
        telling.number, character, telling.text, telling.moment, moment_in_words(telling.moment, story), telling.chat,
        telling.turn, telling.said, telling.edited, here=telling.chat == chat.id,
    )  # fmt: skip
