"""The scene of a chat: who is there, what it opens with, what each has heard and remembers, what changes with a move.

A move back shows what holds there and no longer held where the chat had stood. What is still to come there is only
counted: a reader at the earlier moment must not learn of the later one.

Remembering who chats is switched on for a chat by a name, and off by default. What the user tells of themselves from
then on is kept for the characters of the scene (`understudy.people.memory`), who know it in later chats. The file is
shared with the command line where the server uses the user's data folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec

from understudy.agents.conversation import ConversationTurn, perspective
from understudy.errors import Dead, InputError, StoryError, Unborn, UnderstudyError, UnknownCharacter
from understudy.formats.cards import greetings_for
from understudy.people.memory import PeopleMemory, RememberedChat, Telling, remembered_person
from understudy.server.chats import store
from understudy.server.chats.schemas import Difference, moment_in_words, why_of
from understudy.server.chats.store import Chat, Message, OwnPersona
from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused
from understudy.server.story_registry import (
    StoryRegistry,
    persona_as_shown,
    reply_as_shown,
    resolve_name,
    situation_between,
)
from understudy.story.dialogue import MAX_NAME, USER_NAME, Evidence, Reply, Situation, Turn, outsider
from understudy.story.names import people_at, shown_names, shown_names_at
from understudy.story.persona import Other, Persona, other_at, persona_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment

MAX_CHARACTERS = 6


@dataclass(frozen=True, slots=True)
class ResolvedScene:
    """Who is in a chat, by the story's own names: the characters, and whom the user speaks as."""

    characters: tuple[str, ...]
    speaker: str | None
    persona: OwnPersona | None


def resolve_scene(
    story: Story, characters: Sequence[str], speaker: str | OwnPersona | None, moment: Moment
) -> ResolvedScene:
    """The scene that clients name by shown names, if all can be there at the moment."""
    persona = speaker if isinstance(speaker, OwnPersona) else None
    known = resolve_name(story, speaker, moment) if isinstance(speaker, str) else None
    names = tuple(dict.fromkeys(resolve_name(story, name, moment) for name in characters))
    if len(names) > MAX_CHARACTERS:
        raise Refused(f"that is too many for one scene: choose at most {MAX_CHARACTERS}", 400, "characters")
    if known in names:
        raise Refused("nobody can talk with themselves: speak as somebody else, or leave them out", 400, "speaker")
    for name in names:
        situation_between(story, name, moment, known if persona is None else _other(persona))
    return ResolvedScene(names, known, persona)


def _other(persona: OwnPersona) -> Other:
    return outsider(persona.name, persona.description)


def still_possible(story: Story, then: Chat) -> Chat:
    """A chat as it stood once, without those who cannot be there in the story as it is now."""
    try:
        moment = story.moment(then.moment)
    except StoryError as error:
        raise Refused(
            f"the story has been read anew since, and there is no {then.moment} in it now: begin a new chat", 409
        ) from error
    present = {person.name for person in people_at(story, moment)}
    speaker = then.speaker
    if speaker is not None and speaker not in present:
        raise Refused(
            "the story has been read anew since, and whoever you spoke as is not there any more: begin a new chat", 409
        )
    names = tuple(name for name in then.characters if name in present and _can_be(story, name, moment, speaker))
    if not names:
        raise Refused(
            "the story has been read anew since, and nobody of that scene is there any more: begin a new chat", 409
        )
    return replace(then, characters=names)


def _can_be(story: Story, name: str, moment: Moment, speaker: str | None) -> bool:
    try:
        return situation_between(story, name, moment, speaker).persona.name == name
    except UnderstudyError:
        return False


def situation_in(story: Story, chat: Chat, name: str, message: Message) -> Situation:
    """A character of the scene at the chat's moment, before the message's author, with the others present."""
    author, persona = (chat.speaker, chat.persona) if message.is_reply else (message.author, message.persona)
    faced: str | Other | None = author if persona is None else _other(persona)
    if faced is None and chat.remember is not None:
        faced = remembered_person(chat.remember)
    situation = situation_between(story, name, story.moment(chat.moment), faced)
    excluded = {name, situation.faced.name if situation.faced else None}
    known = {person.name for person in situation.present}
    beside = (other_at(story, person, situation.persona) for person in chat.characters if person not in excluded)
    return replace(
        situation, present=(*situation.present, *(person for person in beside if person.name not in known | excluded))
    )


