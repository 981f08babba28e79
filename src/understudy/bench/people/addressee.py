"""Whom is a line said to? Novels of PDNC, read as if they were scripts.

A passage is a run of quotations without a gap of more than 2,000 bytes; *present* are those who speak in it. Judged are
lines around which three or more speak (within five lines before and after, in the passage), and of whose annotated
addressees one at least is present: `coverage` is the share of such lines among those with three or more speakers. A
choice is always among all who are present but the speaker.

    accuracy            the one chosen is among the addressees
    accuracy (single)   the same, of lines with exactly one addressee
    exact               the likeliest, and whoever is at least a tenth as likely, are exactly the addressees present
    calibration_error   of the probabilities, over lines with exactly one addressee and all who are present

Each novel is judged by a model of all other novels of the data. Intervals are bootstraps over novels (over the lines
of a single one). Beside the model:
the rule 'who is called by name, else the last other speaker, else the next', whoever speaks most in the passage, and
chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy.bench.run import Row, figure_row, sampled
from understudy.language.lexical.rows import Reals
from understudy.metrics.statistics import calibration_error, interval
from understudy.training.addressee import STRENGTH, AddressedLine, held_out, novel_lines
from understudy.training.pdnc import novels_in

if TYPE_CHECKING:
    from understudy.bench.people import BenchInputs


FOLDER = "pdnc"
FILES = (f"{FOLDER}/*/quotation_info.csv", f"{FOLDER}/*/character_info.csv")
WINDOW = 5  # lines before and after
SPEAKERS = 3
LIKELY = 0.1  # of the largest probability


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """A line with what the model makes of it."""

    line: AddressedLine
    probabilities: Reals

    @property
    def chosen(self) -> str:
        return self.line.others[int(self.probabilities.argmax())]

    @property
    def chosen_set(self) -> frozenset[str]:
        least = LIKELY * self.probabilities.max()
        return frozenset(who for who, p in zip(self.line.others, self.probabilities) if p >= least)


def addressee(inputs: BenchInputs) -> list[Row]:
    crowded = [judged for judged in _judged(inputs) if _speakers_near(judged.line) >= SPEAKERS]
    answerable = [judged for judged in crowded if judged.line.is_gold.any()]
    if not answerable:
        return [
            figure_row(
                {"task": "addressee"}, "accuracy", "no line has three speakers around it and an addressee present"
            )
        ]
    answerable = sampled(answerable, inputs.limit, inputs.seed)
    single = [judged for judged in answerable if len(judged.line.gold) == 1]
    rows = [
        made
        for model, mark in MARKS.items()
        for condition, lines in ((None, answerable), ("single", single))
        for made in _figures("accuracy", [mark(judged) for judged in lines], lines, inputs.seed, model, condition)
    ]
    rows += _exact_rows(answerable, inputs.seed)
    rows += _spread_rows(answerable)
    if single:
        pairs = np.concatenate([judged.probabilities for judged in single])
        truth = np.concatenate([judged.line.is_gold for judged in single])
        error = calibration_error(pairs, truth), len(pairs)
        rows.append(figure_row({"task": "addressee", "model": "model"}, "calibration_error", error))
    covered = [float(judged.line.is_gold.any()) for judged in crowded]
    rows += _figures("coverage", covered, crowded, inputs.seed, "model", None)
    return sorted(rows, key=lambda each: list(MARKS).index(each["model"]))


def _judged(inputs: BenchInputs) -> Iterator[JudgedLine]:
    judged = {folder.name: novel_lines(folder) for folder in novels_in(inputs.judged / FOLDER)}
    known = {folder.name: novel_lines(folder, with_silent=True) for folder in novels_in(inputs.data / FOLDER)}

    def progress(done: int, total: int, _loss: float) -> None:
        inputs.progress("Addressees, novel by novel", done, total)

    for line, probabilities in held_out(judged, known, STRENGTH, progress):
        yield JudgedLine(line, probabilities)


def _speakers_near(line: AddressedLine) -> int:
    near = line.dialogue.cues[max(0, line.index - WINDOW) : line.index + WINDOW + 1]
    return len({cues.speaker for cues in near})


def _by_rule(line: AddressedLine) -> str:
    called = [who for who in line.others if who in line.dialogue.cues[line.index].called]
    cues, speaker = line.dialogue.cues, line.dialogue.cues[line.index].speaker
    before = (each.speaker for each in reversed(cues[: line.index]))
    after = (each.speaker for each in cues[line.index + 1 :])
    return called[0] if called else next(who for who in (*before, *after) if who != speaker)


def _most_frequent(line: AddressedLine) -> str:
    spoken = Counter(cues.speaker for cues in line.dialogue.cues)
    return max(line.others, key=lambda who: spoken[who])


MARKS: dict[str, Callable[[JudgedLine], float]] = {
    "model": lambda judged: judged.chosen in judged.line.gold,
    "rule": lambda judged: _by_rule(judged.line) in judged.line.gold,
    "most frequent": lambda judged: _most_frequent(judged.line) in judged.line.gold,
    "chance": lambda judged: float(judged.line.is_gold.mean()),
}
"""What each way to choose earns on a line."""


def _exact_rows(lines: Sequence[JudgedLine], seed: int) -> Iterable[Row]:
    by_model: dict[str, Callable[[JudgedLine], frozenset[str]]] = {
        "model": lambda judged: judged.chosen_set,
        "rule": lambda judged: frozenset({_by_rule(judged.line)}),
    }
    for model, choose in by_model.items():
        marks = [float(choose(judged) == judged.line.gold.intersection(judged.line.others)) for judged in lines]
        yield from _figures("exact", marks, lines, seed, model, None)


def _spread_rows(lines: Sequence[JudgedLine]) -> Iterable[Row]:
    """The novels on which the model does worst and best."""
    marks: dict[str, list[bool]] = {}
    for judged in lines:
        marks.setdefault(judged.line.novel, []).append(judged.chosen in judged.line.gold)
    by_accuracy = sorted(marks, key=lambda novel: float(np.mean(marks[novel])))
    for label, novel in (("lowest", by_accuracy[0]), ("highest", by_accuracy[-1])):
        accuracy = float(np.mean(marks[novel]))
        keys = {"task": "addressee", "model": "model", "condition": f"{label}, {novel}"}
        yield figure_row(keys, "accuracy", (accuracy, len(marks[novel])))


def _figures(
    metric: str, marks: Sequence[float], lines: Sequence[JudgedLine], seed: int, model: str, condition: str | None
) -> list[Row]:
    keys = {"task": "addressee", "model": model, "condition": condition}
    if not marks:
        return [figure_row(keys, metric, "there are no such lines")]
    novels = [judged.line.novel for judged in lines]
    figure = interval(marks, novels if len(set(novels)) > 1 else None, seed)
    return [figure_row(keys, metric, (figure, len(marks)))]
