"""Prose: a text, and what stands where in it: rows, paragraphs, headings, quotations, and what frames it.

All spans are character offsets into the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

FULL_STOP = {",": ".", "，": "。"}
MARKS = " \n\t\"'“‘«»„‚「『‹›"


class Span(NamedTuple):
    """From a character of the text up to, not including, another."""

    start: int
    end: int


def trimmed(text: str, span: tuple[int, int], left: str = "", right: str = "") -> Span:
    """A span without the blanks at its ends, nor the marks that are named for its left and right one."""
    start, end = span
    while start < end and (text[start].isspace() or text[start] in left):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in right):
        end -= 1
    return Span(start, end)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A heading and its position, for example (2, 3) for volume 2, chapter 3; `span` is that of the heading."""

    span: Span
    numbers: tuple[int, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`line` is the source line on which it begins, counted from 1; `chapter` an index, -1 before the first."""

    span: Span
    line: int
    chapter: int


@dataclass(frozen=True, slots=True)
class Quotation:
    """Something that one person says in one go: its parts without their marks, in order.

    It has several parts where narration interrupts it ("Yes," he said, "come.") and where it goes on in the next
    paragraph. `paragraph` is the index of the one it begins in.
    """

    parts: tuple[Span, ...]
    paragraph: int

    @property
    def span(self) -> Span:
        return Span(self.parts[0].start, self.parts[-1].end)


@dataclass(frozen=True, slots=True)
class Paratext:
    """What stands in the file but is no part of the story, and why: a licence, a table of contents, a title page."""

    span: Span
    reason: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A text with its structure. `levels` are the names of a chapter's numbers: ('volume', 'chapter').

    Every line that is not blank is in one heading, one paragraph or one paratext. A text without headings has no
    levels and no chapters. A chapter that no heading announces has an empty span.
    """

    text: str
    language: str
    levels: tuple[str, ...]
    chapters: tuple[Chapter, ...]
    paragraphs: tuple[Paragraph, ...]
    quotations: tuple[Quotation, ...]
    title: str | None = None
    paratexts: tuple[Paratext, ...] = ()

    def said(self, quotation: Quotation) -> str:
        """The words of a quotation, its parts joined."""
        return joined(self.text, quotation.parts)


def joined(text: str, parts: Sequence[tuple[int, int]]) -> str:
    """The words of the parts of a quotation, on one line.

    A comma before `she said` stands for a full stop, where the narrator's sentence or all that is said ends there.
    """
    words = ""
    last = parts[0][0]
    for start, end in parts:
        if words.endswith(",") and text[max(last, start - 6) : start].rstrip(MARKS).endswith("."):
            words = words[:-1] + "."
        words = f"{words} {' '.join(text[start:end].split())}"
        last = end
    words = words.lstrip()
    return words[:-1] + FULL_STOP[words[-1]] if words[-1:] in FULL_STOP else words


@dataclass(frozen=True, slots=True)
class NovelCharacter:
    """Somebody in a novel. `gender` is 'm', 'f' or '' where usage does not tell."""

    name: str
    aliases: tuple[str, ...] = ()
    gender: str = ""
    is_narrator: bool = False


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who says a quotation, how surely (0 to 1), and to whom; `candidates` are speakers by probability, best first.

    No speaker: nobody could be proposed.
    """

    speaker: str | None
    confidence: float
    addressees: tuple[str, ...] = ()
    candidates: tuple[tuple[str, float], ...] = ()


# Rows of text, and the paragraphs that they make: parted by blank lines, by indents, or one a row.
#
# Which of the three a text uses is decided from the whole of it. Where a blank line is rare and rows end as sentences
# do, each row is a paragraph; where first rows are indented, the indent begins one; else the blank line does.

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


def span_of(rows: Block) -> Span:
    return Span(rows[0].start, rows[-1].end)


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


# What Project Gutenberg and its like put around a text: header, licence, producers, transcriber's notes, pictures.


FRAME = "Project Gutenberg's frame"
START = re.compile(
    r"\*\*\*\s*START OF (?:THE|THIS) PROJECT GUTENBERG|\*END[\s*]*THE SMALL PRINT|\*\*\*START\*\*\*", re.IGNORECASE
)
END = re.compile(
    r"\*\*\*\s*END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the |this )?Project Gutenberg(?:'s|’s|\b)", re.IGNORECASE
)
HEADER = re.compile(r"\W*(?:The )?Project Gutenberg(?:'s|’s)?\b|This eBook is for the use of anyone", re.IGNORECASE)
PRODUCED = re.compile(
    r"\W*(?:This e(?:text|book) was )?(?:Produced|Prepared|Transcribed|Scanned|E-?text prepared)\b.{0,40}\bby\b|"
    r"\W*HTML version by\b",
    re.IGNORECASE,
)
NOTE = re.compile(r"\W*Transcriber(?:'s|’s|s'|s’)? (?:Note|comment)|\W*Note du transcripteur", re.IGNORECASE)
PICTURE = re.compile(r"\[(?:Illustration|Frontispiece|Image|Cover)\b[^\]]*\]?", re.IGNORECASE)

NEAR_THE_TOP = 600  # lines among which a header stands that no START line ends
NEAR_THE_START = 40  # lines after the frame in which its producers are named


def without_frame(text: str, rows: Sequence[Row]) -> tuple[list[Row], list[Paratext]]:
    """The rows of the book itself, and what was around and between them."""
    first, last = 0, len(rows)
    for index, row in enumerate(rows):
        words = text[row.start : min(row.end, row.start + 120)]
        if index < NEAR_THE_TOP and START.match(words):
            first = index + 1
        elif END.match(words) and index > first:
            last = index
            break
    paratexts = [Paratext(span_of(rows[:first]), FRAME)] if first else []
    body: list[Row] = []
    for block in blocks_of(rows[first:last]):
        reason = _reason(text, block, near_start=len(body) < NEAR_THE_START)
        if reason is None:
            body.extend(block)
        else:
            paratexts.append(Paratext(span_of(block), reason))
    if last < len(rows):
        paratexts.append(Paratext(span_of(rows[last:]), FRAME))
    return body, paratexts


def _reason(text: str, block: Sequence[Row], near_start: bool) -> str | None:
    row = block[0]
    words = text[row.start : min(row.end, row.start + 200)]
    if PICTURE.match(words) and text[block[-1].end - 1] == "]":
        return "a picture"
    if near_start and NOTE.match(words):
        return "a transcriber's note"
    return FRAME if near_start and (HEADER.match(words) or PRODUCED.match(words)) else None
