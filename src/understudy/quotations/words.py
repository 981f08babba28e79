"""The words of prose with their offsets, and which of them are narration, which are said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.quotations.prose import Prose

__all__ = ["NARRATION", "ProseWords"]

WORD = re.compile(r"[^\W\d_]+")
CLAUSE_END = re.compile(r"[.!?:;\"“”—]|--|\n\s*\n")
SENTENCE_END = re.compile(r"[.!?\"“”]|\n\s*\n")
ABBREVIATED = frozenset("mr mrs ms dr st m mme mlle messrs rev hon esq prof capt col gen lt sgt".split())
NARRATION = -1

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Spoken:
    starts: Ints
    ends: Ints
    quotations: Ints


@dataclass(frozen=True)
class ProseWords:
    """Words of a text in order; all arrays have an entry for each word."""

    prose: Prose
    texts: list[str]
    starts: Ints

    @classmethod
    def of(cls, prose: Prose) -> ProseWords:
        matches = [(match.group(), match.start()) for match in WORD.finditer(prose.text)]
        texts = [text for text, _ in matches]
        return cls(prose, texts, np.fromiter((start for _, start in matches), np.int64, len(matches)))

    @cached_property
    def lowered(self) -> list[str]:
        return [text.lower() for text in self.texts]

    @cached_property
    def ends(self) -> Ints:
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        return self.starts + lengths

    @cached_property
    def quotations(self) -> Ints:
        """The quotation that each word is in, or NARRATION."""
        parts = sorted((part.start, part.end, index) for index, quotation in enumerate(self.prose.quotations)
                       for part in quotation.parts)  # fmt: skip
        result = np.full(len(self.texts), NARRATION, np.int64)
        for start, end, index in parts:
            first, last = np.searchsorted(self.starts, (start, end))
            result[first:last] = index
        return result

    @cached_property
    def paragraphs(self) -> Ints:
        """The paragraph that each word is in."""
        starts = np.array([paragraph.span.start for paragraph in self.prose.paragraphs], np.int64)
        return np.maximum(np.searchsorted(starts, self.starts, side="right") - 1, 0)

    @cached_property
    def begins_clause(self) -> NDArray[np.bool_]:
        """Whether a word comes after a full stop, colon, semicolon, dash or quotation mark."""
        return self._after(CLAUSE_END)

    @cached_property
    def begins_sentence(self) -> NDArray[np.bool_]:
        """Whether a word comes after a full stop, question mark, exclamation mark or quotation mark."""
        return self._after(SENTENCE_END)

    def _after(self, ends: re.Pattern[str]) -> NDArray[np.bool_]:
        result = np.zeros(len(self.texts), np.bool_)
        stops = np.fromiter((match.start() for match in ends.finditer(self.prose.text)), np.int64)
        result[:1] = True
        after = np.searchsorted(self.starts, stops)
        after = after[after < len(self.texts)]
        lowered = self.lowered
        for index in np.unique(after).tolist():
            is_short = index and lowered[index - 1] in ABBREVIATED
            gap = self.prose.text[int(self.ends[index - 1]) : int(self.starts[index])] if index else ""
            if not (is_short and gap.strip() == "."):
                result[index] = True
        return result

    def between(self, start: int, end: int) -> range:
        """Indices of the words that begin between two offsets."""
        first, last = np.searchsorted(self.starts, (start, end))
        return range(int(first), int(last))
