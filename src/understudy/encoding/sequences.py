"""How texts become the token ids an encoder reads.

    a reply or sentence   [CLS] role text [SEP]
    a context             [CLS] query (own sentence)* (their sentence)* (they said | I said)* [SEP]

A role is a marker: a row of the vocabulary that no text reaches, by which one tower acts as several. A model without
markers gets the same sequences without them. Too long a text loses its end; too long a context loses its oldest turns,
and a turn that is too long alone its beginning, since what was said last is what is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.encoding.spelling import canonical

__all__ = ["PROCESSING", "ROLES", "Context", "Encoder", "Floats", "Form", "Sequencer"]

Floats = NDArray[np.float32]

PROCESSING = 1
"""The version of how texts are spelt, cut and put together: raised when the same text becomes other tokens.

Encodings are kept under it, so that vectors of another version are not taken for those of this one.
"""

ROLES = ("reply", "own", "heard")
"""What a text can be taken for: something to be said, a sentence of the own profile, something said by another."""

CHARACTERS = 24  # of a token at most, for cutting down a text before it is cut into tokens
ROOM_FOR_TURNS = 64  # tokens that profiles leave to what was said


@dataclass(frozen=True, slots=True)
class Context:
    """What a reply is to fit: the own profile, what is known of the one faced, and the turns: (is it mine, text)."""

    own: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    turns: tuple[tuple[bool, str], ...] = ()


class Encoder(Protocol):
    """Texts and contexts as vectors of length 1. A vector never depends on what else is encoded with it.

    `weights` says how much each part of a context counts in a score: 'query' (all of it as one), 'history' (its turns),
    'last' (the last thing heard), 'persona' (the best fitting profile sentence, softened by `sharpness`).
    """

    @property
    def width(self) -> int: ...
    @property
    def weights(self) -> Mapping[str, float]: ...
    @property
    def sharpness(self) -> float: ...
    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats: ...
    def encode_contexts(self, contexts: Sequence[Context], keep: bool = False) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Form:
    """What a model's card says of its sequences; `theirs` is false for one that is better off without their profile."""

    first: int
    last: int
    markers: Mapping[str, int] = field(default_factory=dict)
    longest: Mapping[str, int] = field(default_factory=dict)
    theirs: bool = True


Tokens = Callable[[Sequence[str]], list[list[int]]]
"""Cuts many texts at once into token ids, without special tokens."""


class Sequencer:
    """Makes the sequences of one model."""

    def __init__(self, form: Form, tokens: Tokens) -> None:
        self._form = form
        self._tokens = tokens

    def texts(self, texts: Sequence[str], role: str) -> list[list[int]]:
        longest = self._longest("reply" if role == "reply" else "sentence")
        head = [self._form.first, *self._marker(role)]
        room = longest - len(head) - 1
        cut = self._tokens([canonical(text[: longest * CHARACTERS]) for text in texts])
        return [[*head, *ids[:room], self._form.last] for ids in cut]

    def words(self, text: str) -> list[int]:
        """The tokens of a text by themselves, as far as a context is read."""
        return self._tokens([canonical(text[: self._longest("query") * CHARACTERS])])[0]

    def contexts(self, contexts: Sequence[Context]) -> list[list[int]]:
        """Tokens of all sentences and turns are cut in one go, each text once."""
        longest = self._longest("query")
        reach = longest * CHARACTERS
        spelt = [
            (
                [canonical(text[:reach]) for text in context.own],
                [canonical(text[:reach]) for text in context.theirs if self._form.theirs],
                [(mine, canonical(text[-reach:])) for mine, text in context.turns],
            )
            for context in contexts
        ]
        distinct = list(
            dict.fromkeys(
                text for own, theirs, turns in spelt for text in (*own, *theirs, *(told for _, told in turns))
            )
        )
        ids = dict(zip(distinct, self._tokens(distinct)))
        return [
            self._context(
                [ids[text] for text in own], [ids[text] for text in theirs], [(mine, ids[text]) for mine, text in turns]
            )
            for own, theirs, turns in spelt
        ]

    def _context(
        self, own: Sequence[list[int]], theirs: Sequence[list[int]], turns: Sequence[tuple[bool, list[int]]]
    ) -> list[int]:
        longest = self._longest("query")
        sequence = [self._form.first, *self._marker("query")]
        for role, sentences in (("own", own), ("theirs", theirs)):
            for sentence in sentences:
                sequence += [*self._marker(role), *sentence]
        if turns:
            sequence = sequence[: max(longest - 1 - ROOM_FOR_TURNS, 2)]
        sequence = sequence[: longest - 1]
        room, kept = longest - 1 - len(sequence), list[list[int]]()
        for mine, said in reversed(turns):
            head = self._marker("said" if mine else "heard")
            if len(head) + len(said) > room:
                if not kept:
                    kept.append([*head, *said[len(said) - room + len(head) :]])
                break
            kept.append([*head, *said])
            room -= len(kept[-1])
        for turn in reversed(kept):
            sequence += turn
        return [*sequence, self._form.last]

    def _marker(self, role: str) -> list[int]:
        return [self._form.markers[role]] if role in self._form.markers else []

    def _longest(self, kind: str) -> int:
        return self._form.longest.get(kind, 128)
