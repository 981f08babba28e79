"""Scoring files of lines: of each line, written so that a stopped run can go on, and of all lines together (metrics of
whole sets).

`inputs` reads lines and splits files into parts. Here they are scored one after another, in this process; where they
are too many for that, `engine` distributes parts to workers with Daft, on this machine's cores or on a Ray cluster, and
`output` has the worker that scores a part and writes the scores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from understudy.errors import InputError
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.psprob import SetMetric, persona_accuracy, personality_classification_accuracy
from understudy.metrics.registry import MetricContext
from understudy.metrics.scoring.inputs import pieces
from understudy.story.dialogue import Score

Row = dict[str, Any]
"""One line: {line, text, scores: {metric: value or null}, reasons: {metric: text}}."""

PERSONALITY, PERSONA = "personality_classification_accuracy", "persona_accuracy"
SETS = (PERSONALITY, PERSONA)
"""Metrics of whole sets: one figure for all lines of a file."""

SAME = 1e-3  # two runs' values of one line: compiled loops and plain ones differ by less
BEGINNING = b'{"line": '  # of every line that is written
FORCE = "say --force to begin anew, or -o for another place"


def score_rows(
    file: Path, metrics: Sequence[LineMetric], explained: float, skip: int = 0, column: str | None = None
) -> Iterator[Row]:
    """The scores of each line of a file after the first `skip`, up to line `explained` with their reasons."""
    begun = 0
    for piece in pieces(file, text=column):
        left = piece[max(skip - begun, 0) :]
        first = begun + len(piece) - len(left) + 1
        begun += len(piece)
        if left:
            yield from _scored(left, first, metrics, explained)


def _scored(texts: list[str], first: int, metrics: Sequence[LineMetric], explained: float) -> Iterator[Row]:
    lines = metrics[0].samples.tokenize(texts)
    values = [metric.values(lines).tolist() for metric in metrics]
    for index, (text, row_values) in enumerate(zip(texts, zip(*values))):
        scores = {metric.name: None if math.isnan(value) else value for metric, value in zip(metrics, row_values)}
        reasons = {
            metric.name: metric.reason(lines, index, value)
            for metric, value in zip(metrics, row_values)
            if first + index <= explained or math.isnan(value)
        }
        yield {"line": first + index, "text": text, "scores": scores, **({"reasons": reasons} if reasons else {})}


@dataclass(slots=True)
class Tally:
    """The number of lines, and for each metric the sum of its values and how many lines have none."""

    count: int
    sums: dict[str, float]
    missing: dict[str, int]

    @classmethod
    def empty(cls, metrics: Sequence[LineMetric] = ()) -> Tally:
        return cls(0, {metric.name: 0.0 for metric in metrics}, {metric.name: 0 for metric in metrics})

    @classmethod
    def total(cls, tallies: Sequence[Tally]) -> Tally:
        names = tallies[0].sums
        return cls(
            sum(tally.count for tally in tallies),
            {name: sum(tally.sums[name] for tally in tallies) for name in names},
            {name: sum(tally.missing[name] for tally in tallies) for name in names},
        )

    def add(self, row: Row) -> None:
        self.count += 1
        for name in self.sums:
            value = row["scores"].get(name)
            if value is None:
                self.missing[name] += 1
            else:
                self.sums[name] += value

    def document(self) -> Row:
        """Of each metric the mean of those that have a value, and how many have none."""
        scored = {name: self.count - missing for name, missing in self.missing.items()}
        return {
            name: {"mean": total / scored[name] if scored[name] else None, "missing": self.missing[name]}
            for name, total in self.sums.items()
        }


def write_scores(
    file: Path,
    metrics: Sequence[LineMetric],
    output: Path,
    why: bool,
    done: Callable[[int], object],
    column: str | None = None,
) -> Tally:
    """A line of JSON for each line, after those that an earlier run has written; `done` is told how many there are."""
    summary = Tally.empty(metrics)
    last = _written(output, summary)
    rows = score_rows(file, metrics, math.inf if why else 0, skip=max(summary.count - 1, 0), column=column)
    first = list(islice(rows, 1))  # before the file is made: lines that cannot be read leave nothing behind
    with output.open("a", encoding="utf-8", newline="\n") as out:
        for row in chain(first, rows):
            if last is not None:  # scored again, to see that it is the same run that goes on
                _must_agree(last, row, output)
                last = None
                continue
            summary.add(row)
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            done(summary.count)
    if last is not None:
        raise InputError(f"has {summary.count:,} lines, more than there are to score: {FORCE}", output)
    return summary


def _written(output: Path, summary: Tally) -> Row | None:
    """What an earlier run has written is added up; its last whole line is returned, and what is broken off goes."""
    if not output.is_file():  # not there, or something that can only be written to, as /dev/stdout
        return None
    row, whole = None, 0
    with output.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                _must_be_ours(line.startswith(BEGINNING) or BEGINNING.startswith(line), output, number)
                break
            row = _row(line, number, output)
            summary.add(row)
            whole += len(line)
    with output.open("rb+") as file:
        file.truncate(whole)
    return row


def _row(line: bytes, number: int, output: Path) -> Row:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    ours = isinstance(row, dict) and row.get("line") == number and isinstance(row.get("text"), str)
    scores = row.get("scores") if ours else None
    _must_be_ours(
        isinstance(scores, dict) and all(value is None or isinstance(value, float | int) for value in scores.values()),
        output, number,
    )  # fmt: skip
    return cast(Row, row)


def _must_be_ours(ours: bool, output: Path, number: int) -> None:
    if not ours:
        raise InputError(f"is there already and holds something else: {FORCE}", output, number)


def _must_agree(written: Row, row: Row, output: Path) -> None:
    if list(written["scores"]) != list(row["scores"]):
        raise InputError(f"was written with other metrics: {FORCE}", output, row["line"])
    pairs = zip(written["scores"].values(), row["scores"].values())
    if written["text"] != row["text"] or not all(_equal(before, after) for before, after in pairs):
        message = f"was written from other lines, or for another character or moment: {FORCE}"
        raise InputError(message, output, row["line"])


def _equal(before: float | None, after: float | None) -> bool:
    return (
        before is after if before is None or after is None else math.isclose(before, after, rel_tol=SAME, abs_tol=1e-9)
    )


def set_metrics(
    names: Iterable[str], grounds: MetricContext, labelled: tuple[Sequence[str], Sequence[str]] | None
) -> list[SetMetric]:
    """Metrics by name. `persona_accuracy` is learnt from lines that somebody called fit, and lines called unfit."""
    metrics = []
    for name in names:
        if name == PERSONALITY:
            metrics.append(personality_classification_accuracy(grounds.samples, grounds.situation.persona.name))
        else:
            assert labelled is not None
            metrics.append(persona_accuracy(*labelled, grounds.samples.language))
    return metrics


def score_sets(batches: Iterable[list[str]], metrics: Sequence[SetMetric]) -> tuple[int, list[Score]]:
    """How many lines there are, and each metric's share over all of them; lines without words take no part."""
    count, totals = 0, [(0, 0) for _ in metrics]
    for piece in batches:
        count += len(piece)
        counts = [metric.count(piece) for metric in metrics]
        totals = [(hits + more, spoken + with_words) for (hits, spoken), (more, with_words) in zip(totals, counts)]
    return count, [metric.score(hits, spoken) for metric, (hits, spoken) in zip(metrics, totals)]
