"""What a paragraph tells around what is said in it, without the marks and without a bare `she said`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.quotations.prose import Span

__all__ = ["narrated"]

BLANKS = " \t\n\u3000\xa0"
OPENING = BLANKS + "\"'“‘«»„‚「『‹›_"
CLOSING = BLANKS + "\"'”’“‘»«」』›‹_,;—–-"
WORD = re.compile(r"[^\W\d_]+")
MORE_VERBS = frozenset(
    "put dijo preguntó respondió contestó disse chiese rispose сказал сказала спросил спросила".split()
)
"""Of languages without a lexicon."""
UNSPACED_VERB = re.compile(r"[说說問问道言答聞]")
TAG_WORDS = 5
TAG_LETTERS = 12  # of a script without blanks between words


def narrated(text: str, whole: Span, parts: Sequence[Span], verbs: frozenset[str]) -> list[Span]:
    """The narration in a stretch of text around these parts of speech; `verbs` are those of speaking.

    A part may be empty, at an edge of the stretch.
    """
    edges = [whole.start, *(edge for part in parts for edge in part), whole.end]
    pieces: list[Span] = []
    for index, (start, end) in enumerate(zip(edges[::2], edges[1::2])):
        piece = _trimmed(text, start, end, index > 0, index < len(parts))
        if piece.start < piece.end and not (parts and _is_bare(text, piece, verbs)):
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


def _is_bare(text: str, piece: Span, verbs: frozenset[str]) -> bool:
    """Only who speaks, or no word at all. After a comma more is told."""
    words = text[piece.start : piece.end]
    if len(words) > 200:
        return False
    if not any(letter.isalnum() for letter in words):
        return True
    if any(mark in words.rstrip(",;:") for mark in ",;"):
        return False
    if not words.isascii() and " " not in words:
        return len(words) <= TAG_LETTERS and UNSPACED_VERB.search(words) is not None
    listed = WORD.findall(words.casefold())
    return len(listed) <= TAG_WORDS and any(word in verbs or word in MORE_VERBS for word in listed)
