"""One SQLite file a story: written once, then moved into place, and opened read-only ever after."""

from understudy.story.storyfile.database import DOUBTFUL, LineSpans, Spans
from understudy.story.storyfile.people import CardRecord, CastMember
from understudy.story.storyfile.story import FileCounts, Story, UnreadSourceLine
from understudy.story.storyfile.validation import is_story_file, validate_story_file
from understudy.story.storyfile.writing import StoryWriter

__all__ = [
    "DOUBTFUL",
    "CardRecord",
    "CastMember",
    "FileCounts",
    "LineSpans",
    "Spans",
    "Story",
    "StoryWriter",
    "UnreadSourceLine",
    "is_story_file",
    "validate_story_file",
]
