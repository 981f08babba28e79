"""Conversations: which paragraphs are one scene.

A scene is a run of quotations without a long stretch of narration between them, at most a chapter; a shorter stretch is
enough where other people speak after it than before. Narration belongs to the scene that it leads into. A line of
asterisks ends a scene.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.quotations.paragraphs import is_scene_break
from understudy.quotations.prose import Attribution, Prose

__all__ = ["SceneParagraphs", "conversations"]

LONG, SHORT = 2_000, 400
"""Characters of narration that end a conversation, and that do if the company changes.

In the novels of PDNC the same two people go on talking over a gap of 2,000 characters in 54 of 100 cases, over one of
250 to 500 in 88.
"""
COMPANY = 2  # quotations on either side by which people are told


@dataclass(frozen=True, slots=True)
class SceneParagraphs:
    """Paragraphs `first` up to, not including, `last` of one chapter."""

    chapter: int
    first: int
    last: int


def conversations(prose: Prose, attributions: Sequence[Attribution]) -> Iterator[SceneParagraphs]:
    """Every paragraph is in one, but for the lines of marks between them."""
    breaks = {index for index, one in enumerate(prose.paragraphs) if is_scene_break(prose.text, one.span)}
    starts = _starts(prose, attributions, breaks)
    first = 0
    for index, paragraph in enumerate(prose.paragraphs):
        if index > first and (
            index in breaks or index in starts or paragraph.chapter != prose.paragraphs[first].chapter
        ):
            yield SceneParagraphs(prose.paragraphs[first].chapter, first, index)
            first = index
        if index in breaks:
            first = index + 1
    if first < len(prose.paragraphs):
        yield SceneParagraphs(prose.paragraphs[first].chapter, first, len(prose.paragraphs))


def _starts(prose: Prose, attributions: Sequence[Attribution], breaks: set[int]) -> set[int]:
    """The paragraphs from which on people have been silent for long, or other people speak.

    What is told after the last words before a chapter or a line of marks belongs to the scene that ends there.
    """
    people = [{one.speaker, *one.addressees} - {None} for one in attributions]
    starts: set[int] = set()
    last = -1  # the paragraph in which the quotation before ends
    for index, quotation in enumerate(prose.quotations):
        silence = quotation.span.start - prose.quotations[index - 1].span.end if index else 0
        if silence > LONG or (silence > SHORT and _company_changes(people, index)):
            between = range(last + 1, quotation.paragraph)
            same_chapter = prose.paragraphs[last].chapter == prose.paragraphs[quotation.paragraph].chapter
            if same_chapter and breaks.isdisjoint(between):
                starts.add(last + 1)
        last = quotation.paragraph
        while prose.paragraphs[last].span.end < quotation.span.end:
            last += 1
    return starts


def _company_changes(people: Sequence[set[str | None]], index: int) -> bool:
    """Fewer than two of those who talked before this quotation talk from it on."""
    before = set[str | None]().union(*people[max(index - COMPANY, 0) : index])
    after = set[str | None]().union(*people[index : index + COMPANY])
    return bool(before and after) and len(before & after) < 2
