"""Trainer of the `addressee` model, from novels whose quotations have their addressees (PDNC).

    data/NOVEL/quotation_info.csv, data/NOVEL/character_info.csv

A novel is read as if it were a script: quotations in order, narration left out. A passage is a run of quotations
without a gap of more than 2,000 bytes between them; present are those who speak in it and those who are spoken to, as a
script lists those who are there and say nothing. With q as the model has it and
G the addressees who are present,

    loss = - sum over lines of ln(sum over c in G of q_c) + |w * std of x|^2 / (2 C)

over lines that are said to one or two, so that where it is two, either will do.
"""

from __future__ import annotations

import ast
import csv
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.lexical.logistic import minimize
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import ModelFolder
from understudy.metrics.statistics import interval
from understudy.people.addressees import (
    FEATURES,
    MODEL,
    AddresseeModel,
    Dialogue,
    EpithetUse,
    dialogue_of,
    feature_rows,
)
from understudy.people.names import CharacterNames
from understudy.training.dialogues import sha256_of
from understudy.training.loop import Progress, no_progress
from understudy.training.task import TrainingTask, check_output, write_trained_model
from understudy.training.writer.corpora import join_parts

__all__ = ["AddressedLine", "AddresseeSettings", "fit_addressees", "held_out", "novel_lines", "novels_in", "train"]

QUOTATIONS, CHARACTERS = "quotation_info.csv", "character_info.csv"
GAP = 2_000  # bytes between quotations that end a passage
NOBODY = "_"  # begins the labels of speakers whom nobody can name
TOLERANCE = 1e-6
SMALLEST = 1e-300
FEW = 2  # a line that is said to more people than these tells little of how one is chosen
BY_HAND = {"directed": 6.0, "called and silent": 2.5}
"""Weights of what only scripts have: directions such as '(to Ross)', and lists of those who are there but silent."""


@dataclass(frozen=True, slots=True)
class AddresseeSettings:
    """`strength` is C of the regression."""

    strength: float = 10.0


@dataclass(frozen=True, slots=True)
class AddressedLine:
    """A line of a novel: the evidence for each of those present, and who was addressed."""

    novel: str
    dialogue: Dialogue
    index: int
    evidence: Reals
    gold: frozenset[str]

    @property
    def others(self) -> list[str]:
        return self.dialogue.others(self.index)

    @property
    def is_gold(self) -> NDArray[np.bool_]:
        return np.array([who in self.gold for who in self.others], dtype=np.bool_)


def train(task: TrainingTask[AddresseeSettings], progress: Progress) -> ModelFolder:
    check_output(task.out, task.fresh)
    begun = time.perf_counter()
    folders = novels_in(task.data)
    novels = {folder.name: novel_lines(folder, with_silent=True) for folder in folders}
    lines = [line for novel in novels.values() for line in novel]
    model = fit_addressees(lines, task.settings.strength)
    card = {
        "agent": MODEL,
        "what": "Whom a line is said to: the weights of what a script shows of it",
        "language": "en",
        "licence": "Apache-2.0",
        "source": "PDNC: the speakers and addressees annotated in its novels, and their quotations as evidence; "
        "no text of them is in the weights",
        "features": list(FEATURES),
        "data": {f"{folder.name}/{QUOTATIONS}": sha256_of(folder / QUOTATIONS) for folder in folders},
        "settings": asdict(task.settings),
        "novels": len(folders),
        "lines": len(lines),
        "figures": _figures(novels, task.settings.strength, progress),
    }
    return write_trained_model(task.out, card, model.tensors(), None, time.perf_counter() - begun)


def _figures(novels: Mapping[str, Sequence[AddressedLine]], strength: float, progress: Progress) -> dict[str, Any]:
    """Of lines in which somebody present is addressed, each novel with the weights of the others; 95% intervals."""
    if len(novels) < 2:
        return {}
    right, of_novel = [], []
    for line, probabilities in held_out(novels, novels, strength, progress):
        if line.is_gold.any():
            right.append(float(line.is_gold[probabilities.argmax()]))
            of_novel.append(line.novel)
    figure = interval(right, of_novel)
    return {"accuracy": {name: round(value, 4) for name, value in figure._asdict().items()}, "lines": len(right)}


def held_out(
    judged: Mapping[str, Sequence[AddressedLine]],
    learned_from: Mapping[str, Sequence[AddressedLine]],
    strength: float,
    progress: Progress = no_progress,
) -> Iterator[tuple[AddressedLine, Reals]]:
    """Every judged line with a choice, and the probabilities for its others by a model of all other novels."""
    for number, name in enumerate(judged):
        progress(number, len(judged), 0.0)
        others = [line for other, lines in learned_from.items() if other != name for line in lines]
        model = fit_addressees(others, strength)
        yield from ((line, model.probabilities(line.evidence)) for line in judged[name] if len(line.evidence))


