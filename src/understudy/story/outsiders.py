"""Somebody who is not in the story and stands before one of its characters: a name, and who they are in a few words."""

from __future__ import annotations

import re

from understudy.errors import StoryError, UnknownCharacter
from understudy.story.names import character_at
from understudy.story.persona import Other
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.text import fold

__all__ = ["MAX_DESCRIPTION", "MAX_NAME", "must_be_nobody", "outsider"]

MAX_NAME = 80
MAX_DESCRIPTION = 1_000
SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def outsider(name: str, description: str) -> Other:
    """An invented person; the sentences of the description are what a character knows of them."""
    name, description = " ".join(name.split()), description.strip()
    if not name or not description:
        raise StoryError("write whom you speak as with a name and a few words, as in 'Tom: a sailor, 40'")
    if len(name) > MAX_NAME or len(description) > MAX_DESCRIPTION:
        raise StoryError(
            f"that is too long: a name has at most {MAX_NAME} characters, and what is said of them {MAX_DESCRIPTION}"
        )
    first, *rest = (" ".join(sentence.split()) for sentence in SENTENCE_END.split(description) if sentence.strip())
    return Other(name, (first if fold(first).startswith(fold(name)) else f"{name}: {first}", *rest))


def must_be_nobody(story: Story, other: Other, at: Moment) -> Other:
    """Refuse an outsider who has the name of a character: they would be taken for each other."""
    own = fold(other.name)
    names = (name for member in story.cast() for name in (member.character.name, *member.character.aliases))
    try:
        is_taken = own in map(fold, names) or bool(character_at(story, other.name, at))
    except UnknownCharacter as error:
        is_taken = " may be " in str(error)  # it means more than one
    if is_taken:
        raise StoryError(
            f"'{other.name}' is a name of somebody in the story: to speak as them give the name alone, "
            "or choose another name for yourself"
        )
    return other
