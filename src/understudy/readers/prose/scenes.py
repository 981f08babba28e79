"""Conversations: which paragraphs are one scene, and which quotations stand in each.

A scene is a run of quotations without a long stretch of narration between them, at most a chapter. Narration belongs
to the scene that it leads into. A line of asterisks ends a scene.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from understudy.quotations.paragraphs import is_scene_break
from understudy.quotations.prose import Prose

__all__ = ["Conversation", "conversations"]

STRETCH = 2_000  # characters of narration that end a conversation


@dataclass(frozen=True, slots=True)
class Conversation:
    """Paragraphs `first` up to, not including, `last` of one chapter."""

    chapter: int
    first: int
    last: int


def conversations(prose: Prose) -> Iterator[Conversation]:
    """Every paragraph is in one, but for the lines of marks between them."""
    speaking: list[tuple[int, int] | None] = [None] * len(prose.paragraphs)  # first and last words said in each
    index = 0
    for quotation in prose.quotations:
        for part in quotation.parts:
            while prose.paragraphs[index].span.end < part.start:
                index += 1
            said = speaking[index]
            speaking[index] = (said[0] if said else part.start, part.end)
    first = 0
    heard: int | None = None  # where the last words of this scene end
    silent = 0  # the first paragraph since they were said
    for index, paragraph in enumerate(prose.paragraphs):
        if index > first and paragraph.chapter != prose.paragraphs[first].chapter:
            yield Conversation(prose.paragraphs[first].chapter, first, index)
            first, heard = index, None
        if is_scene_break(prose.text, paragraph.span):
            if index > first:
                yield Conversation(paragraph.chapter, first, index)
            first, heard = index + 1, None
            continue
        if (said := speaking[index]) is None:
            continue
        if heard is not None and said[0] - heard > STRETCH and silent > first:
            yield Conversation(paragraph.chapter, first, silent)
            first = silent
        heard, silent = said[1], index + 1
    if first < len(prose.paragraphs):
        yield Conversation(prose.paragraphs[first].chapter, first, len(prose.paragraphs))
