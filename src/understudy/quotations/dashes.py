"""Speech that a dash begins: `— Tu viens ? dit-il.`, `—Ven —dijo él—. Vamos.`, `— Иди, — сказал он. — Сейчас.`

The dash ends with the paragraph. Who speaks stands between further dashes, or, in French and in English, after a comma
with its verb.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from understudy.quotations.prose import Span

__all__ = ["DASHES", "dash_parts"]

DASHES = "—–―-"
LEADING = re.compile(rf"[{DASHES}]+\s*")
DASH = re.compile(r"[—–―]|(?<=\s)--?(?=\s)|--")
FRENCH = (
    "dit|fit|répondit|répliqua|demanda|reprit|cria|s'écria|ajouta|murmura|dis|répondis|demandai|interrompit|continua|"
    "poursuivit|observa|pensa|soupira|balbutia|déclara|affirma|expliqua|remarqua|souffla|lança|hurla|dirent|firent"
)
TAG = re.compile(
    rf"(?<=[,?!.…»])\s+(?:(?:{FRENCH})(?:-(?:t-)?(?:il|elle|ils|elles|on|je|moi)\b|\s+(?:[A-ZÀ-Ý]|l[ea']|un|mon|ma|son|sa))"
    r"|(?:[Hh]e|[Ss]he|I|they|[A-Z]\w+) (?:said|asked|cried|answered|replied|whispered|called|shouted)\b"
    r"|(?:said|asked|cried|answered|replied|whispered) (?:he|she|I|they|the|[A-Z]))"
)
TAG_END = re.compile(r"[.,;:!?…]")


def dash_parts(text: str, paragraph: Span) -> list[Span]:
    """What is said in a paragraph that begins with a dash."""
    leading = LEADING.match(text, paragraph.start, paragraph.end)
    position = leading.end() if leading else paragraph.start
    tag_dashes = deque(_tag_dashes(text, position, paragraph.end))
    parts: list[Span] = []
    while position < paragraph.end:
        while tag_dashes and tag_dashes[0] < position:
            tag_dashes.popleft()
        until = tag_dashes[0] if tag_dashes else paragraph.end
        verb = TAG.search(text, position, until)
        parts.append(Span(position, verb.start() if verb is not None else until))
        if verb is not None:
            close = TAG_END.search(text, verb.end(), paragraph.end)
            if close is None:
                break
            position = close.end() if close[0] == "," else _resumed(text, close.end(), paragraph.end)
        elif tag_dashes:
            position = _resumed(text, until + 1, paragraph.end)
            while position < paragraph.end and text[position] in " .,;:":
                position += 1
        else:
            break
    stripped = [_stripped(text, part) for part in parts]
    return [part for part in stripped if part.start < part.end]


def _tag_dashes(text: str, start: int, end: int) -> Iterator[int]:
    """Dashes that may begin who speaks: after a blank, before a small letter, and close to it or after a stop."""
    for dash in DASH.finditer(text, start, end):
        first, last = dash.span()
        if last == end or not text[first - 1].isspace() or not text[last : last + 2].lstrip()[:1].islower():
            continue
        if not text[last].isspace() or text[max(start, first - 3) : first].rstrip().endswith(tuple(",.!?…")):
            yield first


def _resumed(text: str, start: int, end: int) -> int:
    """After a tag that no comma ends, speech goes on only after another dash."""
    dash = DASH.search(text, start, end)
    return dash.end() if dash is not None else end


def _stripped(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while start < end and (
        text[end - 1].isspace() or (text[end - 1] in DASHES and end - start > 1 and text[end - 2].isspace())
    ):
        end -= 1
    return Span(start, end)
