"""Which stories are on, and who of them can be spoken to."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock

from understudy.dialogue import Reply, Situation, situation_at
from understudy.errors import UnknownStory
from understudy.server.naming import ModelName
from understudy.server.standing import person, shown_names
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["Role", "Stage"]

KEPT = 256  # roles: agents know a persona again by its being the same object

Wanted = tuple[ModelName, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Role:
    """Somebody who can be spoken to, and the name they are shown by, which may be a false one."""

    situation: Situation
    shown: str

    def outward(self, reply: Reply) -> Reply:
        """A reply as others may see it: its evidence quotes the character under the name it is shown by."""
        own = self.situation.persona.name
        if own == self.shown:
            return reply
        return replace(reply, evidence=tuple(replace(e, text=e.text.replace(own, self.shown)) for e in reply.evidence))


class Stage:
    """The stories that are open, by the names clients use for them. Replaced whole, so that readers need no lock."""

    def __init__(self, stories: Mapping[str, Story]) -> None:
        self._stories = dict(stories)
        self._roles: OrderedDict[Wanted, Role] = OrderedDict()
        self._lock = Lock()

    def __iter__(self) -> Iterator[tuple[str, Story]]:
        return iter(self._stories.items())

    def story(self, name: str) -> Story:
        found = self._stories.get(name)
        if found is None:
            raise UnknownStory(f"there is no story '{name[:80]}' here; there is {', '.join(self._stories) or 'none'}")
        return found

    def moment(self, story: str, moment: str) -> Moment:
        return self.story(story).moment(moment)

    def put(self, name: str, story: Story) -> None:
        """Add a story, or put a newer reading of it in the place of an older one."""
        self._stories = {**self._stories, name: story}
        self._forget()

    def remove(self, name: str) -> None:
        self.story(name)
        self._stories = {other: story for other, story in self._stories.items() if other != name}
        self._forget()

    def situation(self, name: ModelName, setting: str = "") -> Situation:
        """A character at a moment, before somebody."""
        return self.role(name, setting).situation

    async def role_soon(self, name: ModelName, setting: str = "", told: tuple[str, ...] = ()) -> Role:
        """A role without holding up the server: at once where it was asked for lately, else from a thread."""
        known = self._known((name, setting, told))
        return known if known is not None else await asyncio.to_thread(self.role, name, setting, told)

    def role(self, name: ModelName, setting: str = "", told: tuple[str, ...] = ()) -> Role:
        """Who is asked for, as they are then; `told` are sentences that a client adds to the profile."""
        wanted = (name, setting, told)
        if (found := self._known(wanted)) is not None:
            return found
        story = self.story(name.story)
        at = story.moment(name.moment)
        who = person(story, name.character, at)
        faced = None if name.facing is None else person(story, name.facing, at)
        made = situation_at(story, who, at, faced, setting)
        if told:
            made = replace(made, persona=replace(made.persona, profile=(*made.persona.profile, *told)))
        role = Role(made, shown_names(story, at).get(who, who))
        with self._lock:
            if self._stories.get(name.story) is story:
                self._roles[wanted] = role
                if len(self._roles) > KEPT:
                    self._roles.popitem(last=False)
        return role

    def _known(self, wanted: Wanted) -> Role | None:
        with self._lock:
            found = self._roles.get(wanted)
            if found is not None:
                self._roles.move_to_end(wanted)
            return found

    def _forget(self) -> None:
        with self._lock:
            self._roles.clear()
