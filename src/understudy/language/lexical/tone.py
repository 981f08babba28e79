"""How warm or cold a line is, by its words.

    tone(u) = (warm - cold) / (warm + cold + 1)              of its warm and cold words, -1..1

A word after a negation counts for the other side ('not glad'). Words come from a list, so irony and warmth without
such words are missed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from understudy.errors import InputError
from understudy.text import either, word_table

NEAR = 2  # words before a term in which a negation turns it
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Tone:
    """-1 is cold, 1 is warm; and the words that say so."""

    value: float
    warm: tuple[str, ...] = ()
    cold: tuple[str, ...] = ()


def tone_of(line: str, language: str = "en") -> Tone:
    """How warm or cold a line is."""
    warm, cold, negations = _lexicon(language)
    text = " ".join(line.lower().replace("’", "'").split())
    terms: dict[bool, list[str]] = {True: [], False: []}
    for is_warm, pattern in ((True, warm), (False, cold)):
        for match in pattern.finditer(text):
            negated = bool(negations) and _negated(text[: match.start()], negations)
            terms[is_warm != negated].append(f"not {match[0]}" if negated else match[0])
    friendly, hostile = len(terms[True]), len(terms[False])
    return Tone((friendly - hostile) / (friendly + hostile + 1), tuple(terms[True]), tuple(terms[False]))


def _negated(before: str, negations: frozenset[str]) -> bool:
    near = WORD.findall(before.replace("n't", " nt"))[-NEAR:]
    return any(word in negations for word in near)


@cache
def _lexicon(language: str) -> tuple[re.Pattern[str], re.Pattern[str], frozenset[str]]:
    lexicons = word_table("language", "lexical", "tone.toml")
    if language not in lexicons:
        raise InputError(f"there are no warm and cold words for '{language}': choose from {', '.join(lexicons)}")
    lists = lexicons[language]
    negations = frozenset(word.strip().replace("'", "") for word in lists["turned"].split(",") if word.strip())
    return _pattern(lists["warm"], language), _pattern(lists["cold"], language), negations


def _pattern(listed: str, language: str) -> re.Pattern[str]:
    """The longest phrase at a place counts, and whole words only where words are written apart."""
    joined = either({" ".join(phrase.split()) for phrase in listed.split(",") if phrase.strip()})
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)" if language == "en" else joined)
