"""Rows of text, and the paragraphs that they make: parted by blank lines, by indents, or one a row.

Which of the three a text uses is decided from the whole of it. Where a blank line is rare and rows end as sentences
do, each row is a paragraph; where first rows are indented, the indent begins one; else the blank line does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from understudy.novels.prose import Span

__all__ = ["Block", "Row", "blocks_of", "is_scene_break", "paragraphs_of", "rows_of"]

SENTENCE_END = frozenset(".!?…:;\"'”’»«“)]}。！？」』—–-*_")
SCENE_BREAK = re.compile(r"[\s*#~=_+.•·※◇◆○●☆★―—–-]{1,120}|[oO0](?:\s+[oO0]){2,}")
MARK = re.compile(r"[*#~•·※◇◆○●☆★]|([=_+.―—–-])\s*\1\s*\1")

ROWS_OF_SENTENCES = 0.6  # share of rows ending as a sentence from which on nothing is wrapped
INDENTED = (0.03, 0.6)  # share of rows that are first ones, where paragraphs are told by their indent
INDENTED_BLOCKS = 0.6
LONG_BLOCK = 12


class Row(NamedTuple):
    """A line of the source that is not blank, without the blanks around it; `gap` blank lines stand before it."""

    start: int
    end: int
    line: int
    indent: int
    gap: int


Block = Sequence[Row]
"""Rows with no blank line between them."""


def rows_of(text: str) -> list[Row]:
    rows: list[Row] = []
    position = gap = 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare:
            indent = len(line) - len(line.lstrip())
            rows.append(Row(position + indent, position + indent + len(bare), number, indent, gap))
            gap = 0
        else:
            gap += 1
        position += len(line) + 1
    return rows


def blocks_of(rows: Sequence[Row]) -> list[Block]:
    starts = [index for index, row in enumerate(rows) if row.gap or index == 0]
    return [rows[start:end] for start, end in zip(starts, [*starts[1:], len(rows)])]


def paragraphs_of(text: str, rows: Sequence[Row]) -> list[Block]:
    """The rows of each paragraph."""
    blocks = blocks_of(rows)
    inner = [row for block in blocks for row in block[:-1]]
    if not inner:
        return blocks
    complete = sum(text[row.end - 1] in SENTENCE_END for row in inner)
    if complete >= ROWS_OF_SENTENCES * len(inner):
        return [[row] for row in rows]
    long_blocks = [block for block in blocks if len(block) > 1]
    indented = sum(row.indent > 0 for row in rows) / len(rows)
    if INDENTED[0] < indented < INDENTED[1] and (
        len(rows) > LONG_BLOCK * len(blocks)
        or sum(block[0].indent > 0 for block in long_blocks) >= INDENTED_BLOCKS * len(long_blocks)
    ):
        starts = [index for index, row in enumerate(rows) if row.gap or row.indent or index == 0]
        return [rows[start:end] for start, end in zip(starts, [*starts[1:], len(rows)])]
    return blocks


def is_scene_break(text: str, span: Span) -> bool:
    """`* * *`, `---`, `#`: a paragraph of marks alone."""
    if span.end - span.start > 120:
        return False
    words = text[span.start : span.end]
    return SCENE_BREAK.fullmatch(words) is not None and (MARK.search(words) is not None or words[0] in "oO0")