def history_for(
    story: Story, situation: Situation, path: Sequence[Message], not_again: Sequence[str] = ()
) -> tuple[Turn, ...]:
    """What a character remembers of the chat at its moment. Of older chats it is not known who was in the scene."""
    persona = situation.persona
    names: dict[str, str] = {persona.name: persona.name}

    def speaker(message: Message) -> str:
        if message.author is None:
            return USER_NAME if message.persona is None else message.persona.name
        if message.author not in names:
            names[message.author] = _known_as(story, message, persona)
        return names[message.author]

    said = [ConversationTurn(speaker(each), each.text, _moment_of(story, each), each.present) for each in path]
    return perspective(said, situation, not_again)


def _moment_of(story: Story, message: Message) -> Moment:
    """When it was said. A story that was read again may have lost that moment, and moments compare without a story."""
    try:
        return story.moment(message.moment)
    except StoryError:
        return Moment.parse(message.moment)


def _known_as(story: Story, message: Message, persona: Persona) -> str:
    """The name by which a character knows a message's author; the stored one, if the story no longer has them."""
    assert message.author is not None
    try:
        return other_at(story, message.author, persona).name
    except StoryError:
        return message.shown_name


def differences(story: Story, names: Iterable[str], speaker: str | None, before: str, now: str) -> list[Difference]:
    """What changed for each character between two moments; sentences about the speaker come first.

    Empty if the story, read again, no longer has the earlier moment.
    """
    try:
        old = story.moment(before)
    except StoryError:
        return []
    return [_difference(story, name, speaker, old, story.moment(now)) for name in names]


def _difference(story: Story, name: str, speaker: str | None, before: Moment, now: Moment) -> Difference:
    old, new = _persona_or_none(story, name, speaker, before), _shown_persona(story, name, speaker, now)
    old_sentences, new_sentences = _sentences(old) if old else [], _sentences(new)
    added = [sentence for sentence in new_sentences if sentence not in old_sentences]
    gone = [sentence for sentence in old_sentences if sentence not in new_sentences]
    is_move_back = now < before
    return Difference(
        character=shown_names(story, now).get(name, name),
        now=_speaker_first(added, story, speaker, now),
        no_longer=[] if is_move_back or old is None else _speaker_first(gone, story, speaker, before),
        later=len(gone) if is_move_back else 0,
        lines=len(new.past.lines()),
    )


def _shown_persona(story: Story, name: str, speaker: str | None, at: Moment) -> Persona:
    persona = persona_at(story, name, at, before=[speaker] if speaker else [])
    return persona_as_shown(persona, shown_names_at(story, at))


def _persona_or_none(story: Story, name: str, speaker: str | None, at: Moment) -> Persona | None:
    """None for somebody who was added to the scene with the move, and did not live at the old moment."""
    try:
        return _shown_persona(story, name, speaker, at)
    except (Unborn, Dead, UnknownCharacter):
        return None


def _sentences(persona: Persona) -> list[str]:
    return [*persona.profile, *persona.feelings()]


def _speaker_first(sentences: list[str], story: Story, speaker: str | None, at: Moment) -> list[str]:
    if speaker is None:
        return sentences
    shown = shown_names(story, at).get(speaker, speaker)
    return sorted(sentences, key=lambda sentence: shown not in sentence)


def greeting_messages(story: Story, chat: Chat) -> list[Message]:
    """The greetings of the character's card, as alternative first messages of a chat.

    None where the chat has several characters, or the character has no card.
    """
    if len(chat.characters) != 1:
        return []
    (name,) = chat.characters
    blank = Message(True, name, name, "", chat.moment)
    situation = situation_in(story, chat, name, blank)
    names = shown_names_at(story, situation.persona.moment)
    messages = []
    for number, text in enumerate(greetings_for(situation), 1):
        evidence = Evidence("script", f"greeting {number} of the card")
        reply = reply_as_shown(Reply(text, evidence=(evidence,)), names)
        messages.append(
            Message(
                True,
                name,
                names.of(name),
                reply.text,
                chat.moment,
                faced=names.of(situation.faced.name) if situation.faced else None,
                why=msgspec.json.encode(why_of(reply)).decode(),
                present=chat.characters,
            )
        )
    return messages


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
