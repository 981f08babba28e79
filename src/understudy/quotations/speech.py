"""What between quotation marks is said aloud: not a title, a word held at arm's length, or a thought.

A quotation that is a sentence of its own is speech. One that is part of the narration's sentence ("the so-called
'friend' of his") is speech only if a verb of speaking leads into it or it goes on with one before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.quotations.marks import Marked
from understudy.quotations.prose import Span

__all__ = ["spoken"]

SENTENCE_END = frozenset(".!?…—–-。！？")
LOOK = 60
OPENING = "\"'“‘«»„‚「『‹› \n\t_*"
CLOSING = "\"'”’“‘»«」』›‹"

THOUGHT = re.compile(
    r"[\s,—-]*(?:(?:he|she|I|they|[A-Z][\w.]+(?: [A-Z]\w+)?)\s+)?(?:thought|mused|reflected|wondered)\b"
    r"(?! (?:aloud|out loud))"
)


def spoken(text: str, paragraph: Span, parts: Sequence[Marked]) -> list[Marked]:
    """The parts of a paragraph that somebody says."""
    kept: list[Marked] = []
    thinking = False
    for index, part in enumerate(parts):
        following = parts[index + 1].span.start if index + 1 < len(parts) else paragraph.end
        after = text[part.span.end : min(following, part.span.end + LOOK)]
        previous = parts[index - 1].span.end if index else paragraph.start
        before = text[max(previous, part.span.start - LOOK) : part.span.start]
        thinking = THOUGHT.match(after.lstrip(CLOSING)) is not None or (thinking and _goes_on(before))
        if not thinking and _is_utterance(text, part, before, after, bool(kept)):
            kept.append(part)
    return kept


def _goes_on(before: str) -> bool:
    return before.rstrip(OPENING).endswith((",", ";", ".", ":", "-", "—"))


def _is_utterance(text: str, part: Marked, before: str, after: str, has_spoken: bool) -> bool:
    if part.is_open or part.is_tail:
        return True
    words = text[part.span.start : part.span.end].strip(" \n_*")
    if not words:
        return False
    lead = before.rstrip(OPENING)
    tail = after.lstrip(CLOSING)
    if not lead:
        return True
    ends = words[-1] in SENTENCE_END or words[-1] in ",;:"
    opens = words[0].isupper() or not words[0].isalpha()
    if not ends and tail[:1] not in ("", "\n", " ") and not tail[:1].isspace():
        ends = tail[0] in "-—–"
    if lead[-1] in ",:;-—–" and (has_spoken or opens):
        return True
    if lead[-1] in ".!?…" and opens:
        return ends
    return False
