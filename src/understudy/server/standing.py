"""Who was asked for, at which moment: found by the names a reader knows there, refused without telling of later things.

Every route that takes a name asks here (the rule is in `understudy.names`). Errors of the story itself may name later
moments or people, so what is said here is said anew, and is the same of somebody who comes later, of the true name
behind a false one and of a name that is made up.
"""

from __future__ import annotations

from understudy.dialogue import Situation, situation_at
from understudy.names import ambiguity, people_at, people_called, shown_names
from understudy.server.problems import Refused
from understudy.story import Moment
from understudy.storyfile import CastMember, Story

__all__ = ["heard_so_far", "person", "shown_names", "situation_between", "situation_of"]

LONGEST = 80  # characters of a name that an error repeats


def heard_so_far(story: Story, at: Moment) -> list[tuple[str, CastMember]]:
    """Those who have spoken before a moment, by the names they are shown by, with what they had said by then."""
    names = shown_names(story, at)
    return [(names.get(member.character.name, member.character.name), member) for member in story.cast_before(at)]


def person(story: Story, name: str, at: Moment) -> str:
    """The story's own name for whoever a reader calls by a name at a moment.

    Those can be asked for who have been in a scene by then, or are there when the curtain rises on the first.
    """
    found = people_called(people_at(story, at), name)
    if len(found) > 1:
        raise Refused(ambiguity(name[:LONGEST], found), 404, "name")
    if not found:
        raise _unknown(name)
    return found[0].name


def _unknown(name: str) -> Refused:
    return Refused(f"nobody heard so far is called '{name[:LONGEST]}': choose from the cast", 404, "name")


def situation_of(story: Story, name: str, at: Moment, facing: str | None = None, setting: str = "") -> Situation:
    """A character at a moment, before somebody, both called as a reader knows them."""
    who = person(story, name, at)
    faced = None if facing is None else person(story, facing, at)
    return situation_between(story, who, at, faced, setting)


def situation_between(story: Story, who: str, at: Moment, faced: str | None = None, setting: str = "") -> Situation:
    """The same of people by the story's own names for them, as `person` gives them."""
    if faced == who:
        raise Refused("nobody can stand before themselves: name somebody else", 400, "facing")
    return situation_at(story, who, at, faced, setting)
