"""Sentences as vectors: what an encoder is, and the sequences of token ids that it reads.

    a reply or sentence   [CLS] role text [SEP]
    a context             [CLS] query (own sentence)* (their sentence)* (they said | I said)* [SEP]

A role is a marker token that no text contains, by which one encoder acts as several. A model without markers gets the
same sequences without them. A text that is too long loses its end; a context that is too long loses its oldest turns,
and a single turn that is too long its beginning, since what was said last is what is answered.

Before that, many spellings become one (`canonical`): 'I'm', 'i am' and 'im' are the same words to the encoder. Corpora
write contractions in different ways, and a model trained on one stumbles over the others. Case and the blanks before
punctuation are the tokenizer's to drop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.language.model_folder import ModelFolder

WHOLE = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "ain't": "is not",
    "let's": "let us",
    "y'all": "you all",
    "'cause": "because",
    "dont": "do not",
    "cant": "can not",
    "im": "i am",
    "ive": "i have",
    "didnt": "did not",
    "doesnt": "does not",
    "isnt": "is not",
    "thats": "that is",
    "whats": "what is",
}
BEFORE_S = "that it he she what there where who how here when why everything something"
BEFORE_NOT = "do does did is are was were have has had would could should must need"
PRONOUNS = "i you he she it we they that there this who what"
ENDINGS = {"ve": "have", "re": "are", "ll": "will", "d": "would"}

Floats = NDArray[np.float32]

PROCESSING = 1
"""The version of how texts become tokens: raised when the same text becomes other tokens.

