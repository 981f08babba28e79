"""Found facts and ties for tests: written beside a story as a draft would write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from understudy.people.draft import carry_decisions, entries_of
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FoundFile, line_after
from understudy.story.types import Fact, Finding, Moment, Relation


def found_fact(
    who: str, attribute: str, value: str, *sources: Moment, confidence: float = 0.95, until: Moment | None = None
) -> Fact:
    """A fact as a finder gives it: it holds from the line after the first that says it."""
    return Fact(who, attribute, (value,), line_after(min(sources)), until, found=Finding(confidence, sources))


def found_tie(
    of: str, to: str, kind: str, *sources: Moment, confidence: float = 0.95, level: int | None = None, term: str = ""
) -> Relation:
    finding = Finding(confidence, sources)
    return Relation(of, to, kind, level, line_after(min(sources)), term=term, found=finding)


def write_claims(story: Story, path: Path, claims: Sequence[Fact | Relation]) -> FoundFile:
    file = carry_decisions(None, path, entries_of(story, "test", claims))
    file.write()
    return file
