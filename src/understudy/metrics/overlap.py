"""How many words two texts have in common."""

from __future__ import annotations

from collections import Counter

from understudy.text import words

__all__ = ["unigram_f1"]


def unigram_f1(said: str, meant: str, language: str = "en") -> float:
    """F1 = 2 * shared / (|said| + |meant|), over words, a word counting as often as both have it; 0 without words."""
    ours, theirs = Counter(words(said, language)), Counter(words(meant, language))
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 0.0
