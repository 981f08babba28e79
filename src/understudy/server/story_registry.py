"""Which stories are on, and who of them can be spoken to."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock

from understudy.dialogue import Reply, Situation
from understudy.errors import UnknownStory
from understudy.names import ShownNames, shown_names_at
from understudy.server.naming import ModelName
from understudy.server.outward import reply_as_shown, situation_as_shown
from understudy.server.standing import situation_of
from understudy.story import Moment
from understudy.storyfile import Story
from understudy.text import fold

__all__ = ["Role", "StoryRegistry"]

KEPT = 256  # roles: agents know a persona again by its being the same object

Wanted = tuple[ModelName, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Role:
    """Somebody who can be spoken to, as they know themselves and others; and the names people are shown by."""

    situation: Situation
    names: ShownNames

    @property
    def shown(self) -> str:
        """The name the character is shown by, which may be a false one."""
        return self.names.of(self.situation.persona.name)

    @property
    def shown_situation(self) -> Situation:
        """The situation as others may see it."""
        return situation_as_shown(self.situation, self.names)

    def speaker(self, called: str, stranger: str) -> str:
        """Who speaks in a history where somebody is called so: the character by the name it is shown by. The true name
        behind it means nobody that a client could know of, so it becomes that of a `stranger`."""
        own = self.situation.persona.name
        if fold(called) == fold(self.shown):
            return own
        return stranger if fold(called) == fold(own) else called

    def outward(self, reply: Reply) -> Reply:
        """A reply as others may see it."""
        return reply_as_shown(reply, self.names)


class StoryRegistry:
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
        with self._lock:
            self._stories = {**self._stories, name: story}
            self._roles.clear()

    def remove(self, name: str) -> None:
        self.story(name)
        with self._lock:
            self._stories = {other: story for other, story in self._stories.items() if other != name}
            self._roles.clear()

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
        made = situation_of(story, name.character, at, name.facing, setting)
        if told:
            made = replace(made, persona=replace(made.persona, profile=(*made.persona.profile, *told)))
        role = Role(made, shown_names_at(story, at))
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
