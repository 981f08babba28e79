"""Who was asked for, at which moment: found by the name they go by there, and refused without telling of later things.

Until a false name is known to all, it is the name that a reader of the story is shown; whoever has it can be asked for
by it. Errors of the story itself may name later moments or people, so what is said here is said anew.
"""

from __future__ import annotations

from understudy.dialogue import Situation, situation_at
from understudy.errors import Unborn, UnknownCharacter
from understudy.server.problems import Refused
from understudy.story import Moment
from understudy.storyfile import CastMember, Story

__all__ = ["heard_so_far", "person", "shown_names", "situation_of"]


def shown_names(story: Story, at: Moment) -> dict[str, str]:
    """The false names that hold at a moment, by the true ones."""
    return {
        fact.who: fact.values[0]
        for fact in story.facts()
        if fact.attribute == "goes by" and fact.since <= at and (fact.until is None or at < fact.until)
    }


def heard_so_far(story: Story, at: Moment) -> list[tuple[str, CastMember]]:
    """Those who have spoken before a moment, by the names they are shown by, with what they had said by then."""
    names = shown_names(story, at)
    return [(names.get(member.character.name, member.character.name), member) for member in story.cast_before(at)]


def person(story: Story, name: str, at: Moment) -> str:
    """The true name of whoever goes by a name at a moment.

    Those can be asked for who have been in a scene by then, or are there when the curtain rises on the first. Of
    anybody else the answer is the same, whether the story will have them or not.
    """
    who = next((true for true, shown in shown_names(story, at).items() if shown == name), None)
    try:
        who = who or story.character(name).name
    except UnknownCharacter as error:
        raise _unknown(name) from error
    if next(story.past(who, at, {}).scenes(last=1), None) is None and not _opens(story, who):
        raise _unknown(name)
    return who


def _opens(story: Story, who: str) -> bool:
    opening = next(story.outline(), None)
    if opening is None:  # a cast without scenes, as a character card has
        return True
    return any(name == who and first == 1 for name, first, _ in story.spells(opening[0]))


def _unknown(name: str) -> Refused:
    return Refused(f"nobody heard so far is called '{name[:80]}': choose from the cast", 404, "name")


def situation_of(story: Story, name: str, at: Moment, facing: str | None = None) -> Situation:
    """A character at a moment, before somebody."""
    who = person(story, name, at)
    faced = None if facing is None else person(story, facing, at)
    try:
        return situation_at(story, who, at, faced)
    except Unborn as error:
        raise Refused(f"'{name[:80]}' is not in the story yet: ask for a later moment", 404, "name") from error
