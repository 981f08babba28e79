"""The bag-of-words models as torch sees them: one table of word vectors, and how message and profile make a query.

    loss = mean over questions of the sum over the k hardest others c' in the batch of
           max(0, margin - cos(q, c) + cos(q, c'))

A reply that is the same text as the true one is no negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.agents.word_vectors import spelled
from understudy.lexical import Floats
from understudy.text import words
from understudy.training.data import Question

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Bags", "Examples", "Vocabulary", "margin_loss", "similarity"]


class Vocabulary:
    """The words of the training texts, with the vectors that training begins with.

    A word's vector is made from its spelling, or is the one given, and its length is
    ln((1 + N) / (1 + n)) / ln(1 + N) for a word in n of N texts.
    """

    def __init__(self, texts: Iterable[str], width: int, given: dict[str, Floats] | None = None) -> None:
        frequencies: Counter[str] = Counter()
        total = 0
        for text in texts:
            frequencies.update(set(words(text)))
            total += 1
        self.words = sorted(frequencies)
        self.places = {word: place for place, word in enumerate(self.words)}
        told = given or {}
        rows = np.stack([told[word] if word in told else spelled(word, width) for word in self.words])
        weights = [math.log((1 + total) / (1 + frequencies[word])) / math.log(1 + total) for word in self.words]
        self.rows: Floats = rows * np.array(weights, np.float32)[:, None]


class Bags:
    """Texts as the places of their words, all in one array."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        numbered = [[vocabulary.places[word] for word in words(text)] for text in texts]
        self._flat = np.array([place for bag in numbered for place in bag], np.int64)
        self._sizes = np.array([len(bag) for bag in numbered], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def sums(self, chosen: NDArray[np.int64], table: Tensor) -> Tensor:
        """The sum of the vectors of each chosen text; a negative number stands for no text, and nothing."""
        import torch
        from torch.nn.functional import embedding_bag

        sizes = np.where(chosen < 0, 0, self._sizes[chosen])
        offsets = np.cumsum(sizes) - sizes
        places = np.repeat(self._starts[chosen] - offsets, sizes) + np.arange(sizes.sum())
        flat = torch.from_numpy(self._flat[places]).to(table.device)
        return embedding_bag(flat, table, torch.from_numpy(offsets).to(table.device), mode="sum")


@dataclass(slots=True)
class Examples:
    """Questions as numbers: their messages, replies and profile sentences, filled up with -1 to the same number."""

    bags: Bags
    messages: NDArray[np.int64]
    replies: NDArray[np.int64]
    profiles: NDArray[np.int64]

    @classmethod
    def of(cls, questions: Sequence[Question], condition: str, turns: int, vocabulary: Vocabulary) -> Examples:
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
    """The cosine along the last axis; with nothing it is 0."""
    from torch.nn.functional import cosine_similarity

    return cosine_similarity(first, second, dim=-1)


def margin_loss(query: Tensor, replies: Tensor, same: Tensor, margin: float, negatives: int) -> Tensor:
    from torch.nn.functional import normalize

    cosines = normalize(query, dim=1) @ normalize(replies, dim=1).T
    short = (margin - cosines.diagonal()[:, None] + cosines).clamp(min=0).masked_fill(same, 0.0)
    return short.topk(min(negatives, len(short)), dim=1).values.sum(dim=1).mean()
