"""One way of counting for the files of a novel, where only some have the heading of a volume or a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from understudy.quotations.prose import Prose

__all__ = ["align_levels"]


def align_levels(parts: Sequence[Prose]) -> list[Prose]:
    """Chapters of files that count by fewer levels are in the volume that the file before ends in.

    Files whose levels are not the inner ones of the others', or that have no headings, are left as they are.
    """
    levels = max((part.levels for part in parts), key=len, default=())
    counted = [part for part in parts if part.levels and levels[-len(part.levels) :] == part.levels]
    if len(counted) < len(parts):
        return list(parts)
    position = _before(next((part for part in parts if part.levels == levels), parts[0]))
    aligned = []
    for part in parts:
        above = position[: len(levels) - len(part.levels)]
        chapters = tuple(replace(chapter, numbers=(*above, *chapter.numbers)) for chapter in part.chapters)
        aligned.append(replace(part, levels=levels, chapters=chapters))
        position = chapters[-1].numbers if chapters else position
    return aligned


def _before(part: Prose) -> tuple[int, ...]:
    """The position of what stands before a text that has all levels: the volume before its first one."""
    numbers = part.chapters[0].numbers if part.chapters else ()
    missing = len(part.levels) - len(numbers)
    return (*numbers[:-1], max(numbers[-1] - 1, 0), *[1] * missing) if missing and numbers else numbers
