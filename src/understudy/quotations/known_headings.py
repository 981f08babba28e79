"""Headings that are known beforehand, as an EPUB or a Word document marks them: each is a division.

Its words say of which kind and number; one without a number is counted. Where several have numbers, those without are
title pages, dedications and notes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from understudy.quotations.chapters import NumberedHeading, divisions_of
from understudy.quotations.paragraphs import Block, Row
from understudy.quotations.prose import Span

__all__ = ["known_divisions"]


def known_divisions(
    text: str, blocks: Sequence[Block], headings: Sequence[Span]
) -> tuple[list[Block], list[NumberedHeading]]:
    """(the blocks, parted so that each heading is one; its divisions)."""
    starts = sorted(span.start for span in headings)
    ends = dict(headings)

    def heading_of(position: int) -> int | None:
        index = bisect_right(starts, position) - 1
        return starts[index] if index >= 0 and position < ends[starts[index]] else None

    parted: list[list[Row]] = []
    last: int | None = None
    for block in blocks:
        for index, row in enumerate(block):
            heading = heading_of(row.start)
            goes_on = heading == last and (heading is not None or index > 0)
            if goes_on and parted:
                parted[-1].append(row)
            else:
                parted.append([row])
            last = heading
    heads = [index for index, block in enumerate(parted) if heading_of(block[0].start) is not None]
    are_heads = set(heads)
    named = {division.block: division for division in divisions_of(text, parted) if division.block in are_heads}
    titles = {division.block + 1 for division in named.values() if division.title_blocks}
    divisions = [
        named.get(index) or NumberedHeading("chapter", None, _words(text, parted[index]), index, len(parted[index]))
        for index in heads
        if index not in titles
    ]
    if sum(division.number is not None for division in divisions) > 1:
        divisions = [division for division in divisions if division.block in named]
    return list(parted), divisions


def _words(text: str, block: Block) -> str:
    return " ".join(" ".join(text[row.start : row.end].split()) for row in block)
