"""What BERT over BERT learns from: replies in their contexts, and pairs of sentences.

    data/train_*.txt              PersonaChat: every turn of a dialogue is a reply, from both chairs
    data/*.json                   HPD's sessions: every line of the character whose relations are annotated
    nli/nli-train.txt             Dialogue NLI: sentence</s>sentence</s>label, read in both orders
    nli/*_{positive,negative}.tsv premise<TAB>hypothesis

Held back are people of PersonaChat with all their dialogues, or sessions of HPD.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy.agents.bob import DialogueSequencer, conditioned_context
from understudy.agents.bob_network import CONSISTENCY, RESPONSE, BertOverBert, PaddedBatch, padded
from understudy.errors import InputError
from understudy.formats.hpd import dialogue_examples
from understudy.formats.recognition import hpd_files
from understudy.language.encoding import Context
from understudy.sources.source import SourceFile, sha256_of
from understudy.story.dialogue import Example
from understudy.training.dialogues import (
    CONDITIONS,
    ReplyQuestion,
    dialogues_of,
    held_back,
    questions_of,
    training_file,
)

if TYPE_CHECKING:
    from torch import Tensor, device


NLI_FILES = ("nli-train.txt", "nli-valid.txt")
NLI_LABELS = {"negative": 0, "neutral": 1, "positive": 2}
TABLES = ("*_positive.tsv", "*_negative.tsv")

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LearntReply:
    """A reply that was given, and its context."""

    context: Context
    text: str


@dataclass(frozen=True, slots=True)
class ReplySplit:
    """Replies to learn from, replies held back, and the files they come from with their digests."""

    training: list[LearntReply]
    held_out: list[LearntReply]
    files: dict[str, str]
    dialogues: int


@dataclass(frozen=True, slots=True)
class NliPairs:
    """Pairs of premise and hypothesis: entailed and contradicted."""

    entailed: list[Pair] = field(default_factory=list)
    contradicted: list[Pair] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


def read_replies(data: Path, personas: str, condition: str, share: float, seed: int) -> ReplySplit:
    """The replies of a folder, a share of its people or sessions held back."""
    if not any(data.glob("train_*.txt")) and (sessions := hpd_files(data)):
        split = _session_replies(sessions, share, seed)
    else:
        path = training_file(data, personas, condition)
        people = held_back(dialogues_of(path), share, seed)
        split = ReplySplit(
            [_question_reply(question, condition) for question in questions_of(people.training, condition)],
            [_question_reply(question, condition) for question in questions_of(people.held, condition, people.asked)],
            {path.name: sha256_of(path)},
            len(people.training),
        )
    if not split.training:
        raise InputError("has no reply to learn from", data)
    return split


def _question_reply(question: ReplyQuestion, condition: str) -> LearntReply:
    shown = CONDITIONS[condition]
    own, theirs = question.own if "own" in shown else (), question.their if "their" in shown else ()
    return LearntReply(Context(own, theirs, question.history), question.reply)


def _session_replies(paths: Sequence[Path], share: float, seed: int) -> ReplySplit:
    sessions = [list(examples) for path in paths for examples in _by_session(dialogue_examples(SourceFile(path)))]
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    held_out = frozenset(rng.sample(range(len(sessions)), round(len(sessions) * share)))
    parts: tuple[list[LearntReply], list[LearntReply]] = ([], [])
    for index, examples in enumerate(sessions):
        parts[index in held_out].extend(
            LearntReply(conditioned_context(example.situation, example.history), example.candidates[0])
            for example in examples
        )
    return ReplySplit(*parts, {path.name: sha256_of(path) for path in paths}, len(sessions) - len(held_out))


def _by_session(examples: Iterator[Example]) -> Iterator[Iterator[Example]]:
    return (group for _, group in groupby(examples, key=lambda example: example.name.rpartition(".")[0]))


def read_nli(folder: Path | None) -> NliPairs:
    """The pairs of a folder; none without one."""
    pairs = NliPairs()
    if folder is None:
        return pairs
    if (path := folder / NLI_FILES[0]).is_file():
        pairs.files[path.name] = sha256_of(path)
        for first, second, label in read_nli_pairs(path):
            if label != NLI_LABELS["neutral"]:
                chosen = pairs.entailed if label == NLI_LABELS["positive"] else pairs.contradicted
                chosen += [(first, second), (second, first)]
    for pattern, labelled in zip(TABLES, (pairs.entailed, pairs.contradicted)):
        for path in sorted(folder.glob(pattern)):
            pairs.files[path.name] = sha256_of(path)
            labelled.extend(_read_table(path))
    if not pairs.files:
        raise InputError(f"has neither {NLI_FILES[0]} nor {' nor '.join(TABLES)}: give a folder that has", folder)
    return pairs


def read_nli_pairs(path: Path) -> list[tuple[str, str, int]]:
    """The pairs of one of Dialogue NLI's files, each with its label as a number of NLI_LABELS."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise InputError(
            f"is not there: a folder with {' and '.join(NLI_FILES)} of Dialogue NLI belongs here", path
        ) from error
    except ValueError as error:
        raise InputError(f"is not UTF-8 ({error})", path) from error
    pairs = []
    for number, line in enumerate(lines, 1):
        first, second, label, *more = [*line.split("</s>"), "", "", ""]
        if label.strip() not in NLI_LABELS or any(more) or not first.strip() or not second.strip():
            raise InputError(
                f"line {number} is not 'sentence</s>sentence</s>label', a label of {', '.join(NLI_LABELS)}", path
            )
        pairs.append((first.strip(), second.strip(), NLI_LABELS[label.strip()]))
    if not pairs:
        raise InputError("is empty: there is nothing to learn from", path)
    return pairs


