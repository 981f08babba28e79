"""Replies that people have judged: how much does this sound like this character?

DIR/*.json          a character each: {"what the user said<TAB>the reply": how many of five said 'likely'}
DIR/names.json      {file: [novel file, character]}, novel files as they lie in the data folder
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import InputError
from understudy.lexical.rows import Reals

__all__ = ["UNFIT", "JudgedReplies", "judged_in"]

NAMES = "names.json"
UNFIT = 1  # a reply that at most so many found likely


@dataclass(frozen=True, slots=True)
class JudgedReplies:
    """One character's replies; `novel` is the file of {character: [lines]} that has the sample lines."""

    file: Path
    novel: Path
    character: str
    replies: tuple[str, ...]
    scores: Reals

    @property
    def unfit(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return self.scores <= UNFIT


def judged_in(folder: Path, data: Path) -> list[JudgedReplies]:
    """Every character of a folder of judgements; novels are looked for in `data`, or in its folder NaroU."""
    names = _object(folder / NAMES)
    novels = data / "NaroU" if (data / "NaroU").is_dir() else data
    judged = []
    for file in sorted(names):
        entry = names[file]
        if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(part, str) for part in entry):
            raise InputError(f"does not say for '{file}' [novel file, character]", folder / NAMES)
        novel, character = novels / entry[0], entry[1]
        if not novel.is_file():
            raise InputError(f"is not there, and {file} is about a character of it: name the folder with --data", novel)
        scores = _object(folder / file)
        if not scores or not all("\t" in key and _is_number(score) for key, score in scores.items()):
            raise InputError("is not {'user utterance<TAB>reply': score}", folder / file)
        replies = tuple(key.split("\t", 1)[1] for key in scores)
        judged.append(
            JudgedReplies(folder / file, novel, character, replies, np.array(list(scores.values()), dtype=np.float64))
        )
    if not judged:
        raise InputError("names no file of judgements", folder / NAMES)
    return judged


def _object(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("is not there: judgements are JSON files, and names.json says whose", path) from error
    except ValueError as error:
        raise InputError(f"is not JSON in UTF-8 ({error})", path) from error
    if not isinstance(document, dict):
        raise InputError("is not a JSON object", path)
    return document


def _is_number(score: object) -> bool:
    return isinstance(score, int | float) and not isinstance(score, bool)
