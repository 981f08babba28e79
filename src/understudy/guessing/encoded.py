"""Guessers that read with a sentence encoder: `vanilla-encoder`, `multi-row` and `scene-pooling`.

They differ in what is read (see `understudy.guessing.pieces`). The encoder stays as it is; attention over the texts of
a mask and the classifier over the main characters are learned. To train the encoder itself, see
`understudy train guesser`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from understudy.guessing import pieces
from understudy.guessing.learning import Guesses, Lessons, named
from understudy.guessing.masking import Masking
from understudy.guessing.pooling import Pooled, Vectors, learn_pooling
from understudy.lexical.rows import Ints
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["EncodedGuesser", "Encodes", "multi_row", "scene_pooling", "shipped_encoder", "vanilla_encoder"]

Cut = Callable[[Scene], pieces.Pieces]


class Encodes(Protocol):
    def encode(self, texts: Sequence[str]) -> Vectors: ...


def vanilla_encoder(lessons: Lessons, encoder: Encodes | None = None) -> EncodedGuesser:
    """All that a mask says, as one text."""
    return EncodedGuesser(lessons, pieces.whole, encoder)


def multi_row(
    lessons: Lessons,
    encoder: Encodes | None = None,
    from_end: bool = True,
    fill_empty: bool = True,
    alone: bool = False,
) -> EncodedGuesser:
    """Utterances with what was said before them, or `alone`."""
    cut = partial(pieces.rows, from_end=from_end, fill_empty=fill_empty, alone=alone)
    return EncodedGuesser(lessons, cut, encoder)


def scene_pooling(
    lessons: Lessons, encoder: Encodes | None = None, longest: int = pieces.SCENE_WORDS
) -> EncodedGuesser:
    """The whole scene, window by window, as the mask hears it."""
    return EncodedGuesser(lessons, partial(pieces.windows, longest=longest), encoder)


class EncodedGuesser:
    def __init__(self, lessons: Lessons, cut: Cut, encoder: Encodes | None) -> None:
        self._main, self._cut, self._encoder = lessons.main, cut, encoder or shipped_encoder()
        masking = Masking(lessons.main, lessons.names)
        texts: list[list[str]] = []
        labels: list[int] = []
        for masked in masking.scenes(lessons.scenes, fewest=1):
            for mask, read in cut(masked.scene).items():
                if read:
                    texts.append(read)
                    labels.append(lessons.main.index(masked.answers[mask]))
        self._pooled: Pooled = learn_pooling(*self._encoded(texts), np.array(labels), len(lessons.main))

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        read = self._cut(masked)
        candidates = [persona.name for persona in personas]
        even = np.full((len(read), len(candidates)), 1 / max(len(candidates), 1))
        known = [place for place, texts in enumerate(read.values()) if texts]
        if known:
            scores = self._pooled.scores(*self._encoded([texts for texts in read.values() if texts]))
            raised = np.exp(scores[:, [self._main.index(name) for name in candidates]])
            even[known] = raised / raised.sum(axis=1, keepdims=True)
        return named(list(read), candidates, even)

    def _encoded(self, texts: Sequence[Sequence[str]]) -> tuple[Vectors, Ints]:
        vectors = self._encoder.encode([text for one in texts for text in one])
        return vectors, np.cumsum([0, *map(len, texts)])


def shipped_encoder() -> Encodes:
    """The encoder that comes with the package."""
    from understudy.encoding import SentenceEncoder

    return SentenceEncoder(threads=2)
