"""Letters, notes, verses and inscriptions that a text quotes: in marks, but said by nobody.

They are set off by an indent that the text does not have otherwise, or go from a salutation that has its own line
("Dear Charlotte,") to a close ("Yours ever,") and the name below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.quotations.prose import Paragraph, Span

__all__ = ["written"]

SALUTATION = re.compile(
    r"[\"'“‘«„「_\s]*(?:my |our )?(?:own )?(?:very )?(?:dear(?:est)?|honou?red|reverend|dear) [^\"”]{1,40}[,:.—-]*"
    r"[\"'”’_\s]*(?:\[[^\]]{1,30}\][,.]?)?|[\"“](?:dear )?(?:sir|madam)[,:.—-]*[\"”]?",
    re.IGNORECASE,
)
CLOSE = re.compile(
    r"(?:(?i:\byours\b[^.!?]{0,30}"
    r"|\byour (?:\w+ ){1,3}(?:friend|servant|brother|sister|son|daughter|mother|father|cousin|aunt|uncle|wife|husband)"
    r"|\bbelieve me|\bsincerely|\bfaithfully|\baffectionately)|&c|[\"“_][A-Z. ]{4,30})"
    r"[,.]*[\"”_\s]*$"
)
OPENING = frozenset("\"'“‘«„「『_")
INDENT = 2
USUAL = 0.25  # share of indented paragraphs from which on an indent says nothing
LONGEST = 80
MOST = 30  # paragraphs of a letter


def written(text: str, paragraphs: Sequence[Paragraph]) -> set[int]:
    """The indexes of the paragraphs that are written, not said."""
    set_off = {index for index, paragraph in enumerate(paragraphs) if _is_set_off(text, paragraph.span)}
    if len(set_off) >= USUAL * len(paragraphs):
        set_off = set()
    begun: int | None = None
    for index, paragraph in enumerate(paragraphs):
        start, end = paragraph.span
        if text[start] not in OPENING or (begun is not None and index - begun > MOST):
            begun = None
        elif end - start <= LONGEST and SALUTATION.fullmatch(text, start, end):
            begun = index
        elif begun is not None and CLOSE.search(text, max(start, end - LONGEST), end):
            set_off.update(range(begun, index + 1))
            begun = None
            if index + 1 < len(paragraphs) and _is_signature(text, paragraphs[index + 1].span):
                set_off.add(index + 1)
    return set_off


def _is_signature(text: str, span: Span) -> bool:
    """The name below a letter, in its marks: "MARY KING"."""
    return span.end - span.start <= LONGEST and text[span.start] in OPENING and CLOSE.search(text, *span) is not None


def _is_set_off(text: str, span: Span) -> bool:
    """All its lines are indented."""
    first = span.start - text.rfind("\n", 0, span.start) - 1
    if first < INDENT:
        return False
    blank = " " * INDENT
    return all(line.startswith((blank, "\t")) for line in text[span.start : span.end].split("\n")[1:])
