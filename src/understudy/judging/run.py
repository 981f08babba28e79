"""Judge the lines of a file by rules and add them to the database, in batches; a run that was stopped can continue.

Lines are stored with their scores and the decision: approved, rejected, or pending where a rule could not judge. Blank
lines are skipped. The lines of a batch and how far the run has come are written in one transaction.
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

from understudy.judging.rules import Rule, judge
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.utterances.record import APPROVED, FILTER, Utterance
from understudy.metrics.utterances.store import UtteranceStore
from understudy.story.dialogue import Score
from understudy.story.types import Moment

__all__ = ["FilterJob", "Outcome", "filter_lines", "run_id"]

HEAD = 1 << 16  # bytes of a file that identify it, with its size

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class FilterJob:
    """The file, the story and character its lines are for, and when they may be said."""

    story: str
    character: str
    since: Moment
    until: Moment
    file: Path
    column: str = ""
    """The column of a table, or key of JSON lines, that was named for the text."""


@dataclass
class Outcome:
    """How many lines got which decision in this run, how many are new, and how many an earlier run had done before."""

    decided: Counter[str] = field(default_factory=Counter)
    new: int = 0
    before: int = 0


def run_id(job: FilterJob, rules: Sequence[Rule]) -> str:
    """Identifies a run: the same file for the same character and time by the same rules."""
    digest = blake2b(digest_size=16)
    if job.file.is_file():
        with job.file.open("rb") as file:
            digest.update(file.read(HEAD))
        digest.update(str(job.file.stat().st_size).encode())
    fields = (
        *filter(None, [job.column]),
        job.file.name,
        job.story,
        job.character,
        job.since.dotted,
        job.until.dotted,
        *map(str, rules),
    )
    digest.update("\0".join(fields).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def filter_lines(
    batches: Iterable[list[str]],
    metrics: Sequence[LineMetric],
    rules: Sequence[Rule],
    store: UtteranceStore,
    job: FilterJob,
    encode: Encode | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Outcome:
    """Judge lines and store them. `encode` makes the vectors of approved lines."""
    run = run_id(job, rules)
    outcome = Outcome(before=store.reached(run))
    line = 0
    for batch in batches:
        first, line = line + 1, line + len(batch)
        left = [(first + index, text) for index, text in enumerate(batch) if first + index > outcome.before]
        numbered = [(number, text.strip()) for number, text in left if text.strip()]
        if left:
            utterances = _scored(numbered, metrics, job)
            decisions = [judge(utterance.scores, rules).decision for utterance in utterances]
            outcome.new += store.advance(
                run, line, utterances, decisions, FILTER, _vectors(utterances, decisions, encode)
            )
            outcome.decided.update(decisions)
        progress(line)
    return outcome


def _scored(numbered: Sequence[tuple[int, str]], metrics: Sequence[LineMetric], job: FilterJob) -> list[Utterance]:
    if not numbered:
        return []
    cut = metrics[0].samples.tokenize([text for _, text in numbered])
    values = {metric.name: metric.values(cut).tolist() for metric in metrics}
    return [
        Utterance(
            text,
            job.character,
            job.since,
            job.until,
            {
                metric.name: Score(
                    metric.name,
                    None if math.isnan(value := values[metric.name][index]) else value,
                    metric.reason(cut, index, value),
                )
                for metric in metrics
            },
            job.file.name,
            number,
            job.story,
        )
        for index, (number, text) in enumerate(numbered)
    ]


def _vectors(
    utterances: Sequence[Utterance], decisions: Sequence[str], encode: Encode | None
) -> list[NDArray[np.float32] | None]:
    """Vectors of the approved lines; the others cannot be said and need none."""
    vectors: list[NDArray[np.float32] | None] = [None] * len(utterances)
    approved = [index for index, decision in enumerate(decisions) if decision == APPROVED]
    if encode is not None and approved:
        for index, vector in zip(approved, encode([utterances[index].text for index in approved])):
            vectors[index] = vector
    return vectors
