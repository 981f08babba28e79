"""Tokenized dialogues that the encoder and the cross-encoder draw training batches from, with augmentation.

Each turn but a dialogue's first is a question to its speaker. Which of the two profiles is shown is drawn anew every
time (none, the own, both, theirs), the own sentences in random order, and sometimes reworded:

- a sentence as an utterance that says the same, from `train_entailed_persona_utterance_pairs.json` where it is there;
- a word as one of like meaning, above all where the reply has the same word, so that repeating it is not enough.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.encoding.sequences import SequenceFormat, Sequencer, Tokens, canonical
from understudy.training.dialogues import DialogueSplit, ProfiledDialogue, questions_of

__all__ = ["PAIRS", "EncodedExample", "Mixing", "Sequences", "Shown", "TokenizedDialogues", "read_pairs"]

PAIRS = "train_entailed_persona_utterance_pairs.json"
REPEATED = 3  # times as likely to be replaced: a word of the profile that the reply has too
COMMON = 120  # words that are never replaced

Ids = list[int]


@dataclass(frozen=True, slots=True)
class Mixing:
    """How often which profiles are shown, and how often sentences and words are replaced."""

    none: float = 0.25
    own: float = 0.75
    both: float = 0.0
    theirs: float = 0.0
    paraphrase: float = 0.3
    synonym: float = 0.06


@dataclass(frozen=True, slots=True)
class EncodedExample:
    """A question as ids of texts; `around` are the turns of its dialogue."""

    own: tuple[int, ...]
    theirs: tuple[int, ...]
    turns: tuple[tuple[bool, int], ...]
    reply: int
    around: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a question, as tokens."""

    own: list[Ids]
    theirs: list[Ids]
    turns: list[tuple[bool, Ids]]


class Sequences(Sequencer):
    """Sequences of texts that are tokens already."""

    def __init__(self, form: SequenceFormat) -> None:
        super().__init__(form, lambda _texts: [])
        self.form = form

    def text(self, ids: Ids, role: str) -> Ids:
        longest = self.form.longest["reply" if role == "reply" else "sentence"]
        head = [self.form.first, self.form.markers[role]]
        return [*head, *ids[: longest - len(head) - 1], self.form.last]

    def context(self, shown: Shown) -> Ids:
        return self._context(shown.own, shown.theirs, shown.turns)


class TokenizedDialogues:
    """The distinct texts of the training dialogues, tokenized, and the questions over them."""

    def __init__(self, split: DialogueSplit, pairs: Iterable[tuple[str, str]], tokens: Tokens) -> None:
        self._numbers: dict[str, int] = {}
        self._known: dict[str, int] = {}  # as they were written: spelling takes time
        self.examples = [example for dialogue in split.training for example in self._examples(dialogue)]
        self.replies = sorted({turn for example in self.examples for turn in (*example.around, example.reply)})
        held_texts = {canonical(text) for dialogue in split.held for _, text in dialogue.turns}
        held_texts |= {canonical(sentence) for profile in split.asked for sentence in profile}
        usable = [pair for pair in pairs if held_texts.isdisjoint(map(canonical, pair))]
        self.pairs = [(self._number(sentence), self._number(said)) for sentence, said in usable]
        self.alike = _alike(self.pairs)
        self.pool = sorted({*self.replies, *(said for _, said in self.pairs)})
        self.texts = list(self._numbers)
        self.tokens = tokens(self.texts)
        self.synonyms: Mapping[int, list[int]] = {}

    def _number(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = self._numbers.setdefault(canonical(text), len(self._numbers))
        return self._known[text]

    def _examples(self, dialogue: ProfiledDialogue) -> Iterable[EncodedExample]:
        around = tuple(sorted({self._number(text) for _, text in dialogue.turns}))
        for question in questions_of([dialogue], "none"):
            if question.history:
                yield EncodedExample(
                    tuple(map(self._number, question.own)),
                    tuple(map(self._number, question.their)),
                    tuple((mine, self._number(text)) for mine, text in question.history),
                    self._number(question.reply),
                    around,
                )

    def shown_only(self, numbers: Iterable[int]) -> TokenizedDialogues:
        """The same without the pairs that tell of other examples' turns."""
        shown = {turn for number in numbers for turn in self.examples[number].around}
        hidden = {turn for example in self.examples for turn in example.around} - shown
        part = copy(self)
        part.pairs = [pair for pair in self.pairs if pair[1] not in hidden]
        part.alike = _alike(part.pairs)
        return part

    def words(self) -> list[int]:
        """Tokens that may be replaced: neither rare nor the most common."""
        counted = Counter(token for ids in self.tokens for token in ids)
        common = {token for token, _ in counted.most_common(COMMON)}
        return sorted(token for token, times in counted.items() if times > 2 and token not in common)

    def rarity(self, vocabulary: int) -> NDArray[np.float32]:
        """How rare each token is: ln((1 + N) / (1 + n)) + 1, n of N texts having it."""
        having = Counter(token for ids in self.tokens for token in set(ids))
        counts = np.array([having[token] for token in range(vocabulary)], np.float64)
        return (np.log((1 + len(self.tokens)) / (1 + counts)) + 1).astype(np.float32)

    def shown(self, example: EncodedExample, mixing: Mixing, rng: random.Random) -> Shown:
        """An example as it is shown this time."""
        shares = (mixing.none, mixing.own, mixing.both, mixing.theirs)
        condition = rng.choices(("none", "own", "both", "theirs"), shares)[0]
        own, theirs = list[Ids](), list[Ids]()
        if condition in ("own", "both"):
            order = rng.sample(example.own, len(example.own))
            own = [self._reworded(sentence, example, mixing, rng) for sentence in order]
        if condition in ("both", "theirs"):
            theirs = [self.tokens[sentence] for sentence in example.theirs]
        return Shown(own, theirs, [(mine, self.tokens[text]) for mine, text in example.turns])

    def _reworded(self, sentence: int, example: EncodedExample, mixing: Mixing, rng: random.Random) -> Ids:
        if rng.random() < mixing.paraphrase and sentence in self.alike:
            paraphrases = [text for text in self.alike[sentence] if text not in example.around]
            if paraphrases:
                return self.tokens[rng.choice(paraphrases)]
        if not mixing.synonym or not self.synonyms:
            return self.tokens[sentence]
        said = set(self.tokens[example.reply])
        return [
            rng.choice(self.synonyms[token])
            if token in self.synonyms and rng.random() < mixing.synonym * (REPEATED if token in said else 1)
            else token
            for token in self.tokens[sentence]
        ]


def _alike(pairs: Iterable[tuple[int, int]]) -> Mapping[int, list[int]]:
    """What says the same as a sentence."""
    paraphrases: dict[int, list[int]] = defaultdict(list)
    for sentence, said in pairs:
        paraphrases[sentence].append(said)
    return paraphrases


def read_pairs(folder: Path) -> list[tuple[str, str]]:
    """(sentence of a profile, utterance that says the same) of a data folder; nothing where the file is not there."""
    path = folder / PAIRS
    if not path.is_file():
        return []
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error}): fetch it again, or train without it", path) from error
    if not isinstance(document, list):
        raise InputError("is not a list of pairs: fetch it again, or train without it", path)
    for pair in document:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise InputError(f"has something that is no pair of texts ({str(pair)[:60]})", path)
    return [(sentence, said) for sentence, said in document]