It is part of the cache's key, so that vectors of another version are not used.
"""

ROLES = ("reply", "own", "heard")
"""What a text is encoded as: something to say, a sentence of the own profile, something said by somebody else."""

MAX_TOKEN_CHARACTERS = 24  # so that a long text is truncated before it is tokenized
MAX_WIDTH = 65_536
SEQUENCE_TOKENS = (8, 4_096)  # room for the markers at least; attention within memory at most
MAX_TOKEN_ID = 10_000_000
MAX_WEIGHT = 1_000.0  # of either sign
MAX_SHARPNESS = 10_000.0
RESERVED_FOR_TURNS = 64  # tokens that profiles leave to what was said


def _either(words: str) -> str:
    return "|".join(words.split())


BARE = "|".join(re.escape(word) for word in WHOLE if not word.startswith("'"))
CUT = "|".join(re.escape(word) for word in WHOLE if word.startswith("'"))  # no word's edge before an apostrophe
WHOLE_WORD = re.compile(rf"(?:\b(?:{BARE})|{CUT})\b")
NOT = re.compile(rf"\b({_either(BEFORE_NOT)})n ?'? ?t\b")
CAN_NOT = re.compile(r"\bcan ?' ?t\b|\bcan t\b")
WILL_NOT = re.compile(r"\bwon ?'? t\b")
I_AM = re.compile(r"\bi ?'? ?m\b(?! \.)")
ENDING = re.compile(rf"\b({_either(PRONOUNS)})(?: ?' ?| )(ve|re|ll|d)\b")
IS = re.compile(rf"\b({_either(BEFORE_S)})(?: ?' ?| )s\b")


def canonical(text: str) -> str:
    """Lower case, contractions written out, single blanks."""
    text = text.lower().replace("\u2019", "'").replace("\u2018", "'")
    text = WHOLE_WORD.sub(lambda match: WHOLE[match[0]], text)
    text = NOT.sub(r"\1 not", text)
    text = CAN_NOT.sub("can not", text)
    text = WILL_NOT.sub("will not", text)
    text = I_AM.sub("i am", text)
    text = ENDING.sub(lambda match: f"{match[1]} {ENDINGS[match[2]]}", text)
    text = IS.sub(r"\1 is", text)
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Context:
    """What a reply has to fit: the own profile, the profile of the one faced, and the turns: (is it mine, text)."""

    own: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    turns: tuple[tuple[bool, str], ...] = ()


class Encoder(Protocol):
    """Texts and contexts as vectors of length 1. A vector never depends on what else is encoded with it.

    `weights` says how much each part of a context counts in a score: 'query' (all of it as one), 'history' (its turns),
    'last' (the last thing heard), 'persona' (the best fitting profile sentence, softened by `sharpness`).

    `cached` looks replies up without encoding any: their vectors, zero where they are missing, and which are there.
    """

    @property
    def width(self) -> int: ...
    @property
    def weights(self) -> Mapping[str, float]: ...
    @property
    def sharpness(self) -> float: ...
    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats: ...
    def cached(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]: ...
    def encode_contexts(self, contexts: Sequence[Context], keep: bool = False) -> Floats: ...


@dataclass(frozen=True, slots=True)
class SequenceFormat:
    """How a model's sequences are built, from its card; `theirs` is false where the other's profile is left out."""

    first: int
    last: int
    markers: Mapping[str, int] = field(default_factory=dict)
    longest: Mapping[str, int] = field(default_factory=dict)
    theirs: bool = True


def parse_sequence_format(card: Mapping[str, Any], folder: Path) -> SequenceFormat:
    """How a card says that sequences are built. All other numbers of the card are checked too."""
    model = ModelFolder(card, {}, folder)
    model.integer("width", low=1, high=MAX_WIDTH)
    for name in ("weights", *({"words"} & card.keys())):
        for part in model.section(name):
            model.number(name, part, low=-MAX_WEIGHT, high=MAX_WEIGHT)
    for name, low, high in (("commonness", -MAX_WEIGHT, MAX_WEIGHT), ("sharpness", 1 / MAX_SHARPNESS, MAX_SHARPNESS)):
        if name in card:
            model.number(name, low=low, high=high)

    def token_id(*names: str) -> int:
        return model.integer("sequences", *names, low=0, high=MAX_TOKEN_ID)

    def longest(kind: str) -> int:
        low, high = SEQUENCE_TOKENS
        return model.integer("sequences", "longest", kind, low=low, high=high)

    return SequenceFormat(
        token_id("first"),
        token_id("last"),
        {role: token_id("markers", role) for role in model.section("sequences", "markers")},
        {kind: longest(kind) for kind in model.section("sequences", "longest")},
        bool(model.section("sequences").get("theirs", True)),
    )


Tokens = Callable[[Sequence[str]], list[list[int]]]
"""A tokenizer: many texts at once to token ids, without special tokens."""


class Sequencer:
    """Builds the sequences of one model."""

    def __init__(self, sequence_format: SequenceFormat, tokens: Tokens) -> None:
        self._format = sequence_format
        self._tokens = tokens

    def texts(self, texts: Sequence[str], role: str) -> list[list[int]]:
        longest = self._longest("reply" if role == "reply" else "sentence")
        head = [self._format.first, *self._marker(role)]
        room = longest - len(head) - 1
        tokenized = self._tokens([canonical(text[: longest * MAX_TOKEN_CHARACTERS]) for text in texts])
        return [[*head, *ids[:room], self._format.last] for ids in tokenized]

    def words(self, text: str) -> list[int]:
        """The tokens of a text alone, truncated to the length of a context."""
        return self._tokens([canonical(text[: self._longest("query") * MAX_TOKEN_CHARACTERS])])[0]

    def contexts(self, contexts: Sequence[Context]) -> list[list[int]]:
        """All sentences and turns are tokenized in one call, each distinct text once."""
        longest = self._longest("query")
        reach = longest * MAX_TOKEN_CHARACTERS
        normalized = [
            (
                [canonical(text[:reach]) for text in context.own],
                [canonical(text[:reach]) for text in context.theirs if self._format.theirs],
                [(mine, canonical(text[-reach:])) for mine, text in context.turns],
            )
            for context in contexts
        ]
        distinct = list(
            dict.fromkeys(
                text for own, theirs, turns in normalized for text in (*own, *theirs, *(turn for _, turn in turns))
            )
        )
        ids = dict(zip(distinct, self._tokens(distinct)))
        return [
            self._context(
                [ids[text] for text in own], [ids[text] for text in theirs], [(mine, ids[text]) for mine, text in turns]
            )
            for own, theirs, turns in normalized
        ]

    def _context(
        self, own: Sequence[list[int]], theirs: Sequence[list[int]], turns: Sequence[tuple[bool, list[int]]]
    ) -> list[int]:
        longest = self._longest("query")
        sequence = [self._format.first, *self._marker("query")]
        for role, sentences in (("own", own), ("theirs", theirs)):
            for sentence in sentences:
                sequence += [*self._marker(role), *sentence]
        if turns:
            sequence = sequence[: max(longest - 1 - RESERVED_FOR_TURNS, 2)]
        sequence = sequence[: longest - 1]
        room, fitting = longest - 1 - len(sequence), list[list[int]]()
        for mine, said in reversed(turns):
            head = self._marker("said" if mine else "heard")
            if len(head) + len(said) > room:
                if not fitting:
                    fitting.append([*head, *said[len(said) - room + len(head) :]])
                break
            fitting.append([*head, *said])
            room -= len(fitting[-1])
        for turn in reversed(fitting):
            sequence += turn
        return [*sequence, self._format.last]

    def _marker(self, role: str) -> list[int]:
        return [self._format.markers[role]] if role in self._format.markers else []

    def _longest(self, kind: str) -> int:
        return self._format.longest.get(kind, 128)
