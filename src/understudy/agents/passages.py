"""Lines of a story as a prompt shows them: without directions, shortened to what matters, chosen for their voice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from understudy.agents.dialogue_context import light_words
from understudy.text import sentences, words

__all__ = ["bearing_part", "plain_line", "spread_lines", "terms", "word_overlap"]

DIRECTION = re.compile(r"[\[(（][^\])）]*[\])）]")
ENDING = re.compile(r"(?:ing|ed|es|s|er)$")
LETTERS = re.compile(r"[^\W_]+")
VOICE_WORDS = (5, 20)  # of a line that shows how somebody talks


@lru_cache(1 << 14)
def terms(text: str, language: str) -> frozenset[str]:
    """Words of meaning without their endings; of Japanese and Chinese, pairs of neighbouring characters."""
    if language == "en":
        light = light_words(language)
        return frozenset(_stem(word) for word in words(text, language) if word not in light)
    runs = LETTERS.findall(text)
    return frozenset(run[index : index + 2] for run in runs for index in range(max(len(run) - 1, 1)))


def word_overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """The cosine of two sets of terms."""
    return len(first & second) / (len(first) * len(second)) ** 0.5 if first and second else 0.0


def plain_line(text: str) -> str:
    """A line as it is said: without directions in brackets."""
    return " ".join(DIRECTION.sub(" ", text).split())


def bearing_part(text: str, query_terms: frozenset[str], most: int, language: str) -> str:
    """Of a text longer than `most` words, the run of sentences that bears most on what is asked."""
    if _length(text, language) <= most:
        return text
    parts = sentences(text) or [text]
    best = max(range(len(parts)), key=lambda index: (word_overlap(query_terms, terms(parts[index], language)), -index))
    first = last = best
    size = _length(parts[best], language)
    while True:
        after = _length(parts[last + 1], language) if last + 1 < len(parts) else most
        before = _length(parts[first - 1], language) if first else most
        if size + after <= most:
            last, size = last + 1, size + after
        elif size + before <= most:
            first, size = first - 1, size + before
        else:
            break
    shown = ("" if language != "en" else " ").join(parts[first : last + 1])
    if size <= most + 10:
        return shown
    return " ".join(shown.split()[: most + 10]) if language == "en" else shown[: 2 * (most + 10)]


def spread_lines(lines: Sequence[str], count: int, language: str) -> tuple[str, ...]:
    """Lines of middle length, spread over all: the same for every message."""
    low, high = VOICE_WORDS
    fit = [line for line in dict.fromkeys(lines) if low <= _length(line, language) <= high]
    if len(fit) <= count:
        return tuple(fit)
    step = len(fit) / count
    return tuple(fit[int((index + 0.5) * step)] for index in range(count))


def _length(text: str, language: str) -> float:
    """Words; of Japanese and Chinese, a word for every two characters."""
    return len(text.split()) if language == "en" else len(text) / 2


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    return ENDING.sub("", word) if len(word) > 4 else word
