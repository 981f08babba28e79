"""Texts as sums of word vectors, for the bag-of-words rankers: vocabulary, initial vectors, batches and the loss.

    loss = mean over questions of the sum over the k hardest others c' in the batch of
           max(0, margin - cos(q, c) + cos(q, c'))

A reply that is the same text as the true one is no negative. Initial vectors come from a word's spelling, or from a
text file as GloVe and word2vec write them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.agents.bag_ranker import spelled
from understudy.errors import InputError
from understudy.language.lexical import Floats
from understudy.text import words
from understudy.training.dialogues import ReplyQuestion

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["BagExamples", "Bags", "Vocabulary", "margin_loss", "read_embeddings", "similarity"]

LONGEST_LINE = 1 << 20
WIDEST = 4096


class Vocabulary:
    """The words of the training texts, with the vectors that training begins with.

    A word's vector is made from its spelling, or is the one given, and its length is
    ln((1 + N) / (1 + n)) / ln(1 + N) for a word in n of N texts.
    """

    def __init__(self, texts: Iterable[str], width: int, pretrained: dict[str, Floats] | None = None) -> None:
        frequencies: Counter[str] = Counter()
        total = 0
        for text in texts:
            frequencies.update(set(words(text)))
            total += 1
        self.words = sorted(frequencies)
        self.index = {word: index for index, word in enumerate(self.words)}
        pretrained_rows = pretrained or {}
        rows = np.stack(
            [pretrained_rows[word] if word in pretrained_rows else spelled(word, width) for word in self.words]
        )
        weights = [math.log((1 + total) / (1 + frequencies[word])) / math.log(1 + total) for word in self.words]
        self.rows: Floats = rows * np.array(weights, np.float32)[:, None]


class Bags:
    """Texts as word ids, all in one array."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        ids = [[vocabulary.index[word] for word in words(text)] for text in texts]
        self._flat = np.array([index for bag in ids for index in bag], np.int64)
        self._sizes = np.array([len(bag) for bag in ids], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def sums(self, chosen: NDArray[np.int64], table: Tensor) -> Tensor:
        """The sum of the vectors of each chosen text; a negative id stands for no text, whose sum is 0."""
        import torch
        from torch.nn.functional import embedding_bag

        sizes = np.where(chosen < 0, 0, self._sizes[chosen])
        offsets = np.cumsum(sizes) - sizes
        positions = np.repeat(self._starts[chosen] - offsets, sizes) + np.arange(sizes.sum())
        flat = torch.from_numpy(self._flat[positions]).to(table.device)
        return embedding_bag(flat, table, torch.from_numpy(offsets).to(table.device), mode="sum")


@dataclass(slots=True)
class BagExamples:
    """Questions as text ids: messages, replies and profile sentences, these padded with -1 to the same number."""

    bags: Bags
    messages: NDArray[np.int64]
    replies: NDArray[np.int64]
    profiles: NDArray[np.int64]

    @classmethod
    def of(cls, questions: Sequence[ReplyQuestion], condition: str, turns: int, vocabulary: Vocabulary) -> BagExamples:
        numbers: dict[str, int] = {}

        def number(text: str) -> int:
            return numbers.setdefault(text, len(numbers))

        messages = np.array([number(question.message(turns)) for question in questions], np.int64)
        replies = np.array([number(question.reply) for question in questions], np.int64)
        shown = [[number(sentence) for sentence in question.shown(condition)] for question in questions]
        profiles = np.full((len(shown), max(map(len, shown), default=0)), -1, np.int64)
        for row, sentences in zip(profiles, shown):
            row[: len(sentences)] = sentences
        return cls(Bags(list(numbers), vocabulary), messages, replies, profiles)

    def __len__(self) -> int:
        return len(self.messages)

    def sums(self, batch: NDArray[np.int64], table: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Messages, replies (questions x width) and profile sentences (questions x sentences x width) of a batch.

        All are summed at once, because every sum of its own would make a gradient the size of the table.
        """
        profiles = self.profiles[batch]
        chosen = np.concatenate([self.messages[batch], self.replies[batch], profiles.ravel()])
        sums, size = self.bags.sums(chosen, table), len(batch)
        return sums[:size], sums[size : 2 * size], sums[2 * size :].view(*profiles.shape, table.shape[1])


def similarity(first: Tensor, second: Tensor) -> Tensor:
    """The cosine along the last axis; 0 where one of the two is 0."""
    from torch.nn.functional import cosine_similarity

    return cosine_similarity(first, second, dim=-1)


def margin_loss(query: Tensor, replies: Tensor, same: Tensor, margin: float, negatives: int) -> Tensor:
    from torch.nn.functional import normalize

    cosines = normalize(query, dim=1) @ normalize(replies, dim=1).T
    short = (margin - cosines.diagonal()[:, None] + cosines).clamp(min=0).masked_fill(same, 0.0)
    return short.topk(min(negatives, len(short)), dim=1).values.sum(dim=1).mean()


def read_embeddings(path: Path, vocabulary: Iterable[str]) -> dict[str, Floats]:
    """The vectors of those words of a vocabulary that the file has, each of length 1."""
    wanted = {word.encode() for word in vocabulary}
    vectors: dict[str, Floats] = {}
    width = 0
    if not path.is_file():
        raise InputError("there is no such file of word vectors", path)
    with path.open("rb", buffering=1 << 20) as file:
        number = 0
        while raw := file.readline(LONGEST_LINE):
            number += 1
            word, _, numbers = raw.rstrip(b"\r\n").partition(b" ")
            if number == 1 and word.isdigit() and numbers.strip().isdigit():
                continue  # word2vec says first how many words there are, and how wide they are
            if not width:
                width = len(numbers.split())
                if not 0 < width <= WIDEST:
                    raise InputError("a word and its numbers, with blanks between, belong in a line", path, number)
            if word in wanted:
                vectors[word.decode()] = _vector(numbers, width, path, number)
    if not vectors:
        raise InputError("has none of the words of the training texts: is it for this language?", path)
    return vectors


def _vector(numbers: bytes, width: int, path: Path, line: int) -> Floats:
    try:
        vector = np.array(numbers.split(), dtype=np.float32)
    except ValueError as error:
        raise InputError("holds something that is not a number", path, line) from error
    if len(vector) != width:
        raise InputError(f"has {len(vector)} numbers, where the first line has {width}", path, line)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length):
        raise InputError("holds a number that is not finite", path, line)
    return vector / np.float32(length) if length > 0 else vector
