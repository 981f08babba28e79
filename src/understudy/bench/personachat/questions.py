"""The questions of a condition: those of its file, or a seeded sample of them.

Wrong replies are drawn from other dialogues of the file where it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from understudy.bench.published import CONDITIONS
from understudy.dialogue import Example
from understudy.errors import InputError
from understudy.readers.personachat import examples
from understudy.readers.source import SourceFile

__all__ = ["DISTRACTORS", "ConditionQuestions", "dialogue_of", "files_of", "questions_in", "sampled"]

DISTRACTORS = 19


@dataclass(frozen=True, slots=True)
class ConditionQuestions:
    """What is asked on one condition; `drawn` says whether wrong replies had to be drawn for it."""

    condition: str
    file: Path
    examples: tuple[Example, ...]
    drawn: bool


def sampled(every: Sequence[Example], count: int, seed: int) -> list[Example]:
    """So many of the questions, in their order; the same ones for every condition of a split."""
    if count >= len(every):
        return list(every)
    return [every[index] for index in np.sort(np.random.default_rng(seed).choice(len(every), count, replace=False))]


def dialogue_of(example: Example) -> str:
    """The dialogue a question belongs to: its name is that and its place in it."""
    return example.name.partition(".")[0]


def files_of(data: Path, split: str, conditions: Sequence[str] | None = None) -> dict[str, Path]:
    """The file of each condition asked for; without a wish, of each that the folder has."""
    unknown = [name for name in conditions or () if name not in CONDITIONS]
    if unknown:
        raise InputError(f"there is no condition '{unknown[0]}': choose from {', '.join(CONDITIONS)}")
    files: dict[str, Path] = {}
    for condition in conditions or CONDITIONS:
        stem = f"{split}_{'none_original' if condition == 'none' else condition}"
        paths = [path for path in (data / f"{stem}.txt", data / f"{stem}_no_cands.txt") if path.is_file()]
        if paths:
            files[condition] = paths[0]
        elif conditions is not None:
            raise InputError(f"holds no {stem}.txt, which the condition '{condition}' is asked from", data)
    if not files:
        raise InputError(f"holds no {split}_none_original.txt, {split}_self_original.txt, ...: name their folder", data)
    return files


def questions_in(path: Path, condition: str, limit: int | None = None, seed: int = 0) -> ConditionQuestions:
    """All questions of a file, or `limit` of them; the same ones for every condition of a split."""
    every = list(examples(SourceFile(path)))
    if not every:
        raise InputError("puts no question: it holds no reply", path)
    indices = np.arange(len(every))
    if limit is not None and limit < len(every):
        indices = np.sort(np.random.default_rng(seed).choice(len(every), limit, replace=False))
    drawn = any(len(every[index].candidates) == 1 for index in indices)
    pool = _Replies(every) if drawn else None
    questions = []
    for index in indices:
        example = every[index]
        if pool is not None and len(example.candidates) == 1:
            wrong = pool.others(example, np.random.default_rng((seed, int(index))))
            example = replace(example, candidates=(*wrong, *example.candidates), gold=frozenset({len(wrong)}))
        questions.append(example)
    return ConditionQuestions(condition, path, tuple(questions), drawn)


class _Replies:
    """The replies of a file, to draw wrong ones from: other dialogues' replies, all different."""

    def __init__(self, every: Sequence[Example]) -> None:
        self._said = [(dialogue_of(example), example.candidates[min(example.gold)]) for example in every]

    def others(self, example: Example, rng: np.random.Generator) -> tuple[str, ...]:
        own, right = dialogue_of(example), example.candidates[min(example.gold)]
        chosen: dict[str, None] = {}
        for index in rng.permutation(len(self._said)):
            dialogue, text = self._said[index]
            if dialogue != own and text != right:
                chosen[text] = None
                if len(chosen) == DISTRACTORS:
                    break
        return tuple(chosen)
