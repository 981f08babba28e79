"""Many texts cut into words at once: the same words as `understudy.text` cuts, several times as fast for English.

A text is cut one call at a time, and each word is an object; for a million lines that takes longer than all that is
done with the words. English words are runs of letters and digits, apostrophes inside, so they can be found in an array
of characters, told apart by a hash, and only the different ones made into strings. The hash decides nothing: every
word is compared with the first that has its hash, and should two differ, the texts are cut the slow way. Where compiled
loops are loaded already (see `understudy.lexical.fast`), they tell the words apart.

Marks can stand among the words, as tokens of their own: who breaks off ... shouts! or drags on〜 is known by it. A mark
is a run of one sign. Brackets and quotation marks are none: they show that somebody talks, not how.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from understudy.lexical.rows import Ints
from understudy.text import WORD, pieces, tokenizer

__all__ = ["cut_all", "is_mark"]

APOSTROPHE = ord("'")
BASE = np.uint64(0x9E3779B97F4A7C15)  # of the hash
LONGEST = 255  # letters; words beyond are cut the slow way
CHUNK = 1 << 20  # characters looked at at once: each takes some sixty bytes
RUN = re.compile(r"(\S)\1*")
SIGNS = {"Pc", "Pd", "Po", "Sc", "Sk", "Sm", "So"}  # what Unicode calls punctuation or symbol, and no bracket or quote
NOTHING, LETTER, SIGN = 0, 1, 2  # what a character is in; a sign's own code is added to tell signs apart

Letters = NDArray[np.int32]
Found = tuple[list[str], Ints, Ints]
"""The different words in the order they come up, for every word of the texts its place among them, words a text."""


def cut_all(texts: Sequence[str], language: str, marks: bool = False) -> Iterator[Found]:
    """The words of all texts, and the marks among them if wanted, some texts at a time."""
    for some in _chunks(texts):
        fast = _english(some, marks) if language == "en" and sum(map(len, some)) <= 2 * CHUNK else None
        yield fast or _one_by_one(some, language, marks)


@cache
def is_mark(sign: str) -> bool:
    """Is this character, or the first of this token, a sign that can be a mark?"""
    return sign != "" and unicodedata.category(sign[0]) in SIGNS and sign[0] not in "\"'"


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    if sum(map(len, texts)) <= CHUNK:
        yield texts
        return
    first = size = 0
    for place, text in enumerate(texts):
        if size and size + len(text) > CHUNK:
            yield texts[first:place]
            first, size = place, 0
        size += len(text)
    yield texts[first:]


def _one_by_one(texts: Sequence[str], language: str, marks: bool) -> Found:
    cut = _marked(language) if marks else tokenizer(language)
    places: dict[str, int] = {}
    numbers: list[int] = []
    lengths: list[int] = []
    for text in texts:
        words = cut(text)
        numbers += [places.setdefault(word, len(places)) for word in words]
        lengths.append(len(words))
    return list(places), np.array(numbers, dtype=np.int64), np.array(lengths, dtype=np.int64)


def _marked(language: str) -> Callable[[str], list[str]]:
    """Cuts a text into words and marks."""
    if language == "en":
        return _with_marks
    cut = pieces(language)
    known: dict[str, list[str]] = {}

    def words_and_marks(text: str) -> list[str]:
        found: list[str] = []
        for piece in cut(text):
            if piece not in known:
                known[piece] = [piece.lower()] if WORD.search(piece) else _marks(piece)
            tokens = known[piece]
            if found and tokens and tokens[0][0] == found[-1][0] and is_mark(tokens[0][0]):  # a run cut in two
                found[-1] += tokens[0]
                found += tokens[1:]
            else:
                found += tokens
        return found

    return words_and_marks


def _with_marks(text: str) -> list[str]:
    found: list[str] = []
    lowered, at = text.lower().replace("’", "'"), 0
    for word in WORD.finditer(lowered):
        found += [*_marks(lowered[at : word.start()]), word.group()]
        at = word.end()
    return found + _marks(lowered[at:])


def _marks(between: str) -> list[str]:
    return [run.group() for run in RUN.finditer(between) if is_mark(run[1])]


def _english(texts: Sequence[str], marks: bool) -> Found | None:
    """None where two different words have the same hash, or one is too long to be any."""
    lowered = [text.lower() for text in texts]
    together = "\n".join(["", *lowered, ""]).replace("’", "'")  # so that nothing begins or ends without a change
    letters = np.frombuffer(together.encode("utf-32-le", "surrogatepass"), dtype=np.int32)
    begins, ends = _runs(_kinds(letters, marks))
    ends_of_texts = np.cumsum(np.fromiter(map(len, lowered), dtype=np.int64, count=len(lowered)) + 1)
    counts = np.diff(np.searchsorted(begins, ends_of_texts), prepend=0)
    if not len(begins):
        return [], begins, counts
    lengths = ends - begins
    compiled = sys.modules.get("understudy.lexical.fast")  # loading it takes longer than it saves here
    if compiled is not None:
        firsts, numbers = compiled.told_apart(letters, begins, lengths)
    elif lengths.max() > LONGEST:
        return None
    else:
        firsts, numbers = _told_apart(letters, begins, lengths)
    if firsts is None:
        return None
    words = [together[first:last] for first, last in zip(begins[firsts].tolist(), ends[firsts].tolist())]
    return words, numbers, counts


def _kinds(letters: Letters, marks: bool) -> NDArray[np.int32]:
    """What each character is in: a word is letters and digits, and apostrophes with one on either side."""
    counts = np.bincount(letters, minlength=1)
    table = np.full(len(counts), NOTHING, dtype=np.int32)
    for code in np.flatnonzero(counts).tolist():
        if chr(code).isalnum():
            table[code] = LETTER
        elif marks and is_mark(chr(code)):
            table[code] = SIGN + code
    kinds = table[letters]
    inner = (letters[1:-1] == APOSTROPHE) & (kinds[:-2] == LETTER) & (kinds[2:] == LETTER)
    kinds[1:-1][inner] = LETTER
    return kinds


def _runs(kinds: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Where stretches of one kind begin, and where they have ended."""
    changes = np.flatnonzero(kinds[1:] != kinds[:-1]) + 1
    begins, ends = changes[:-1], changes[1:]
    something = kinds[begins] != NOTHING
    return begins[something], ends[something]


