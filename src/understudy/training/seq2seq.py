"""Trainers of the models of PersonaChat that write: Seq2Seq and Generative Profile Memory.

    loss = - mean over the tokens w_t of the replies, their ends among them, of ln P(w_t | input, w_1 .. w_t-1)

`agents.lstm` has the network. The weights of the epoch with the lowest loss on held-back
dialogues are kept (early stopping). The rank of a word, on which its weight in the memory depends, is its line in the
file of word vectors where one is given, else its place among the training words by frequency.

The LSTMs learn more slowly than word vectors and output. A step of Adam moves every weight by the rate, so the input of
a gate moves by up to the rate times the number of hidden units; at 1024 times 0.001 the encoder saturates within a few
steps, at the same values whatever it reads, and the decoder learns to ignore it (docs/notes/generation.md).

The paper names GloVe vectors and no sizes: one layer of 1024 units, Adam at 0.001 and dropout are those of the training
scripts that its authors published. The marks between turns, rare words as `<unk>`, and the decoder's cell are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.lstm import (
    LONGEST,
    GenerativeMemory,
    LSTMAgent,
    Seq2Seq,
    decode,
    encode,
    entries_of,
    initial_parameters,
    padded,
    parameter_shapes,
    rarity_weights,
    start_of,
)
from understudy.agents.word_tokens import END, SPECIAL, START, UNKNOWN, TokenVocabulary
from understudy.errors import InputError
from understudy.language.model_folder import FORMAT, ModelFolder, Tensors, texts_as_tensor
from understudy.metrics.overlap import glove_ranks
from understudy.sources.source import sha256_of
from understudy.training.bag_rankers import read_embeddings
from understudy.training.dialogues import (
    CONDITIONS,
    DialogueSplit,
    Profile,
    ProfiledDialogue,
    dialogues_of,
    held_back,
    training_file,
)
from understudy.training.evaluation import ranking_figures
from understudy.training.loop import Loss, Optimization, Progress, on_device
from understudy.training.run import EarlyStopping, TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor


RECURRENT = ("encoder", "decoder", "attention", "combine")
HELD = "held-back training dialogues, people not seen in training"
HELD_BATCH = 32  # dialogues


@dataclass(frozen=True, slots=True)
class Seq2SeqSettings:
    """What decides a training besides its data and seed.

    `hidden` is the size of the LSTMs, `width` that of word vectors (of the file's, where there is one). `rate` is that
    of word vectors and output, `recurrent_rate` that of the LSTMs. A batch is so many dialogues, each from one chair.
    Words seen fewer than `fewest` times are `<unk>`. `patience` is for how many epochs the held-back loss may not fall.
    """

    hidden: int = 1024
    width: int = 300
    epochs: int = 16
    batch: int = 8
    rate: float = 1e-3
    recurrent_rate: float = 1e-4
    dropout: float = 0.4
    fewest: int = 2
    patience: int = 3
    held_back: float = 0.05

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "width", "epochs", "batch", "rate", "recurrent_rate", "fewest", "patience")
        check_shares(self, "held_back", "dropout")

    @property
    def optimization(self) -> Optimization:
        share = self.recurrent_rate / self.rate
        return Optimization(
            self.epochs,
            self.batch,
            self.rate,
            (0.9, 0.999),
            max_grad_norm=1.0,
            slow_prefixes=RECURRENT,
            slow_rate=share,
        )


def train_seq2seq(task: TrainingTask[Path, Seq2SeqSettings], progress: Progress) -> ModelFolder:
    return _train(Seq2Seq, task, progress)


def train_generative_memory(task: TrainingTask[Path, Seq2SeqSettings], progress: Progress) -> ModelFolder:
    return _train(GenerativeMemory, task, progress)


def _train(agent: type[LSTMAgent], task: TrainingTask[Path, Seq2SeqSettings], progress: Progress) -> ModelFolder:
    run = TrainingRun(task, progress)
    settings, condition = task.settings, task.condition
    path = training_file(task.data, task.personas, condition)
    split = held_back(dialogues_of(path), settings.held_back, task.seed)
    vocabulary = TokenVocabulary.of_texts(_texts(split.training), settings.fewest)
    examples = chairs_of(split.training, condition, agent, vocabulary)
    if not examples:
        raise InputError(f"has no profiles to show for the condition '{condition}': choose another", path)
    held = chairs_of(split.held, condition, agent, vocabulary, split.asked)
    vectors = {} if task.embeddings is None else read_embeddings(task.embeddings, vocabulary.words)
    width = len(next(iter(vectors.values()))) if vectors else settings.width
    source = {"file": path.name, "sha256": sha256_of(path)}
    plan: dict[str, Any] = {
        "agent": agent.name,
        "trained_on": task.personas,
        "condition": condition,
        "data": source,
        "settings": {**asdict(settings), "width": width},
        "embeddings": None if task.embeddings is None else sha256_of(task.embeddings),
        "seed": task.seed,
    }
    run.begin({**plan, "format": FORMAT})
    shapes = parameter_shapes(len(vocabulary), width, settings.hidden, has_memory=agent.has_memory)
    start = initial_parameters(shapes, settings.hidden, task.seed)
    for index, word in enumerate(vocabulary.words, len(SPECIAL)):
        if word in vectors:
            start["embedding"][index] = vectors[word] * width**0.5  # they come at length 1
    weights = rarity_weights(_ranks(vocabulary, task))
    placed = on_device(weights, run.device)
    best = run.early_stopping(lambda parameters: held_back_loss(parameters, placed, held), settings.patience)
    loss = _reply_loss(examples, placed, settings.dropout)
    learnt = run.fit(start, loss, len(examples), settings.optimization, best=best if held else None)
    tensors: Tensors = {
        **learnt,
        "words": texts_as_tensor(vocabulary.words),
        **({"memory.weights": weights} if agent.has_memory else {}),
    }
    replies = ReplyCounts.of(examples).replies
    data = {**source, "dialogues": len(split.training), "replies": replies, "vocabulary": len(vocabulary)}
    trained = agent(ModelFolder({**plan, "data": data}, tensors), run.device.type)
    card = run.card(data=data, figures=figures(trained, split, held, best, condition, task.seed))
    return run.write(card, tensors)


def _reply_loss(examples: Sequence[ChairExample], weights: Tensor, dropout: float) -> Loss:
    def loss(parameters: Mapping[str, Tensor], numbers: NDArray[np.int64], _step: int) -> Tensor:
        return reply_losses(parameters, weights, [examples[number] for number in numbers.tolist()], dropout).mean()

    return loss


def held_back_loss(parameters: Mapping[str, Tensor], weights: Tensor, held: Sequence[ChairExample]) -> float:
    """The mean loss of a token over all held-back replies."""
    import torch

    total, tokens = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(held), HELD_BATCH):
            losses = reply_losses(parameters, weights, held[start : start + HELD_BATCH])
            total += float(losses.double().sum())
            tokens += len(losses)
    return total / tokens


def figures(
    trained: LSTMAgent,
    split: DialogueSplit,
    held: Sequence[ChairExample],
    best: EarlyStopping,
    condition: str,
    seed: int,
) -> dict[str, Any]:
    """Perplexities, hits@1 and the share of unknown words on held-back dialogues; empty where none are held back.

    Perplexity per word divides by the words, split at blanks, and an end for each reply.
    """
    if not held:
        return {}
    counts = ReplyCounts.of(held)
    log_prob = min(best.losses) * (counts.tokens + counts.replies)
    return {
        **ranking_figures(trained, split, seed, dict.fromkeys(("none", condition))),
        "of": HELD,
        "replies": counts.replies,
        "perplexity": round(math.exp(log_prob / (counts.words + counts.replies)), 3),
        "perplexity_per_token": round(math.exp(min(best.losses)), 3),
        "unknown": round(counts.unknown / max(counts.tokens, 1), 4),
        "epochs": best.best_epoch,
    }


def _ranks(vocabulary: TokenVocabulary, task: TrainingTask[Path, Seq2SeqSettings]) -> NDArray[np.int64]:
    """The rank of each token by frequency; special tokens rank first, as they occur in every text."""
    if task.embeddings is None:
        return np.maximum(np.arange(len(vocabulary)) - len(SPECIAL) + 1, 1)
    known = glove_ranks(task.embeddings)
    return np.array([known.get(token, len(known) + 1) for token in vocabulary.tokens], np.int64)


def _texts(dialogues: Sequence[ProfiledDialogue]) -> Iterator[str]:
    for dialogue in dialogues:
        yield from (text for _, text in dialogue.turns)
        yield from (sentence for profile in dialogue.profiles for sentence in profile)


# Training examples of the models that write: a dialogue from the chair of one of the two, with all that they said.
#
# The encoder reads a dialogue once for all the replies of a chair: what it has read before a reply is the beginning of
# what it reads in all, so the states after those beginnings are the states of the inputs by themselves.
#
#     loss = - mean over the tokens w_t of the replies, their ends among them, of ln P(w_t | input, w_1 .. w_t-1)


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
    read_input = agent.model_input(vocabulary, *profiles, [])
    length, read = len(read_input.context), 0
    for index, (mine, text) in enumerate(turns):
        if mine and length < LONGEST:
            lengths.append(length)
            replies.append(vocabulary.ids(text))
            words += len(text.split())
            read = index
        length += 1 + len(vocabulary.ids(text))
    read_input = agent.model_input(vocabulary, *profiles, turns[:read])
    return ChairExample(read_input.context, read_input.memory, tuple(lengths), tuple(replies), words)


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
    sizes = torch.tensor([len(reply) + 1 for reply in replies], device=on)
    real = torch.arange(ids.shape[1], device=on) < sizes[:, None]
    targets = torch.tensor([index for reply in replies for index in (*reply, END)], device=on)
    logits = linear(hidden[real], parameters["output.weight"], parameters["output.bias"])
    return cross_entropy(logits, targets, reduction="none")
