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

from understudy.agents.bob.inputs import conditioned_context
from understudy.dialogue import Example
from understudy.encoding import Context
from understudy.errors import InputError
from understudy.readers import hpd
from understudy.readers.source import SourceFile
from understudy.training.contradiction import NAMES, read_pairs
from understudy.training.dialogues import (
    CONDITIONS,
    ReplyQuestion,
    dialogues_of,
    held_back,
    questions_of,
    sha256_of,
    training_file,
)

__all__ = ["LearntReply", "NliPairs", "ReplySplit", "read_nli", "read_replies"]

NLI_FILE = "nli-train.txt"
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
    if not any(data.glob("train_*.txt")) and (sessions := _session_files(data)):
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


def _session_files(data: Path) -> list[Path]:
    return [path for path in sorted(data.glob("*.json")) if hpd.READER.recognises(SourceFile(path).head(), path)]


def _session_replies(paths: Sequence[Path], share: float, seed: int) -> ReplySplit:
    sessions = [list(examples) for path in paths for examples in _by_session(hpd.dialogue_examples(SourceFile(path)))]
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
    if (path := folder / NLI_FILE).is_file():
        pairs.files[path.name] = sha256_of(path)
        for first, second, label in read_pairs(path):
            if label != NAMES["neutral"]:
                chosen = pairs.entailed if label == NAMES["positive"] else pairs.contradicted
                chosen += [(first, second), (second, first)]
    for pattern, labelled in zip(TABLES, (pairs.entailed, pairs.contradicted)):
        for path in sorted(folder.glob(pattern)):
            pairs.files[path.name] = sha256_of(path)
            labelled.extend(_read_table(path))
    if not pairs.files:
        raise InputError(f"has neither {NLI_FILE} nor {' nor '.join(TABLES)}: give a folder that has", folder)
    return pairs


def _read_table(path: Path) -> Iterator[Pair]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        premise, _, hypothesis = (part.strip() for part in line.partition("\t"))
        if not premise or not hypothesis:
            raise InputError("is not 'premise<TAB>hypothesis'", path, number)
        yield premise, hypothesis