def novels_in(folder: Path) -> list[Path]:
    novels = [path for path in sorted(folder.iterdir()) if (path / QUOTATIONS).is_file()]
    if not novels:
        raise InputError(f"holds no novels: folders with a {QUOTATIONS}, as PDNC has them, belong here", folder)
    return novels


def novel_lines(folder: Path, with_silent: bool = False) -> list[AddressedLine]:
    """Every line of a novel that is said to somebody, with its evidence.

    `with_silent`: those who are addressed in a passage are present too, though they never speak in it.
    """
    quotations = list(_quotations(folder / QUOTATIONS))
    aliases = _aliases(folder / CHARACTERS)
    people = dict.fromkeys((*aliases, *(quotation.speaker for quotation in quotations)))
    names = CharacterNames({who: (who, *aliases.get(who, ())) for who in people if not who.startswith(NOBODY)})
    passages = list(_passages(quotations))
    use = EpithetUse()
    dialogues = []
    for passage in passages:
        silent = {who: None for quotation in passage for who in sorted(quotation.addressees) if with_silent}
        spoken = [(quotation.speaker, quotation.text) for quotation in passage]
        dialogue = dialogue_of(tuple(silent), spoken, names)
        dialogues.append(dialogue)
        for cues, neighbours in zip(dialogue.cues, dialogue.neighbours):
            use.add(cues, neighbours)
    return [
        AddressedLine(folder.name, dialogue, index, evidence, gold)
        for passage, dialogue in zip(passages, dialogues)
        for index, (quotation, evidence) in enumerate(zip(passage, feature_rows(dialogue, use)))
        if (gold := quotation.addressees - {quotation.speaker})
    ]


@dataclass(frozen=True, slots=True)
class AddressedQuotation:
    start: int
    end: int
    speaker: str
    addressees: frozenset[str]
    text: str


def _quotations(path: Path) -> Iterator[AddressedQuotation]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = sorted(
                (ast.literal_eval(row["quoteByteSpans"]), number, row)
                for number, row in enumerate(csv.DictReader(file))
            )
        for spans, _, row in rows:
            to = frozenset(name for name in ast.literal_eval(row["addressees"] or "[]") if not name.startswith(NOBODY))
            text = join_parts(ast.literal_eval(row["subQuotationList"]))
            yield AddressedQuotation(int(spans[0][0]), int(spans[-1][1]), row["speaker"], to, text)
    except (KeyError, ValueError, SyntaxError, TypeError, IndexError) as error:
        raise InputError(f"is not a list of quotations as PDNC has them ({error})", path) from error


def _aliases(path: Path) -> dict[str, tuple[str, ...]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {
                row["Main Name"]: tuple(sorted(map(str, ast.literal_eval(row["Aliases"]))))
                for row in csv.DictReader(file)
            }
    except (KeyError, ValueError, SyntaxError, TypeError) as error:
        raise InputError(f"is not a list of characters as PDNC has them ({error})", path) from error


def _passages(quotations: Sequence[AddressedQuotation]) -> Iterator[list[AddressedQuotation]]:
    passage: list[AddressedQuotation] = []
    for quotation in quotations:
        if passage and quotation.start - passage[-1].end > GAP:
            yield passage
            passage = []
        passage.append(quotation)
    if passage:
        yield passage


def fit_addressees(lines: Sequence[AddressedLine], strength: float) -> AddresseeModel:
    marks = [line.is_gold for line in lines]
    choices = [number for number, gold in enumerate(marks) if gold.any() and not gold.all() and gold.sum() <= FEW]
    if not choices:
        raise InputError("nobody can be told from anybody in these novels: more lines are needed")
    evidence = np.vstack([lines[number].evidence for number in choices])
    gold = np.concatenate([marks[number] for number in choices]).astype(np.float64)
    sizes = np.array([len(marks[number]) for number in choices])
    weights = _fit_choices(evidence, gold, sizes, strength)
    for feature, weight in BY_HAND.items():
        weights[FEATURES.index(feature)] = weight
    return AddresseeModel(weights)


def _fit_choices(evidence: Reals, gold: Reals, sizes: NDArray[np.int64], strength: float) -> Reals:
    scale = np.where(evidence.std(axis=0) > 0, evidence.std(axis=0), 1.0)
    rows = evidence / scale
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owners = np.repeat(np.arange(len(sizes)), sizes)

    def objective(weights: Reals) -> tuple[float, Reals]:
        scores = rows @ weights
        scores -= np.maximum.reduceat(scores, starts)[owners]
        powers = np.exp(scores)
        totals = np.add.reduceat(powers, starts)
        wanted = np.maximum(np.add.reduceat(powers * gold, starts), SMALLEST)
        pull = weights / strength
        loss = float(np.log(totals).sum() - np.log(wanted).sum() + weights @ pull / 2)
        return loss, rows.T @ (powers / totals[owners] - powers * gold / wanted[owners]) + pull

    diagonal = np.full(rows.shape[1], len(sizes) / 10 + 1 / strength)
    return minimize(objective, np.zeros(rows.shape[1]), diagonal, TOLERANCE * len(sizes)) / scale
