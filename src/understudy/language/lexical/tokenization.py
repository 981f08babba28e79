"""Many texts split into words at once: the same words as `understudy.text` gives, more than twice as fast for English.

Tokenizing one text a call takes longer for a million lines than all that is done with the words. English words are
found by one pattern in many texts joined, and numbered all at once.

Punctuation marks can be tokens among the words: they tell who breaks off ... shouts! or drags on〜. A mark is a run of
one sign. Brackets and quotation marks are left out: they show that somebody talks, not how.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count

import numpy as np

from understudy.language.lexical.rows import Ints
from understudy.text import WORD, pieces, tokenizer, words

__all__ = ["is_mark", "stem", "stems", "tokenize_all"]

CHUNK = 1 << 20  # characters looked at together: each takes some twenty bytes
RUN = re.compile(r"(\S)\1*")
MARK_CATEGORIES = {"Pc", "Pd", "Po", "Sc", "Sk", "Sm", "So"}  # Unicode punctuation and symbols, no bracket or quote
END = "\n"  # of a text among others

Tokens = tuple[list[str], Ints, Ints]
"""The distinct words in order of appearance, for every word of the texts its index among them, words per text."""


def tokenize_all(texts: Sequence[str], language: str, marks: bool = False) -> Iterator[Tokens]:
    """The words of all texts, and the marks among them if wanted, a chunk of texts at a time."""
    for chunk in _chunks(texts):
        yield _english(chunk, marks) if language == "en" else _one_by_one(chunk, language, marks)


@cache
def is_mark(sign: str) -> bool:
    """Is this character, or the first of this token, a sign that can be a mark?"""
    return sign != "" and unicodedata.category(sign[0]) in MARK_CATEGORIES and sign[0] not in "\"'"


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    first = size = 0
    for index, text in enumerate(texts):
        if size and size + len(text) > CHUNK:
            yield texts[first:index]
            first, size = index, 0
        size += len(text)
    yield texts[first:]


def _one_by_one(texts: Sequence[str], language: str, marks: bool) -> Tokens:
    tokenize = _with_marks(language) if marks else tokenizer(language)
    vocabulary: dict[str, int] = {}
    ids: list[int] = []
    lengths: list[int] = []
    for text in texts:
        words = tokenize(text)
        ids += [vocabulary.setdefault(word, len(vocabulary)) for word in words]
        lengths.append(len(words))
    return list(vocabulary), np.array(ids, dtype=np.int64), np.array(lengths, dtype=np.int64)


def _with_marks(language: str) -> Callable[[str], list[str]]:
    """A tokenizer that gives words and marks."""
    split = pieces(language)
    known: dict[str, list[str]] = {}

    def words_and_marks(text: str) -> list[str]:
        result: list[str] = []
        for piece in split(text):
            if piece not in known:
                known[piece] = [piece.lower()] if WORD.search(piece) else _marks(piece)
            tokens = known[piece]
            if result and tokens and tokens[0][0] == result[-1][0] and is_mark(tokens[0][0]):  # a run split in two
                result[-1] += tokens[0]
                result += tokens[1:]
            else:
                result += tokens
        return result

    return words_and_marks


def _marks(between: str) -> list[str]:
    return [run.group() for run in RUN.finditer(between) if is_mark(run[1])]


def _english(texts: Sequence[str], marks: bool) -> Tokens:
    joined = "".join(text.lower().replace(END, " ") + END for text in texts).replace("’", "'")
    signs = [re.escape(sign) + "+" for sign in set(joined) if is_mark(sign)] if marks else []
    tokens = re.findall("|".join([WORD.pattern, END, *signs]), joined)
    numbers = dict(zip(dict.fromkeys([END, *tokens]), count()))
    ids = np.fromiter(map(numbers.__getitem__, tokens), np.int64, len(tokens))
    lengths = np.diff(np.flatnonzero(ids == 0), prepend=-1) - 1
    return list(numbers)[1:], ids[ids > 0] - 1, lengths


# English words without their endings: 'skiing', 'skis' and 'ski' have one stem.
#
# Endings are cut by rule, longest first; words that end in ss, us or is keep theirs, a doubled consonant becomes one,
# and a last e is dropped, so that a stem is no word but the same for its forms.


ENDINGS = (("ies", 5, "y"), ("sses", 6, "ss"), ("ing", 6, ""), ("ed", 5, ""), ("es", 5, "e"), ("s", 4, ""))
CLITICS = ("'s", "'re", "'ve", "'m", "'ll", "'d")


def stems(text: str) -> list[str]:
    """The stem of each word of a text, stop words too."""
    return [stem(word) for word in words(text)]


@cache
def stem(word: str) -> str:
    """Of a word as `text.words` gives it."""
    for clitic in CLITICS:
        word = word.removesuffix(clitic)
    for ending, least, instead in ENDINGS:
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(ending) + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]  # 'running', 'run'
    if len(word) > 3:
        word = word.removesuffix("e")
    return f"{word[:-1]}i" if len(word) > 3 and word.endswith("y") else word