def _read_table(path: Path) -> Iterator[Pair]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        premise, _, hypothesis = (part.strip() for part in line.partition("\t"))
        if not premise or not hypothesis:
            raise InputError("is not 'premise<TAB>hypothesis'", path, number)
        yield premise, hypothesis


# The loss of BERT over BERT (Song et al., 2021).
#
#   L   = NLL1 + alpha NLL2 + beta UL+ + (1 - beta) UL-
#   NLL = - mean over the tokens of replies of ln p(y_t | y<t, context, persona)      of D1 and of D2
#   UL+ = - mean over the tokens of hypotheses h of ln p(h_t | h<t, premise)          premise entails h; of D2
#   UL- = - mean over the tokens of hypotheses h of ln(1 - p(h_t | h<t, premise))     premise contradicts h; of D2
#
# A premise stands where a persona does, and D2 reads no D1 with it. UL- is the unlikelihood of Welleck et al. (2020):
# the tokens of what contradicts the persona become less probable.

LARGEST = 1 - 1e-6  # of a probability: its unlikelihood stays finite


class ReplyBatch(NamedTuple):
    contexts: PaddedBatch
    personas: PaddedBatch
    replies: PaddedBatch


class NliBatch(NamedTuple):
    """Pairs of a premise and a hypothesis: first those that it entails, then those that it contradicts."""

    premises: PaddedBatch
    hypotheses: PaddedBatch
    entailed: int


def negative_log_likelihood(logits: Tensor, targets: Tensor) -> Tensor:
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits.float(), targets)


def unlikelihood(log_probs: Tensor) -> Tensor:
    """- mean of ln(1 - p)."""
    return -(-log_probs.exp().clamp(max=LARGEST)).log1p().mean()


def reply_losses(network: BertOverBert, batch: ReplyBatch) -> tuple[Tensor, Tensor]:
    """NLL of the response decoder and of the consistency decoder."""
    inputs, targets, predicting = batch.replies.predictions()
    response = network.response(inputs, network.encode(batch.contexts))
    consistency = network.consistency(inputs, network.persona(batch.personas), response)
    return (
        negative_log_likelihood(network.logits(RESPONSE, response.flatten(0, 1)[predicting]), targets),
        negative_log_likelihood(network.logits(CONSISTENCY, consistency.flatten(0, 1)[predicting]), targets),
    )


def pair_loss(network: BertOverBert, pairs: NliBatch, beta: float) -> Tensor:
    """beta UL+ + (1 - beta) UL-; one of them alone where all pairs are of one kind."""
    from torch.nn.functional import cross_entropy

    inputs, targets, predicting = pairs.hypotheses.predictions()
    states = network.consistency(inputs, network.persona(pairs.premises), None).flatten(0, 1)[predicting]
    log_probs = -cross_entropy(network.logits(CONSISTENCY, states).float(), targets, reduction="none")
    tokens = sum(length - 1 for length in pairs.hypotheses.lengths[: pairs.entailed])
    entailed, contradicted = log_probs[:tokens], log_probs[tokens:]
    total = log_probs.new_zeros(())
    if len(entailed):
        total = total - beta * entailed.mean()
    if len(contradicted):
        total = total + (1 - beta) * unlikelihood(contradicted)
    return total


def total_loss(network: BertOverBert, replies: ReplyBatch, pairs: NliBatch | None, alpha: float, beta: float) -> Tensor:
    """L, without the pairs' part where there are none."""
    response, consistency = reply_losses(network, replies)
    total = response + alpha * consistency
    return total if pairs is None else total + pair_loss(network, pairs, beta)


# Replies and pairs of sentences as token ids, and batches of them.

REPLY_TOKENS = 64


class ReplySequences:
    """Replies, their contexts and personas as token ids."""

    def __init__(self, replies: Sequence[LearntReply], sequencer: DialogueSequencer) -> None:
        contexts = [reply.context for reply in replies]
        self._contexts, self._personas = sequencer.contexts(contexts), sequencer.personas(contexts)
        self._replies = sequencer.replies([reply.text for reply in replies], REPLY_TOKENS)
        self._words = [len(reply.text.split()) + 1 for reply in replies]

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def tokens(self) -> int:
        """Tokens that are predicted: all of a reply but the first."""
        return sum(len(reply) - 1 for reply in self._replies)

    @property
    def words(self) -> int:
        """Words between blanks, and an end for every reply."""
        return sum(self._words)

    def batch(self, chosen: Sequence[int], on: device) -> ReplyBatch:
        return ReplyBatch(
            *(padded([rows[index] for index in chosen], on) for rows in (self._contexts, self._personas, self._replies))
        )


class PairSequences:
    """Premises and hypotheses as token ids, drawn at random."""

    def __init__(self, pairs: NliPairs, sequencer: DialogueSequencer) -> None:
        self._entailed, self._contradicted = (
            list(
                zip(
                    sequencer.premises([premise for premise, _ in some]),
                    sequencer.replies([hypothesis for _, hypothesis in some], REPLY_TOKENS),
                )
            )
            for some in (pairs.entailed, pairs.contradicted)
        )

    def draw(self, size: int, rng: np.random.Generator, on: device) -> NliBatch | None:
        """So many of each kind that there is."""
        entailed, contradicted = (
            [some[index] for index in rng.integers(len(some), size=size).tolist()] if some else []
            for some in (self._entailed, self._contradicted)
        )
        drawn = [*entailed, *contradicted]
        if not drawn:
            return None
        premises, hypotheses = zip(*drawn)
        return NliBatch(padded(premises, on), padded(hypotheses, on), len(entailed))
