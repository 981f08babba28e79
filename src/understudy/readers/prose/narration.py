"""What a paragraph tells around what is said in it, without the marks and without a bare `she said`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.quotations.prose import Prose, Quotation, Span

__all__ = ["narrated", "narrated_text", "spoken_text", "unspoken_text"]

BLANKS = " \t\n\u3000\xa0"
OPENING = BLANKS + "\"'“‘«»„‚「『‹›_"
CLOSING = BLANKS + "\"'”’“‘»«」』›‹_,;—–-"
SPEECH_VERB = re.compile(
    r"\b(?:said|says|say|asked|ask|asks|replied|replies|answered|answers|cried|cries|exclaimed|returned|continued|added|"
    r"repeated|whispered|murmured|muttered|observed|remarked|inquired|enquired|demanded|shouted|called|began|went on|"
    r"responded|interrupted|interposed|rejoined|retorted|resumed|growled|gasped|laughed|sighed|thought|put in|"
    r"dit|répondit|demanda|fit|reprit|sagte|fragte|rief|antwortete|dijo|preguntó|respondió|сказал|сказала|спросил|спросила)\b|[说問问道言答]"
)
EMPHASIS = re.compile(r"(?<!\w)_([^_]{1,300})_(?!\w)")
TAG_WORDS = 5
TAG_LETTERS = 8  # of a script without blanks between words


def narrated(text: str, whole: Span, parts: Sequence[Span]) -> list[Span]:
    """The narration in a stretch of text around these parts of speech. A part may be empty, at an edge of it."""
    edges = [whole.start, *(edge for part in parts for edge in part), whole.end]
    pieces: list[Span] = []
    for index, (start, end) in enumerate(zip(edges[::2], edges[1::2])):
        piece = _trimmed(text, start, end, index > 0, index < len(parts))
        if piece.start < piece.end and not (parts and _is_bare(text, piece)):
            pieces.append(piece)
    return pieces


def _trimmed(text: str, start: int, end: int, after_speech: bool, before_speech: bool) -> Span:
    left = CLOSING if after_speech else BLANKS
    right = OPENING if before_speech else BLANKS
    while start < end and text[start] in left:
        start += 1
    while start < end and text[end - 1] in right:
        end -= 1
    return Span(start, end)


def _is_bare(text: str, piece: Span) -> bool:
    """Only who speaks, or no word at all. After a comma more is told."""
    words = text[piece.start : piece.end]
    if len(words) > 200:
        return False
    if not any(letter.isalnum() for letter in words):
        return True
    if any(mark in words.rstrip(",;:") for mark in ",;"):
        return False
    is_short = len(words.split()) <= TAG_WORDS if words.isascii() or " " in words else len(words) <= TAG_LETTERS
    return is_short and SPEECH_VERB.search(words) is not None


def spoken_text(prose: Prose, quotation: Quotation) -> str:
    """What is said, as a line has it."""
    return _plain(prose.said(quotation))


def unspoken_text(prose: Prose, quotation: Quotation) -> str:
    """What stands in marks but is nobody's line, as a description has it."""
    return f"“{spoken_text(prose, quotation)}”"


def narrated_text(prose: Prose, spans: Sequence[Span]) -> str:
    """What is told, as a description has it."""
    return _plain(" ".join(" ".join(prose.text[start:end].split()) for start, end in spans))


def _plain(text: str) -> str:
    """Without the underscores that stand for italics in plain text."""
    return EMPHASIS.sub(r"\1", text)
