"""Which character a client means by a name at a moment, by the names a reader knows there.

Every route that takes a name resolves it here (the rule is in `understudy.names`). Errors of the story itself may name
later moments or people, so they are replaced: the message is the same for somebody who comes later, for the true name
behind a false one and for a name that is made up.
"""

from __future__ import annotations

from understudy.dialogue import Situation, situation_at
from understudy.names import ambiguity, people_at, people_called, shown_names
from understudy.server.problems import Refused
from understudy.story import Moment
from understudy.storyfile import CastMember, Story

__all__ = ["resolve_name", "shown_names", "situation_between", "situation_of", "speakers_before"]

MAX_QUOTED = 80  # characters of a name that an error repeats


def speakers_before(story: Story, at: Moment) -> list[tuple[str, CastMember]]:
    """Those who have spoken before a moment: the name they are shown by, and their lines up to it."""
    names = shown_names(story, at)
    return [(names.get(member.character.name, member.character.name), member) for member in story.cast_before(at)]


def resolve_name(story: Story, name: str, at: Moment) -> str:
    """The story's own name for the person whom a reader calls by a name at a moment.

    Only people who have been in a scene by then, or are present as the first scene begins, can be resolved.
    """
    matches = people_called(people_at(story, at), name)
    if len(matches) > 1:
        raise Refused(ambiguity(name[:MAX_QUOTED], matches), 404, "name")
    if not matches:
        raise _unknown(name)
    return matches[0].name


def _unknown(name: str) -> Refused:
    return Refused(f"nobody heard so far is called '{name[:MAX_QUOTED]}': choose from the cast", 404, "name")


def situation_of(story: Story, name: str, at: Moment, facing: str | None = None, setting: str = "") -> Situation:
    """The situation of a character before somebody, both named as a reader knows them."""
    who = resolve_name(story, name, at)
    faced = None if facing is None else resolve_name(story, facing, at)
    return situation_between(story, who, at, faced, setting)


def situation_between(story: Story, who: str, at: Moment, faced: str | None = None, setting: str = "") -> Situation:
    """The same for the story's own names, as `resolve_name` returns them."""
    if faced == who:
        raise Refused("nobody can stand before themselves: name somebody else", 400, "facing")
    return situation_at(story, who, at, faced, setting)
