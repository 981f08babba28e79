"""What a guesser may be taught before it is judged: the earlier episodes of shows, or a story before a moment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from understudy.bench.guess_story import Question
from understudy.bench.manifest import Watch, unwatched
from understudy.bench.shows import shows_in
from understudy.errors import InputError
from understudy.guessing import Lessons, stretches
from understudy.storyfile import Story
from understudy.text import fold

__all__ = ["lessons_of_shows", "lessons_of_story"]


def lessons_of_shows(
    data: Path, shows: Sequence[str] = (), judge: Path | None = None, progress: Watch = unwatched
) -> dict[str, Lessons]:
    """By the title of each show, all that `bench guess` lets a guesser learn from; of the shows named, if any are."""
    wanted = {_plain(name) for name in shows}
    found = {show.title: show for show in shows_in(data, judge, progress)}
    unknown = wanted - {_plain(title) for title in found}
    if unknown:
        raise InputError(f"has no {', '.join(sorted(unknown))}: choose from {', '.join(found)}", data)
    return {
        title: Lessons(show.earlier, show.main, show.names, show.story.language)
        for title, show in found.items()
        if not wanted or _plain(title) in wanted
    }


def lessons_of_story(story: Story, before: str, most: int) -> dict[str, Lessons]:
    """What comes before a moment, with the main characters that `guess` asks about."""
    masking = Question(most=most).masking(story)
    scenes = list(stretches(story.scenes(before=story.moment(before))))
    return {story.title: Lessons(scenes, masking.people, masking.names, story.language)}


def _plain(name: str) -> str:
    return fold(name.replace("_", " "))
