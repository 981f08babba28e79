"""Looking for a story's people where it is read, or, in a large one, where a persona of it is first wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from understudy.cli.progress import read_showing, watching
from understudy.cli.show import clean
from understudy.errors import UnderstudyError
from understudy.people.draft import StoryDraft, find_people, is_large, leave_pending
from understudy.story.storyfile import Story
from understudy.story.types import Fact

__all__ = ["find_while_reading", "found_document", "found_sentence", "read_with_people"]


def read_with_people(what: str | Path, annotated: bool = False) -> Story:
    """Open a story for its personas, and look for its people first where that is still to be done."""
    story = read_showing(what, annotated=annotated)
    if story.is_pending:
        _find(story)
    return story


def find_while_reading(story: Story) -> StoryDraft | None:
    """Look for the people of a story that was just read; None where they are left to be looked for later."""
    if is_large(story):
        leave_pending(story)
        return None
    return _find(story)


def _find(story: Story) -> StoryDraft | None:
    """A story is of use without what the text tells of its people, so that this never fails."""
    try:
        with watching() as progress:
            return find_people(story, progress)
    except UnderstudyError as error:
        click.echo(f"Its people could not be looked for: {clean(str(error))}", err=True)
        return None


def found_document(story: Story, found: StoryDraft | None) -> dict[str, Any]:
    entries = () if found is None else found.entries
    facts = sum(isinstance(placed.claim, Fact) for placed in entries)
    used = 0 if found is None else len(found.used)
    return {"facts": facts, "relations": len(entries) - facts, "used": used, "pending": story.is_pending}


def found_sentence(story: Story, found: StoryDraft | None) -> str:
    if story.is_pending:
        return f"Who its people are is looked for when one is first wanted (now: understudy draft {story.path})."
    counts = found_document(story, found)
    return (
        f"Of its people {counts['facts']:,} facts and {counts['relations']:,} ties were found, {counts['used']:,} of "
        f"them used: understudy draft review {story.path}"
    )
