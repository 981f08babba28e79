"""Tokenized dialogues that the encoder and the cross-encoder draw training batches from, with augmentation.

Each turn but a dialogue's first is a question to its speaker. Which of the two profiles is shown is drawn anew every
time (none, the own, both, theirs), the own sentences in random order, and sometimes reworded:

- a sentence as an utterance that says the same, from `train_entailed_persona_utterance_pairs.json` where it is there;
- a word as one of like meaning, above all where the reply has the same word, so that repeating it is not enough.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.encoding import SequenceFormat, Sequencer, Tokens, canonical
from understudy.sources.jsonstream import load_json
from understudy.training.dialogues import DialogueSplit, ProfiledDialogue, questions_of

if TYPE_CHECKING:
    from torch import Tensor


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
    document = load_json(path, ": a list of pairs in JSON belongs here, so fetch it again, or do without it")
    if not isinstance(document, list):
        raise InputError("is not a list of pairs: fetch it again, or do without it", path)
    for pair in document:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise InputError(f"has something that is no pair of texts ({str(pair)[:60]})", path)
    return [(sentence, said) for sentence, said in document]


# The encoder's contrastive loss, and the batches it is computed on.
#
#     s_q(c) = q.c    s_h(c) = h.c    s_p(c) = best(p, c)    q the whole context, h its turns, p the profile's sentences
#     loss = CE(t s_q) + CE(t (s_q + 0.4 s_h + 0.4 s_p)) + 0.3 CE(t s_h) + 0.5 CE(t s_q, the other way round)
#            + 0.3 CE(t p.u) over pairs of a profile's sentence and an utterance that says the same
#
# CE is the cross-entropy of the true reply among the replies of the whole batch, some turns of the same dialogues and
# random utterances; what reads the same as the true one does not count. All vectors have length 1, t is 25, and `best`
# is the one of the agent's score (see `understudy.agents.fit`).

WEIGHTS = {"query": 1.0, "history": 0.4, "persona": 0.4}
SHARPNESS = 16.0
SCALE = 25.0
HISTORY, BACKWARDS, PAIRED = 0.3, 0.5, 0.3
# Per question of the batch: random utterances, turns of the same dialogues, pairs.
RANDOM, OWN, PAIRED_TEXTS = 1.0, 0.25, 0.5


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences by kind, and for each profile sentence whose it is.

    `same` says which replies are no negatives of which question, `paired` the same of the pairs.
    """

    sequences: dict[str, list[Ids]]
    owner: NDArray[np.int64]
    same: NDArray[np.bool_]
    paired: NDArray[np.bool_]


def batch_of(
    corpus: TokenizedDialogues, numbers: Sequence[int], make: Sequences, mixing: Mixing, rng: random.Random
) -> Batch:  # fmt: skip
    examples = [corpus.examples[number] for number in numbers]
    shown = [corpus.shown(example, mixing, rng) for example in examples]
    size = len(examples)
    golds = [example.reply for example in examples]
    negatives = rng.choices(corpus.pool, k=round(RANDOM * size))
    negatives += [rng.choice(example.around) for example in rng.sample(examples, round(OWN * size))]
    pairs = rng.choices(corpus.pairs, k=round(PAIRED_TEXTS * size)) if corpus.pairs else []
    replies = np.array([*golds, *negatives])
    return Batch(
        {
            "query": [make.context(example) for example in shown],
            "history": [make.context(Shown([], [], example.turns)) for example in shown],
            "persona": [make.text(sentence, "own") for example in shown for sentence in example.own],
            "reply": [make.text(corpus.tokens[reply], "reply") for reply in replies],
            "sentence": [make.text(corpus.tokens[sentence], "own") for sentence, _ in pairs],
            "said": [make.text(corpus.tokens[said], "reply") for _, said in pairs],
        },
        np.repeat(np.arange(size), [len(example.own) for example in shown]),
        _equal(np.array(golds), replies),
        _equal(*(np.array([pair[side] for pair in pairs]) for side in (0, 0)))
        | _equal(*(np.array([pair[side] for pair in pairs]) for side in (1, 1))),
    )


def _equal(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where two texts are the same one, but for a question's own."""
    equal = np.equal(rows[:, None], columns[None, :])
    np.fill_diagonal(equal, False)
    return equal


def contrast(vectors: Tensor, batch: Batch) -> Tensor:
    """The loss, given the vectors of all the batch's sequences, kind by kind."""
    import torch

    sizes = [len(sequences) for sequences in batch.sequences.values()]
    query, history, persona, reply, sentence, said = torch.split(vectors, sizes)
    same = torch.from_numpy(batch.same).to(vectors.device)
    owner = torch.from_numpy(batch.owner).to(vectors.device)
    by_query, by_history = query @ reply.T, history @ reply.T
    by_persona = best_likeness(persona @ reply.T, owner, len(query))
    together = WEIGHTS["query"] * by_query + WEIGHTS["history"] * by_history + WEIGHTS["persona"] * by_persona
    loss = _cross_entropy(by_query, same) + _cross_entropy(together, same) + HISTORY * _cross_entropy(by_history, same)
    size = len(query)
    loss = loss + BACKWARDS * _cross_entropy(by_query[:, :size].T, same[:, :size].T)
    if len(sentence):
        loss = loss + PAIRED * _cross_entropy(sentence @ said.T, torch.from_numpy(batch.paired).to(vectors.device))
    return loss


def best_likeness(likeness: Tensor, owner: Tensor, rows: int) -> Tensor:
    """1 + (1 / b) ln of the sum over a question's sentences of exp(b (likeness - 1)); 0 where it has none."""
    import torch

    total = likeness.new_zeros(rows, likeness.shape[1])
    total = total.index_add(0, owner, torch.exp(SHARPNESS * (likeness - 1)))
    best = 1 + torch.log(total.clamp(min=1e-30)) / SHARPNESS
    return torch.where(total > 0, best, torch.zeros_like(best))


def _cross_entropy(scores: Tensor, same: Tensor) -> Tensor:
    import torch
    from torch.nn import functional

    logits = (SCALE * scores.float()).masked_fill(same, -1e4)
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))
