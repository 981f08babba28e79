"""What a story must have to be written in a format of dialogue."""

from __future__ import annotations

from understudy.errors import InputError
from understudy.story.storyfile import Story

__all__ = ["check_speech"]


def check_speech(story: Story) -> None:
    """Refuse a story in which nobody speaks: what would be written could not be read back."""
    if story.count()[0] == 0:
        raise InputError(f"'{story.title}' has no scenes, so there is no dialogue to write")
    if not any(line.speaker is not None for scene in story.scenes() for line in scene.lines):
        raise InputError(f"nobody speaks in '{story.title}', so there is no dialogue to write: use --format folder")
