"""The questions of a PersonaChat split: a condition's file, a seeded sample of it, candidates for each question."""

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

__all__ = ["DISTRACTORS", "Questions", "dialogue_of", "files_of", "questions_in"]

DISTRACTORS = 19


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked on one condition; `drawn` says whether wrong replies had to be drawn for it."""

    condition: str
    file: Path
    examples: tuple[Example, ...]
    drawn: bool


def dialogue_of(example: Example) -> str:
    """The dialogue a question belongs to: its name is that and its place in it."""
    return example.name.partition(".")[0]


def files_of(data: Path, split: str, conditions: Sequence[str] | None = None) -> dict[str, Path]:
    """The file of each condition asked for; without a wish, of each that the folder has."""
    unknown = [one for one in conditions or () if one not in CONDITIONS]
    if unknown:
        raise InputError(f"there is no condition '{unknown[0]}': choose from {', '.join(CONDITIONS)}")
    found: dict[str, Path] = {}
    for condition in conditions or CONDITIONS:
        stem = f"{split}_{'none_original' if condition == 'none' else condition}"
        paths = [path for path in (data / f"{stem}.txt", data / f"{stem}_no_cands.txt") if path.is_file()]
        if paths:
            found[condition] = paths[0]
        elif conditions is not None:
            raise InputError(f"holds no {stem}.txt, which the condition '{condition}' is asked from", data)
    if not found:
        raise InputError(f"holds no {split}_none_original.txt, {split}_self_original.txt, ...: name their folder", data)
    return found


def questions_in(path: Path, condition: str, limit: int | None = None, seed: int = 0) -> Questions:
    """All questions of a file, or `limit` of them; the same ones for every condition of a split."""
    every = list(examples(SourceFile(path)))
    if not every:
        raise InputError("puts no question: it holds no reply", path)
    places = np.arange(len(every))
    if limit is not None and limit < len(every):
        places = np.sort(np.random.default_rng(seed).choice(len(every), limit, replace=False))
    drawn = any(len(every[place].candidates) == 1 for place in places)
    pool = _Replies(every) if drawn else None
    asked = []
    for place in places:
        example = every[place]
        if pool is not None and len(example.candidates) == 1:
            wrong = pool.others(example, np.random.default_rng((seed, int(place))))
            example = replace(example, candidates=(*wrong, *example.candidates), gold=frozenset({len(wrong)}))
        asked.append(example)
    return Questions(condition, path, tuple(asked), drawn)


class _Replies:
    """The replies of a file, to draw wrong ones from: other dialogues' replies, all different."""

    def __init__(self, every: Sequence[Example]) -> None:
        self._said = [(dialogue_of(example), example.candidates[min(example.gold)]) for example in every]

    def others(self, example: Example, rng: np.random.Generator) -> tuple[str, ...]:
        own, right = dialogue_of(example), example.candidates[min(example.gold)]
        chosen: dict[str, None] = {}
        for place in rng.permutation(len(self._said)):
            dialogue, text = self._said[place]
            if dialogue != own and text != right:
                chosen[text] = None
                if len(chosen) == DISTRACTORS:
                    break
        return tuple(chosen)
