"""What is different for a character when a chat is moved through the story.

A move back shows what holds there and no longer held where the chat had stood. What is still to come there is only
counted: whoever asks at the earlier moment is not told of the later one.
"""

from __future__ import annotations

from collections.abc import Iterable

from understudy.errors import Dead, StoryError, Unborn, UnknownCharacter
from understudy.names import shown_names_at
from understudy.persona import Persona, persona_at
from understudy.server.chats.documents import Difference
from understudy.server.outward import persona_as_shown
from understudy.server.standing import shown_names
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["differences"]


def differences(story: Story, names: Iterable[str], speaker: str | None, before: str, now: str) -> list[Difference]:
    """What changed for each character between two moments; what concerns the one who speaks with them comes first.

    From a moment that the story, read anew, does not have any more, nothing can be compared.
    """
    try:
        there = story.moment(before)
    except StoryError:
        return []
    return [_difference(story, name, speaker, there, story.moment(now)) for name in names]


def _difference(story: Story, name: str, speaker: str | None, before: Moment, now: Moment) -> Difference:
    there, here = _persona_or_none(story, name, speaker, before), _persona(story, name, speaker, now)
    held, holds = _sentences(there) if there else [], _sentences(here)
    gone = [sentence for sentence in held if sentence not in holds]
    back = now < before
    return Difference(
        character=shown_names(story, now).get(name, name),
        now=_nearest_first([one for one in holds if one not in held], story, speaker, now),
        no_longer=[] if back or there is None else _nearest_first(gone, story, speaker, before),
        later=len(gone) if back else 0,
        lines=len(here.past.lines()),
    )


def _persona(story: Story, name: str, speaker: str | None, at: Moment) -> Persona:
    """As a reader is shown them at the moment."""
    persona = persona_at(story, name, at, before=[speaker] if speaker else [])
    return persona_as_shown(persona, shown_names_at(story, at))


def _persona_or_none(story: Story, name: str, speaker: str | None, at: Moment) -> Persona | None:
    """None for somebody who has only now come into the scene, and was not alive where it was before."""
    try:
        return _persona(story, name, speaker, at)
    except (Unborn, Dead, UnknownCharacter):
        return None


def _sentences(persona: Persona) -> list[str]:
    return [*persona.profile, *persona.feelings()]


def _nearest_first(sentences: list[str], story: Story, speaker: str | None, at: Moment) -> list[str]:
    if speaker is None:
        return sentences
    known = shown_names(story, at).get(speaker, speaker)
    return sorted(sentences, key=lambda sentence: known not in sentence)