def _told_apart(letters: Letters, begins: Ints, lengths: Ints) -> tuple[Ints | None, Ints]:
    """Where each different word first comes up, and for each word which of them it is; None where hashes collide.

    Words are taken from the longest to the shortest: then those that have an n-th letter are the first so many.
    """
    order = np.argsort((LONGEST - lengths).astype(np.uint8), kind="stable")  # of single bytes, which is fast
    having = np.cumsum(np.bincount(lengths)[::-1])[-2::-1].tolist()  # how many have a first letter, a second, ...
    begins = begins[order]
    hashes = np.zeros(len(begins), dtype=np.uint64)
    for nth, count in enumerate(having):
        hashes[:count] = hashes[:count] * BASE + letters[begins[:count] + nth].astype(np.uint64)
    alike = np.argsort(hashes)
    groups = np.concatenate(([0], np.flatnonzero(np.diff(hashes[alike])) + 1))
    group = np.empty(len(alike), dtype=np.int64)
    group[alike] = np.repeat(np.arange(len(groups)), np.diff(groups, append=len(alike)))
    firsts = np.minimum.reduceat(order[alike], groups)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    meant = back[firsts][group]
    if not np.array_equal(lengths[order], lengths[order][meant]):
        return None, group
    for nth, count in enumerate(having):
        if not np.array_equal(letters[begins[:count] + nth], letters[begins[meant[:count]] + nth]):
            return None, group
    ranks = np.empty(len(firsts), dtype=np.int64)
    ranks[np.argsort(firsts)] = np.arange(len(firsts))
    return np.sort(firsts), ranks[group][back]
