"""How many words somebody wrote, in whichever language."""

from __future__ import annotations

from understudy.errors import MissingExtra
from understudy.text import guess_language, words

__all__ = ["count_words"]

LETTERS_PER_WORD = 2  # of Japanese and Chinese, about, where their tokenizer is not installed


def count_words(text: str) -> int:
    """Words between blanks; of Japanese and Chinese those of the tokenizer."""
    language = guess_language(text) if text.strip() else "en"
    if language == "en":
        return len(text.split())
    try:
        return len(words(text, language))
    except MissingExtra:
        return -(-sum(not letter.isspace() for letter in text) // LETTERS_PER_WORD)
