"""Who is in a chat's scene, and what each of them has heard of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from understudy.dialogue import Situation, Turn
from understudy.errors import StoryError, UnderstudyError
from understudy.names import people_at
from understudy.persona import Persona, other_at
from understudy.server.chats.addressing import Listener
from understudy.server.chats.documents import OWN_NAME
from understudy.server.chats.store import Chat, Said
from understudy.server.problems import Refused
from understudy.server.standing import person, situation_between
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["listeners", "scene_of", "situation_in", "still_possible", "turns_for"]

MOST_CHARACTERS = 6


def scene_of(
    story: Story, characters: Sequence[str], speaker: str | None, moment: Moment
) -> tuple[tuple[str, ...], str | None]:
    """The story's names for who is there and who one speaks as, if they can all be there at the moment."""
    known = None if speaker is None else person(story, speaker, moment)
    names = tuple(dict.fromkeys(person(story, name, moment) for name in characters))
    if len(names) > MOST_CHARACTERS:
        raise Refused(f"that is too many for one scene: choose at most {MOST_CHARACTERS}", 400, "characters")
    if known in names:
        raise Refused("nobody can talk with themselves: speak as somebody else, or leave them out", 400, "speaker")
    for name in names:
        situation_between(story, name, moment, known)
    return names, known


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


def listeners(story: Story, chat: Chat, moment: Moment) -> list[Listener]:
    known_as = {one.name: one.known_as for one in people_at(story, moment)}
    return [Listener(name, known_as.get(name, (name,))) for name in chat.characters if name != chat.speaker]


def situation_in(story: Story, chat: Chat, name: str, message: Said) -> Situation:
    """A character of the scene at the chat's moment, before whoever says the message, the others beside them."""
    situation = situation_between(
        story, name, story.moment(chat.moment), message.author if not message.answers else chat.speaker
    )
    there = {name, situation.faced.name if situation.faced else None}
    known = {other.name for other in situation.present}
    beside = (other_at(story, other, situation.persona) for other in chat.characters if other not in there)
    return replace(
        situation, present=(*situation.present, *(other for other in beside if other.name not in known | there))
    )


def turns_for(
    story: Story, situation: Situation, path: Sequence[Said], not_again: Sequence[str] = ()
) -> tuple[Turn, ...]:
    """What a character remembers of the chat at its moment: nothing that was said at a later one.

    `not_again` are replies that count as said, just before the last message.
    """
    persona = situation.persona
    names: dict[str | None, str] = {None: OWN_NAME, persona.name: persona.name}
    turns: list[Turn] = []
    for said in path:
        if _moment_of(story, said) > persona.moment:
            continue
        if said.author not in names:
            assert said.author is not None
            names[said.author] = _known_as(story, said, persona)
        turns.append(Turn(names[said.author], said.text))
    return (*turns[:-1], *(Turn(persona.name, text) for text in not_again), *turns[-1:])


def _moment_of(story: Story, said: Said) -> Moment:
    """When it was said; a story that was read anew may be shorter by now, and moments compare without one."""
    try:
        return story.moment(said.moment)
    except StoryError:
        return Moment.parse(said.moment)


def _known_as(story: Story, said: Said, persona: Persona) -> str:
    """The name a character knows who spoke by; as it was shown, where the story does not have them any more."""
    assert said.author is not None
    try:
        return other_at(story, said.author, persona).name
    except StoryError:
        return said.shown
