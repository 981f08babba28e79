"""English words that tell who speaks: what `lexicons/en.toml` has of verbs of speech, nouns for people and titles.

Tags are read in English only; names are found by the lexicon of each language (`lexicon`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.novels.lexicon import english_table
from understudy.novels.prose import Prose

__all__ = [
    "ADVERBS",
    "CLAUSE_LINKS",
    "DETERMINERS",
    "NARRATION",
    "NOT_NOUNS",
    "NOUN_GENDERS",
    "NO_NAMES",
    "OFFICES",
    "OPENING_VERBS",
    "PERSON_NOUNS",
    "PREPOSITIONS",
    "PRONOUNS",
    "SPEECH_INFINITIVES",
    "SPEECH_NOUNS",
    "SPEECH_VERBS",
    "SUBORDINATORS",
    "SURE_VERBS",
    "ProseWords",
]

_TABLE = english_table()
_TAGS: dict[str, str] = _TABLE["tags"]
_EPITHETS: dict[str, str] = _TABLE["epithets"]


def _words(*lists: str) -> frozenset[str]:
    return frozenset(word.lower() for words in lists for word in words.split())


SPEECH_VERBS = _words(_TABLE["verbs"]["speech"], _TAGS["speech"])
SURE_VERBS = _words(_TAGS["sure"])
OPENING_VERBS = _words(_TAGS["opening"])
SPEECH_INFINITIVES = _words(_TAGS["infinitives"])
SPEECH_NOUNS = _words(_TAGS["nouns"])
ADVERBS = _words(_TAGS["adverbs"])
CLAUSE_LINKS = _words(_TAGS["links"])
SUBORDINATORS = _words(_TAGS["subordinators"])
PREPOSITIONS = _words(_TAGS["prepositions"])
DETERMINERS = _words(_TAGS["determiners"])
NOT_NOUNS = _words(_TAGS["noun_ends"])
OFFICES = _words(_TAGS["offices"])
NO_NAMES = _words(
    _TAGS["no_names"],
    _TAGS["offices"],
    *(_TABLE["title_kinds"][kind] for kind in ("civil", "maiden", "married", "kin")),
)
NOUN_GENDERS = {word: gender for gender in "mf" for word in _words(_EPITHETS[gender], _TAGS[gender])}
"""The gender of 'waiter', 'niece'."""
PERSON_NOUNS = NOUN_GENDERS.keys() | _words(_TAGS["people"])
PRONOUNS = {word: gender for gender, words in _TABLE["pronouns"].items() for word in words.split()}


# The words of prose with their offsets, and which of them are narration, which are said.

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
