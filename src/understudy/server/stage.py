"""Which stories are on, and who of them can be spoken to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from understudy.dialogue import Situation, situation_at
from understudy.errors import UnknownStory
from understudy.server.naming import ModelName
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["Stage"]


class Stage:
    """The stories that are open, by the names clients use for them. Replaced whole, so that readers need no lock."""

    def __init__(self, stories: Mapping[str, Story]) -> None:
        self._stories = dict(stories)

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

    def remove(self, name: str) -> None:
        self.story(name)
        self._stories = {other: story for other, story in self._stories.items() if other != name}

    def situation(self, name: ModelName, setting: str = "") -> Situation:
        return situation_at(self.story(name.story), name.character, name.moment, name.facing, setting)
