"""HPD's sessions as questions: the files of a folder, what of a question is given, and questions to learn from.

    given = 'candidates'                            nothing but the replies to choose from
            'dialogue'                              what was said, and who said it
            'dialogue+scene+attributes+relations'   and these parts; any of them may be left out

A test set has a right reply and wrong ones in each session. A training set has neither: there the last line of whoever
is asked is the right reply, and ten of their lines from other sessions are the wrong ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from understudy.errors import InputError
from understudy.formats.evidence import measure
from understudy.formats.hpd.reading import dialogue_examples, examples
from understudy.formats.recognition import is_hpd
from understudy.papers.hpd.parts import CANDIDATES, parts_of
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Example, Situation
from understudy.story.persona import Other, Persona

__all__ = ["ALL_PARTS", "CANDIDATES", "GIVEN", "judged_files", "load_questions", "training_questions", "withhold"]

DIALOGUE = "dialogue"
ALL_PARTS = "dialogue+scene+attributes+relations"
GIVEN = (
    "dialogue",
    "dialogue+scene",
    "dialogue+attributes",
    "dialogue+relations",
    "dialogue+attributes+relations",
    ALL_PARTS,
)
"""What is given by default, one after the other."""

POSITIVE = b'"positive_response"'
HEAD, BLOCK = 1 << 16, 1 << 20
WRONG = 10
FEWEST_CANDIDATES = 2


def judged_files(data: Path) -> list[Path]:
    """The test sets of a folder, or one by itself: HPD's files that have right replies."""
    if data.is_file():
        if not _is_hpd(data) or not _has_replies(data):
            raise InputError("is no test set of HPD: a JSON file of sessions with a positive_response", data)
        return [data]
    files = [path for path in sorted(data.glob("*.json")) if _is_hpd(path) and _has_replies(path)]
    if not files:
        raise InputError(
            "holds no test set of HPD: JSON files of sessions with a positive_response, such as en_test_set.json", data
        )
    return files


def _is_hpd(path: Path) -> bool:
    with path.open("rb") as file:
        return is_hpd(measure(file.read(HEAD), path))


def _has_replies(path: Path) -> bool:
    rest = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            if POSITIVE in rest + block:
                return True
            rest = block[-len(POSITIVE) :]
    return False


def load_questions(path: Path, limit: int | None = None, seed: int = 0) -> list[Example]:
    """The sessions of a file that have something to choose from, or a seeded sample of them."""
    every = [example for example in examples(SourceFile(path)) if len(example.candidates) >= FEWEST_CANDIDATES]
    if not every:
        raise InputError("has nothing to choose from: no session has a negative_response", path)
    if limit is None or limit >= len(every):
        return every
    return [every[index] for index in np.sort(np.random.default_rng(seed).choice(len(every), limit, replace=False))]


def training_questions(path: Path, seed: int = 0) -> list[Example]:
    """Questions to learn from: those of a test set, or made from the sessions of a training set."""
    if _has_replies(path):
        return load_questions(path)
    by_session: dict[str, Example] = {}
    for example in dialogue_examples(SourceFile(path)):
        by_session[example.name.rpartition(".")[0]] = example  # the last line of each session stays
    lines = [example.candidates[0] for example in by_session.values()]
    if len(set(lines)) <= WRONG:
        raise InputError(f"is too small to learn from: it needs more than {WRONG} sessions with a reply", path)
    return [
        replace(example, candidates=(*example.candidates, *_others(lines, index, seed)))
        for index, example in enumerate(by_session.values())
    ]


def _others(lines: Sequence[str], index: int, seed: int) -> tuple[str, ...]:
    chosen: dict[str, None] = {}
    for other in np.random.default_rng((seed, index)).permutation(len(lines)).tolist():
        if lines[other] != lines[index]:
            chosen[lines[other]] = None
        if len(chosen) == WRONG:
            break
    return tuple(chosen)


def withhold(example: Example, given: str) -> Example:
    """The question with only what is given of it."""
    if given == CANDIDATES:
        nobody = Persona("", language=example.situation.persona.language)
        return replace(example, situation=Situation(nobody), history=())
    words = given.split("+")
    parts = parts_of(given)
    if words[0] != DIALOGUE or set(words) != {DIALOGUE, *parts}:
        raise InputError(f"'{given}' cannot be given: write {ALL_PARTS}, with or without its parts, or {CANDIDATES}")
    situation = example.situation
    persona = situation.persona
    if "attributes" not in parts:
        persona = replace(persona, profile=(), attributes={}, found={})
    if "relations" not in parts:
        persona = replace(persona, relations=())
    shown = replace(
        situation,
        persona=persona,
        setting=situation.setting if "scene" in parts else "",
        faced=None if situation.faced is None else _shown(situation.faced, parts),
        present=tuple(_shown(other, parts) for other in _present(situation, example, parts)),
    )
    return replace(example, situation=shown)


def _shown(other: Other, parts: frozenset[str]) -> Other:
    return replace(
        other,
        profile=other.profile if "attributes" in parts else (),
        relations=other.relations if "relations" in parts else (),
    )


def _present(situation: Situation, example: Example, parts: frozenset[str]) -> Iterator[Other]:
    """Who is there without having spoken is told by attributes and relations alone."""
    spoke = {turn.speaker for turn in example.history}
    return (other for other in situation.present if parts & {"attributes", "relations"} or other.name in spoke)
