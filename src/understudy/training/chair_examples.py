"""Training examples of the models that write: a dialogue from the chair of one of the two, with all that they said.

The encoder reads a dialogue once for all the replies of a chair: what it has read before a reply is the beginning of
what it reads in all, so the states after those beginnings are the states of the inputs by themselves.

    loss = - mean over the tokens w_t of the replies, their ends among them, of ln P(w_t | input, w_1 .. w_t-1)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.agents.lstm import LONGEST, LSTMAgent, decode, encode, entries_of, padded, start_of
from understudy.agents.word_tokens import END, START, UNKNOWN, TokenVocabulary
from understudy.training.dialogues import CONDITIONS, Profile, ProfiledDialogue

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ChairExample", "ReplyCounts", "chairs_of", "reply_losses"]


@dataclass(frozen=True, slots=True)
class ChairExample:
    """What is read and the memory; for each reply, how many tokens are read before it, and its tokens."""

    context: Sequence[int]
    memory: Sequence[Sequence[int]]
    lengths: tuple[int, ...]
    replies: tuple[tuple[int, ...], ...]
    words: int
    """Of the replies, split at blanks."""


@dataclass(frozen=True, slots=True)
class ReplyCounts:
    """What the perplexities of some replies are divided by."""

    replies: int
    words: int
    tokens: int
    unknown: int

    @classmethod
    def of(cls, examples: Iterable[ChairExample]) -> ReplyCounts:
        replies = words = tokens = unknown = 0
        for example in examples:
            replies += len(example.replies)
            words += example.words
            tokens += sum(map(len, example.replies))
            unknown += sum(ids.count(UNKNOWN) for ids in example.replies)
        return cls(replies, words, tokens, unknown)


def chairs_of(
    dialogues: Iterable[ProfiledDialogue],
    condition: str,
    agent: type[LSTMAgent],
    vocabulary: TokenVocabulary,
    asked: frozenset[Profile] | None = None,
) -> list[ChairExample]:
    """The examples of both chairs, or of those with the profiles asked; without those that lack a profile to show."""
    examples = []
    shown = CONDITIONS[condition]
    for dialogue in dialogues:
        for chair in (0, 1):
            own, partner = dialogue.profiles[chair], dialogue.profiles[1 - chair]
            if (asked is not None and own not in asked) or any(
                not profile for name, profile in (("own", own), ("their", partner)) if name in shown
            ):
                continue
            profiles = (own if "own" in shown else (), partner if "their" in shown else ())
            example = _example(dialogue, chair, profiles, agent, vocabulary)
            if example.replies:
                examples.append(example)
    return examples


def _example(
    dialogue: ProfiledDialogue,
    chair: int,
    profiles: tuple[Profile, Profile],
    agent: type[LSTMAgent],
    vocabulary: TokenVocabulary,
) -> ChairExample:
    turns = [(speaker == chair, text) for speaker, text in dialogue.turns]
    lengths, replies, words = list[int](), list[tuple[int, ...]](), 0
    given = agent.model_input(vocabulary, *profiles, [])
    length, read = len(given.context), 0
    for index, (mine, text) in enumerate(turns):
        if mine and length < LONGEST:
            lengths.append(length)
            replies.append(vocabulary.ids(text))
            words += len(text.split())
            read = index
        length += 1 + len(vocabulary.ids(text))
    given = agent.model_input(vocabulary, *profiles, turns[:read])
    return ChairExample(given.context, given.memory, tuple(lengths), tuple(replies), words)


def reply_losses(
    parameters: Mapping[str, Tensor], weights: Tensor, examples: Sequence[ChairExample], dropout: float = 0.0
) -> Tensor:
    """-ln P of every token of the examples' replies."""
    import torch
    from torch.nn.functional import cross_entropy, linear

    on = weights.device
    states = encode(parameters, padded([example.context for example in examples], on), dropout)
    owners = torch.tensor([row for row, example in enumerate(examples) for _ in example.replies], device=on)
    last = torch.tensor([length - 1 for example in examples for length in example.lengths], device=on)
    entries = entries_of(parameters, weights, [example.memory for example in examples], on)
    replies = [ids for example in examples for ids in example.replies]
    ids = padded([(START, *reply) for reply in replies], on)
    hidden = decode(
        parameters, start_of(states[owners, last]), None if entries is None else entries.take(owners), ids, dropout
    )
    sizes = torch.from_numpy(_sizes(replies)).to(on)
    real = torch.arange(ids.shape[1], device=on) < sizes[:, None]
    targets = torch.tensor([index for reply in replies for index in (*reply, END)], device=on)
    logits = linear(hidden[real], parameters["output.weight"], parameters["output.bias"])
    return cross_entropy(logits, targets, reduction="none")


def _sizes(replies: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.array([len(reply) + 1 for reply in replies], np.int64)
