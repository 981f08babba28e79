"""Tokenized lines, and the ids of their words and n-grams.

A boundary, word id 0, stands before every line and after the last, so that the lines of a corpus are one array of ids,
and what comes first or last in a line can be counted as well:

    | so it was | the tide |          |: the boundary

An n-gram's key is made of the id of its first n - 1 words and the id of its last word, so that all orders fit 64 bits.
The corpus alone gives ids; lines tokenized later are looked up in it. Words the corpus does not have get ids that hold
for those lines only, from the corpus's size up, and their n-grams the id -1. Where punctuation marks were asked for
(see `tokenize_all`), they are words like others, and `plain` lines are without them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray

from understudy.language.lexical.rows import Ints, Reals, SparseRows
from understudy.text import WORD, pieces, tokenizer

BOUNDARY = 0
UNKNOWN = -1


class Corpus:
    """The vocabulary and the n-grams of some texts of one language; later texts are encoded in its ids."""

    def __init__(self, texts: Sequence[str], language: str = "en", marks: bool = False) -> None:
        self.language, self.marks = language, marks
        self._keys: dict[int, Ints] = {}
        self._numbers: dict[str, int] = {"": BOUNDARY}
        self._words = [""]
        ids, starts = self._numbered(texts, self._numbers)
        self._words = list(self._numbers)
        self.lines = Lines(self, texts, ids, starts, {})

    @property
    def size(self) -> int:
        """How many words there are, the boundary among them."""
        return len(self._words)

    @property
    def known(self) -> Sequence[str]:
        """All words in the order of their ids."""
        return self._words

    @cached_property
    def is_mark(self) -> NDArray[np.bool_]:
        """For every word: is it a mark?"""
        return np.array([is_mark(word[:1]) for word in self._words], dtype=np.bool_)

    def word(self, number: int) -> str:
        return self._words[number]

    def number(self, word: str) -> int:
        return self._numbers.get(word, UNKNOWN)

    def joined(self, words: Iterable[str]) -> str:
        """Words and marks as they are written one after another."""
        between = " " if self.language == "en" else ""
        return "".join(word if is_mark(word) else between + word for word in words).strip()

    def tokenize(self, texts: Sequence[str]) -> Lines:
        """Other texts, in the ids of this corpus."""
        new: dict[str, int] = {}
        ids, starts = self._numbered(texts, new)
        return Lines(self, texts, ids, starts, new)

    def grams(self, order: int) -> int:
        """How many different n-grams of an order there are; those that touch a boundary count."""
        return self.size if order == 1 else len(self._key(order))

    def gram(self, order: int, number: int) -> tuple[str, ...]:
        """The words of an n-gram; a boundary is the empty word."""
        if order == 1:
            return (self._words[number],)
        before, last = divmod(int(self._key(order)[number]), self.size)
        return (*self.gram(order - 1, before), self._words[last])

    def split(self, order: int) -> tuple[Ints, Ints]:
        """For every n-gram of an order from 2 up, the id of the n-gram without its last word, and that word's id."""
        before, last = np.divmod(self._key(order), self.size)
        return before, last

    def _numbered(self, texts: Sequence[str], new: dict[str, int]) -> tuple[Ints, Ints]:
        """The words of the texts as ids, with boundaries, and where these are; unknown words are added to `new`."""
        known, beyond = self._numbers, self.size if new is not self._numbers else 0
        pieces, lengths = [], []
        for words, indices, counts in tokenize_all(texts, self.language, self.marks):
            numbers = [known[word] if word in known else new.setdefault(word, beyond + len(new)) for word in words]
            pieces.append(np.array(numbers, dtype=np.int64)[indices])
            lengths.append(counts)
        counts = np.concatenate([*lengths, np.zeros(0, dtype=np.int64)])
        starts = np.concatenate(([0], np.cumsum(counts + 1)))
        ids = np.full(starts[-1] + 1, BOUNDARY, dtype=np.int64)
        inside = np.ones(len(ids), dtype=np.bool_)
        inside[starts] = False
        ids[inside] = np.concatenate([*pieces, np.zeros(0, dtype=np.int64)])
        return ids, starts

    def _key(self, order: int) -> Ints:
        if order not in self._keys:
            self.lines.grams(order)
        return self._keys[order]

    def number_own(self, order: int) -> Ints:
        """Gives ids to the n-grams of the corpus's own lines, in the order of their keys."""
        keys = self._spelled(self.lines, order)
        order_of = np.argsort(keys)
        keys = keys[order_of]
        known = np.searchsorted(keys, 0)  # before it stand positions without an n-gram
        changes = np.diff(keys[known:], prepend=UNKNOWN) != 0
        numbers = np.full(len(keys), UNKNOWN, dtype=np.int64)
        numbers[order_of[known:]] = np.cumsum(changes) - 1
        self._keys[order] = keys[known:][changes]
        return numbers

    def _spelled(self, lines: Lines, order: int) -> Ints:
        """For every position the key of the n-gram that begins there, -1 where there is none or a word is unknown."""
        before, ids = lines.grams(order - 1), lines.ids
        keys = np.full(len(ids), UNKNOWN, dtype=np.int64)
        if len(ids) < order:
            return keys
        first, last = before[: len(ids) - order + 1], ids[order - 1 :]
        there = (first >= 0) & (last < self.size)
        if order == 2:
            there &= first < self.size
        for middle in range(1, order - 1):  # a boundary may begin or end an n-gram, never stand inside
            there &= ids[middle : len(ids) - order + 1 + middle] != BOUNDARY
        keys[: len(first)][there] = first[there] * self.size + last[there]
        return keys

    def look_up(self, lines: Lines, order: int) -> Ints:
        """For every position the id of the n-gram that begins there, or -1."""
        keys = self._spelled(lines, order)
        known = self._key(order)
        if not len(known):
            return np.full(len(keys), UNKNOWN, dtype=np.int64)
        order_of = np.argsort(keys)  # sorted keys are looked up faster: neighbours lie in the same part of memory
        ids = np.empty(len(keys), dtype=np.int64)
        ids[order_of] = np.searchsorted(known, keys[order_of])
        ids[ids == len(known)] = 0
        return np.where(known[ids] == keys, ids, UNKNOWN)


