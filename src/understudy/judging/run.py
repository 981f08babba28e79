"""A file of lines through the rules and into the database, some at a time: a run that is stopped goes on where it was.

Lines enter with their scores and what the rules decided: approved, rejected, or pending where a rule could not judge.
Blank lines are passed over. What a piece of the file brought, and how far the run has come, is written in one go.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.dialogue import Score
from understudy.judging.rules import Rule, judge
from understudy.metrics.line_metric import LineMetric
from understudy.story import Moment
from understudy.utterances import APPROVED, FILTER, Utterance, UtteranceStore

__all__ = ["Entry", "Outcome", "filter_lines", "run_of"]

HEAD = 1 << 16  # bytes of a file that, with its size, tell it from another

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Entry:
    """Whose lines they are, in which story, when they may be said, and which file they come from."""

    story: str
    character: str
    since: Moment
    until: Moment
    file: Path


@dataclass
class Outcome:
    """How many lines were decided how in this run, how many of them were new, how many an earlier run had done."""

    decided: Counter[str] = field(default_factory=Counter)
    new: int = 0
    before: int = 0


def run_of(entry: Entry, rules: Sequence[Rule]) -> str:
    """Tells one run from another: the same file for the same character and time by the same rules is the same run."""
    digest = blake2b(digest_size=16)
    if entry.file.is_file():
        with entry.file.open("rb") as file:
            digest.update(file.read(HEAD))
        digest.update(str(entry.file.stat().st_size).encode())
    fields = (entry.file.name, entry.story, entry.character, entry.since.dotted, entry.until.dotted, *map(str, rules))
    digest.update("\0".join(fields).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def filter_lines(
    pieces: Iterable[list[str]],
    metrics: Sequence[LineMetric],
    rules: Sequence[Rule],
    store: UtteranceStore,
    entry: Entry,
    encode: Encode | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Outcome:
    """Judge lines and keep them. `encode` makes the vectors by which approved lines are found again."""
    run = run_of(entry, rules)
    outcome = Outcome(before=store.reached(run))
    line = 0
    for piece in pieces:
        first, line = line + 1, line + len(piece)
        left = [(first + index, text) for index, text in enumerate(piece) if first + index > outcome.before]
        said = [(number, text.strip()) for number, text in left if text.strip()]
        if left:
            utterances = _scored(said, metrics, entry)
            decisions = [judge(utterance.scores, rules).decision for utterance in utterances]
            outcome.new += store.advance(
                run, line, utterances, decisions, FILTER, _vectors(utterances, decisions, encode)
            )
            outcome.decided.update(decisions)
        progress(line)
    return outcome


def _scored(said: Sequence[tuple[int, str]], metrics: Sequence[LineMetric], entry: Entry) -> list[Utterance]:
    if not said:
        return []
    cut = metrics[0].samples.tokenize([text for _, text in said])
    values = {metric.name: metric.values(cut).tolist() for metric in metrics}
    return [
        Utterance(
            text,
            entry.character,
            entry.since,
            entry.until,
            {
                metric.name: Score(
                    metric.name,
                    None if math.isnan(value := values[metric.name][index]) else value,
                    metric.reason(cut, index, value),
                )
                for metric in metrics
            },
            entry.file.name,
            number,
            entry.story,
        )
        for index, (number, text) in enumerate(said)
    ]


def _vectors(
    utterances: Sequence[Utterance], decisions: Sequence[str], encode: Encode | None
) -> list[NDArray[np.float32] | None]:
    """Only what may be said need be found again."""
    vectors: list[NDArray[np.float32] | None] = [None] * len(utterances)
    approved = [index for index, decision in enumerate(decisions) if decision == APPROVED]
    if encode is not None and approved:
        for index, vector in zip(approved, encode([utterances[index].text for index in approved])):
            vectors[index] = vector
    return vectors
