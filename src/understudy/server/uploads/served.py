"""The uploads that are served here: by which names, and as of which state in the database."""

from __future__ import annotations

from collections.abc import Collection

from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads.limits import slug
from understudy.server.uploads.sharing import UploadState
from understudy.story.storyfile import Story

__all__ = ["ServedUploads"]


class ServedUploads:
    """Stories of uploads in the registry, beside those of the command line, which may have taken a name."""

    def __init__(self, registry: StoryRegistry) -> None:
        self._registry = registry
        self._names: dict[str, str] = {}
        self.states: dict[str, UploadState] = {}
        """As they were served last; without those that must be looked at again."""

    def __contains__(self, upload: str) -> bool:
        return upload in self._names

    def name_of(self, upload: str) -> str | None:
        return self._names.get(upload)

    def names(self) -> set[str]:
        return set(self._names.values())

    def story(self, name: str) -> Story:
        return self._registry.story(name)

    def put(self, upload: str, name: str, story: Story) -> None:
        self._registry.put(name, story)
        self._names[upload] = name
        self.states.pop(upload, None)

    def remove(self, upload: str) -> None:
        self.states.pop(upload, None)
        name = self._names.pop(upload, "")
        if self.is_taken(name):
            self._registry.remove(name)

    def is_taken(self, name: str) -> bool:
        """Is a story served by this name, of an upload or of the command line?"""
        return any(name == served for served, _ in self._registry)

    def unused_name(self, title: str, taken: Collection[str] = ()) -> str:
        name = base = slug(title)
        number = 2
        while self.is_taken(name) or name in taken:
            name, number = f"{base}-{number}", number + 1
        return name
