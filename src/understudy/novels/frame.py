"""What Project Gutenberg and its like put around a text: header, licence, producers, transcriber's notes, pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.novels.paragraphs import Row, blocks_of
from understudy.novels.prose import Paratext, Span

__all__ = ["without_frame"]

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
    paratexts = [Paratext(_span(rows[:first]), FRAME)] if first else []
    body: list[Row] = []
    for block in blocks_of(rows[first:last]):
        reason = _reason(text, block, near_start=len(body) < NEAR_THE_START)
        if reason is None:
            body.extend(block)
        else:
            paratexts.append(Paratext(_span(block), reason))
    if last < len(rows):
        paratexts.append(Paratext(_span(rows[last:]), FRAME))
    return body, paratexts


def _reason(text: str, block: Sequence[Row], near_start: bool) -> str | None:
    row = block[0]
    words = text[row.start : min(row.end, row.start + 200)]
    if PICTURE.match(words) and text[block[-1].end - 1] == "]":
        return "a picture"
    if near_start and NOTE.match(words):
        return "a transcriber's note"
    return FRAME if near_start and (HEADER.match(words) or PRODUCED.match(words)) else None


def _span(rows: Sequence[Row]) -> Span:
    return Span(rows[0].start, rows[-1].end)
