"""Which words are ordinary English, told from the vocabulary of the encoder that ships.

Its 30,522 pieces were learnt from books and an encyclopedia: a word that is at all common is one piece, a rarer one is
cut into several. No list of frequencies is needed beside it: docs/decisions/0015 has the comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache

from understudy.language.encoding import shipped_model
from understudy.language.encoding.encoder import load_tokenizer
from understudy.novels.lexicon import lexicon_of

__all__ = ["is_ordinary", "is_title", "piece_counts"]

ENDINGS = ("'s", "s", "es", "ed", "d", "ing", "ly", "er", "est", "ness", "less", "ful")
SHORTEST_STEM = 3
PART = re.compile(r"[^\W_]+")


@lru_cache(20_000)
def is_ordinary(word: str) -> bool:
    """Is it one piece, or without an ending of English; of a compound, are its parts?"""
    folded = word.lower().replace("’", "'")
    return any(count == 1 for count in piece_counts(tuple(_forms(folded)))) or _is_of_ordinary_parts(folded)


@lru_cache(20_000)
def piece_counts(words: tuple[str, ...]) -> tuple[int, ...]:
    """Into how many pieces each word is cut."""
    return tuple(len(ids) for ids in _tokenizer()(words)) if words else ()


def is_title(word: str) -> bool:
    """Is it what many people are called: 'Captain', 'queen', 'Aunt'?"""
    return word.lower() in _titles()


def _forms(word: str) -> Iterator[str]:
    yield word
    for ending in ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= SHORTEST_STEM:
            yield stem
            yield f"{stem}e"
            if stem[-1] == stem[-2]:
                yield stem[:-1]
            if stem.endswith("i"):
                yield f"{stem[:-1]}y"


def _is_of_ordinary_parts(word: str) -> bool:
    parts = PART.findall(word)
    return len(parts) > 1 and all(count == 1 for count in piece_counts(tuple(parts)))


@cache
def _titles() -> frozenset[str]:
    lexicon = lexicon_of("", "en")
    return frozenset(title.lower() for title in lexicon.titles) | frozenset(lexicon.role_genders) | lexicon.anybody


@cache
def _tokenizer() -> Callable[[Sequence[str]], list[list[int]]]:
    return load_tokenizer(shipped_model() / "tokenizer.json")
