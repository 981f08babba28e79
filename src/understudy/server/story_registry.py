"""The stories a server has open, and their characters as clients ask for them."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock

from understudy.errors import UnknownStory
from understudy.server.names import ModelName, reply_as_shown, situation_as_shown, situation_of
from understudy.story.dialogue import Reply, Situation, mark_found
from understudy.story.names import ShownNames, shown_names_at
from understudy.story.storyfile import Story
from understudy.text import fold

CACHE_SIZE = 256  # characters; agents cache by the identity of a persona, so the same object is handed out again
MAX_SLUG = 40

CacheKey = tuple[ModelName, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ServedCharacter:
    """A character at a moment as it knows itself and others, and the names that clients are shown."""

    situation: Situation
    names: ShownNames

    @property
    def shown_name(self) -> str:
        """The name the character is shown by, which may be a false one."""
        return self.names.of(self.situation.persona.name)

    @property
    def shown_situation(self) -> Situation:
        """The situation as a client may see it."""
        return situation_as_shown(self.situation, self.names)

    def speaker(self, name: str, stranger: str) -> str:
        """Who speaks where a client's history has a name: the character itself, by the name it is shown by.

        A client cannot know the true name behind a false one, so whoever is called by it is a `stranger`.
        """
        own = self.situation.persona.name
        if fold(name) == fold(self.shown_name):
            return own
        return stranger if fold(name) == fold(own) else name

    def redact(self, reply: Reply) -> Reply:
        """A reply as a client may see it."""
        return reply_as_shown(mark_found(reply, self.situation), self.names)


class StoryRegistry:
    """Stories by the names clients use for them. The mapping is replaced whole, so that readers need no lock."""

    def __init__(self, stories: Mapping[str, Story]) -> None:
        self._stories = dict(stories)
        self._names = {story.identity: name for name, story in stories.items()}
        self._characters: OrderedDict[CacheKey, ServedCharacter] = OrderedDict()
        self._lock = Lock()

    def __iter__(self) -> Iterator[tuple[str, Story]]:
        return iter(self._stories.items())

    def __contains__(self, name: str) -> bool:
        return name in self._stories

    def unused_name(self, title: str, taken: Collection[str] = ()) -> str:
        """A name for a story of a title: its slug, with a number where a story has that."""
        name = base = slug(title)
        number = 2
        while name in self or name in taken:
            name, number = f"{base}-{number}", number + 1
        return name

    def story(self, name: str) -> Story:
        story = self._stories.get(name)
        if story is None:
            raise UnknownStory(f"there is no story '{name[:80]}' here; there is {', '.join(self._stories) or 'none'}")
        return story

    def story_or_none(self, name: str) -> Story | None:
        """None where it was removed."""
        return self._stories.get(name)

    def labels(self) -> dict[str, str]:
        """What each story is called on a page: its title, with its name where others have the same title."""
        stories = self._stories
        titles = Counter(story.title for story in stories.values())
        return {
            name: story.title if titles[story.title] == 1 else f"{story.title} ({name})"
            for name, story in stories.items()
        }

    def identified(self, identity: str) -> list[Story]:
        """The story of an identity; the newer reading that has replaced it while a reply was being written."""
        stories = self._stories
        for story in stories.values():
            if story.identity == identity:
                return [story]
        newer = stories.get(self._names.get(identity, ""))
        return [] if newer is None else [newer]

    def put(self, name: str, story: Story) -> None:
        """Add a story, or replace it by a newer reading of it."""
        with self._lock:
            self._stories = {**self._stories, name: story}
            self._names[story.identity] = name
            self._characters.clear()

    def remove(self, name: str) -> None:
        self.story(name)
        with self._lock:
            self._stories = {key: story for key, story in self._stories.items() if key != name}
            self._characters.clear()

    async def character_async(self, name: ModelName, extra_profile: tuple[str, ...] = ()) -> ServedCharacter:
        """`character` without blocking the event loop: from the cache, else in a thread."""
        cached = self._cached((name, extra_profile))
        return cached if cached is not None else await asyncio.to_thread(self.character, name, extra_profile)

    def character(self, name: ModelName, extra_profile: tuple[str, ...] = ()) -> ServedCharacter:
        """A character by its model name; `extra_profile` are sentences that a client adds to the profile."""
        key = (name, extra_profile)
        if (cached := self._cached(key)) is not None:
            return cached
        story = self.story(name.story)
        at = story.moment(name.moment)
        situation = situation_of(story, name.character, at, name.facing)
        if extra_profile:
            persona = situation.persona
            situation = replace(situation, persona=replace(persona, profile=(*persona.profile, *extra_profile)))
        character = ServedCharacter(situation, shown_names_at(story, at))
        with self._lock:
            if self._stories.get(name.story) is story:  # it may have been replaced meanwhile
                self._characters[key] = character
                if len(self._characters) > CACHE_SIZE:
                    self._characters.popitem(last=False)
        return character

    def _cached(self, key: CacheKey) -> ServedCharacter | None:
        with self._lock:
            character = self._characters.get(key)
            if character is not None:
                self._characters.move_to_end(key)
            return character


def slug(title: str) -> str:
    """A story's name in URLs: the letters and digits of its title, in any script."""
    plain = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).casefold())
    return plain[:MAX_SLUG].strip("-") or "story"
