"""The fit of the `addressee` model to novels whose quotations have their addressees (PDNC).

A novel is read as if it were a script: quotations in order, narration left out. A passage is a run of quotations
without a gap of more than 2,000 bytes between them; present are those who speak in it and those who are spoken to, as a
script lists those who are there and say nothing. With q as the model has it and
G the addressees who are present,

    loss = - sum over lines of ln(sum over c in G of q_c) + |w * std of x|^2 / (2 C)

over lines that are said to one or two, so that where it is two, either will do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.lexical.logistic import minimize
from understudy.language.lexical.rows import Reals
from understudy.people.addressees import FEATURES, AddresseeModel, Dialogue, EpithetUse, dialogue_of, feature_rows
from understudy.people.names import CharacterNames
from understudy.training.loop import Progress, no_progress
from understudy.training.pdnc import NOBODY, NovelSpeech, character_aliases, speeches_of

STRENGTH = 10.0  # C of the regression
GAP = 2_000  # bytes between quotations that end a passage
TOLERANCE = 1e-6
SMALLEST = 1e-300
FEW = 2  # a line that is said to more people than these tells little of how one is chosen
BY_HAND = {"directed": 6.0, "called and silent": 2.5}
"""Weights of what only scripts have: directions such as '(to Ross)', and lists of those who are there but silent."""


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


def novel_lines(folder: Path, with_silent: bool = False) -> list[AddressedLine]:
    """Every line of a novel that is said to somebody, with its evidence.

    `with_silent`: those who are addressed in a passage are present too, though they never speak in it.
    """
    speeches, aliases = speeches_of(folder), character_aliases(folder)
    people = dict.fromkeys((*aliases, *(speech.speaker for speech in speeches)))
    names = CharacterNames({who: (who, *aliases.get(who, ())) for who in people if not who.startswith(NOBODY)})
    passages = list(_passages(speeches))
    use = EpithetUse()
    dialogues = []
    for passage in passages:
        silent = {who: None for speech in passage for who in sorted(_addressed(speech)) if with_silent}
        dialogue = dialogue_of(tuple(silent), [(speech.speaker, speech.text) for speech in passage], names)
        dialogues.append(dialogue)
        for cues, neighbours in zip(dialogue.cues, dialogue.neighbours):
            use.add(cues, neighbours)
    return [
        AddressedLine(folder.name, dialogue, index, evidence, gold)
        for passage, dialogue in zip(passages, dialogues)
        for index, (speech, evidence) in enumerate(zip(passage, feature_rows(dialogue, use)))
        if (gold := _addressed(speech) - {speech.speaker})
    ]


def _addressed(speech: NovelSpeech) -> frozenset[str]:
    return frozenset(name for name in speech.addressees if not name.startswith(NOBODY))


def _passages(speeches: Sequence[NovelSpeech]) -> Iterator[list[NovelSpeech]]:
    passage: list[NovelSpeech] = []
    for speech in speeches:
        if passage and speech.start - passage[-1].end > GAP:
            yield passage
            passage = []
        passage.append(speech)
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
