"""How well the quotations found in a text agree with annotated ones.

Compared are stretches: what stands between one pair of marks. An annotation that leaves out a quotation within a
quotation, or the narrator's brackets in it, has several parts there; they are one stretch. Marks, blanks and
punctuation at the ends do not count.

    overlap(a, b) = |a and b| / |a or b|                          in characters
    recall        = share of the annotated stretches for which one of ours has an overlap of 1/2 or more
    precision     = share of ours for which an annotated one has
    exact_recall, exact_precision                                 the same, with an overlap of 1
    joined        = share of neighbouring stretches, found exactly, that are one quotation in both or in neither
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from understudy.quotations.prose import Prose, Quotation, Span

__all__ = ["QuotationFigures", "quotation_figures"]

MARKS = frozenset('"“”«»„「」『』')
ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class QuotationFigures:
    """Shares 0..1, None where there is nothing to count; `found` and `annotated` are numbers of stretches."""

    precision: float | None
    recall: float | None
    exact_precision: float | None
    exact_recall: float | None
    joined: float | None
    found: int
    annotated: int


def quotation_figures(found: Prose, annotated: Prose) -> QuotationFigures:
    """Compare two analyses of the same text."""
    ours = _stretches(found)
    theirs = _stretches(annotated)
    common = sorted(ours.keys() & theirs.keys())
    agreeing = sum((ours[a] == ours[b]) == (theirs[a] == theirs[b]) for a, b in pairwise(common))
    return QuotationFigures(
        _share(_matched(sorted(ours), sorted(theirs)), len(ours)),
        _share(_matched(sorted(theirs), sorted(ours)), len(theirs)),
        _share(len(common), len(ours)),
        _share(len(common), len(theirs)),
        _share(agreeing, len(common) - 1),
        len(ours),
        len(theirs),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None


def _stretches(prose: Prose) -> dict[Span, int]:
    """Each stretch -> the index of its quotation."""
    return {
        stretch: index
        for index, quotation in enumerate(prose.quotations)
        for span in _united(prose.text, quotation)
        if (stretch := _trimmed(prose.text, span)).start < stretch.end
    }


def _united(text: str, quotation: Quotation) -> list[Span]:
    spans: list[Span] = []
    for part in sorted(quotation.parts):
        if (
            spans
            and MARKS.isdisjoint(text[spans[-1].end : part.start])
            and "\n\n" not in text[spans[-1].end : part.start]
        ):
            spans[-1] = Span(spans[-1].start, part.end)
        else:
            spans.append(part)
    return spans


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return Span(start, end)


def _matched(spans: Sequence[Span], others: Sequence[Span]) -> int:
    """How many of `spans` have one of `others` that overlaps enough; both are in order."""
    starts = [other.start for other in others]
    matched = 0
    for span in spans:
        index = max(bisect_right(starts, span.start) - 1, 0)
        while index < len(others) and others[index].start < span.end:
            if _overlap(span, others[index]) >= ENOUGH:
                matched += 1
                break
            index += 1
    return matched


def _overlap(a: Span, b: Span) -> float:
    shared = min(a.end, b.end) - max(a.start, b.start)
    return max(shared, 0) / (max(a.end, b.end) - min(a.start, b.start))