class Lines:
    """Texts in the ids of a corpus. `ids[0]` is a boundary, line i lies between `starts[i]` and the next start."""

    def __init__(self, corpus: Corpus, texts: Sequence[str], ids: Ints, starts: Ints, new: dict[str, int]) -> None:
        self.corpus, self.texts, self.ids, self.starts = corpus, texts, ids, starts
        self._new, self._new_words = new, list(new)
        self._grams: dict[int, Ints] = {1: ids}
        self._bags: dict[int, SparseRows] = {}
        self._plain: Lines | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """How many words each line has."""
        return np.diff(self.starts) - 1

    @property
    def size(self) -> int:
        """How many words have an id, the corpus's and those that are new here."""
        return self.corpus.size + len(self._new)

    def word(self, number: int) -> str:
        known = self.corpus.size
        return self.corpus.word(number) if number < known else self._new_words[number - known]

    def number(self, word: str) -> int:
        """The id of a word here; -1 where neither the corpus nor these lines have it."""
        return self._new.get(word, self.corpus.number(word))

    def words(self, line: int) -> list[str]:
        return [self.word(number) for number in self.ids[self.starts[line] + 1 : self.starts[line + 1]].tolist()]

    @property
    def plain(self) -> Lines:
        """The same lines without marks, words alone."""
        if not self.corpus.marks:
            return self
        if self._plain is None:
            new_marks = np.array([is_mark(word[:1]) for word in self._new_words], dtype=np.bool_)
            words = ~np.concatenate([self.corpus.is_mark, new_marks])[self.ids]
            before = np.concatenate(([0], np.cumsum(words)))
            self._plain = Lines(self.corpus, self.texts, self.ids[words], before[self.starts], self._new)
            self._plain._plain = self._plain
        return self._plain

    def valued(self, values: Mapping[str, float]) -> Reals:
        """For every id the value of its word, 0 where it has none."""
        by_id = np.zeros(self.size)
        for word, value in values.items():
            number = self.number(word)
            if number > BOUNDARY:
                by_id[number] = value
        return by_id

    def grams(self, order: int) -> Ints:
        """For every position the id of the n-gram that begins there; -1 where the corpus has no such n-gram."""
        if order not in self._grams:
            own = self is self.corpus.lines
            self._grams[order] = self.corpus.number_own(order) if own else self.corpus.look_up(self, order)
        return self._grams[order]

    def bags(self, order: int = 1) -> SparseRows:
        """For each line its distinct n-grams, without boundaries, with counts; those the corpus lacks are left out.

        Single words that are new here are kept, by the ids they have here.
        """
        if order not in self._bags:
            owners = np.repeat(np.arange(len(self)), self.lengths + 1)  # of every position but the last boundary
            grams = self.grams(order)[: len(owners)]
            inside = np.arange(len(owners)) + order <= self.starts[1:][owners]
            there = inside & (grams >= 0) & (self.ids[: len(owners)] != BOUNDARY)
            width = max(self.size if order == 1 else self.corpus.grams(order), 1)
            keys, counts = np.unique(owners[there] * width + grams[there], return_counts=True)
            rows, columns = np.divmod(keys, width)
            starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(self)))))
            self._bags[order] = SparseRows(starts, columns, counts.astype(np.float64), width)
        return self._bags[order]


# Many texts split into words at once: the same words as `understudy.text` gives, more than twice as fast for English.
#
# Tokenizing one text a call takes longer for a million lines than all that is done with the words. English words are
# found by one pattern in many texts joined, and numbered all at once.
#
# Punctuation marks can be tokens among the words: they tell who breaks off ... shouts! or drags on〜. A mark is a run
# of one sign. Brackets and quotation marks are left out: they show that somebody talks, not how.


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
