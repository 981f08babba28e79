"""`probes.toml`: what a named character must, and must not, say at a moment.

    [[probe]]
    who = "Ines Vale"
    at = "2.3"
    facing = "Tobias Rook"
    ask = "Where is the brass key?"
    must = ["hook", "drawer"]          one of these is said
    must_not = ["lighthouse"]          none of these is said
    kind = "object"

A violation is a `must_not` term said, or no `must` term where one is required.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import CastError, StoryError
from understudy.readers.story_folder import load_toml, quoted
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["Probe", "read_probes"]

KEYS = {"who", "at", "facing", "ask", "must", "must_not", "kind"}


@dataclass(frozen=True, slots=True)
class Probe:
    """One question, and the terms by which the answer is judged."""

    who: str
    at: Moment
    ask: str
    facing: str | None = None
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    kind: str = ""

    def violation(self, answer: str) -> str | None:
        """What is wrong with an answer, or None."""
        for term in self.must_not:
            if _said(term, answer):
                return f"says '{term}'"
        if self.must and not any(_said(term, answer) for term in self.must):
            return f"says none of {', '.join(repr(term) for term in self.must)}"
        return None


def _said(term: str, answer: str) -> bool:
    if term.isascii():
        return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", answer, re.IGNORECASE) is not None
    return term in answer


def read_probes(path: Path, story: Story) -> tuple[Probe, ...]:
    """The probes of a story, each checked against its cast and its time."""
    document, text = load_toml(path)
    tables = document.get("probe", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise CastError("write [[probe]] with two brackets, one for each", path)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.strip() == "[[probe]]"]
    return tuple(
        _probe(table, story, path, lines[index] if len(lines) == len(tables) else 1)
        for index, table in enumerate(tables)
    )


def _probe(table: dict[str, Any], story: Story, path: Path, line: int) -> Probe:
    for key in table.keys() - KEYS:
        raise CastError(f"'{key}' is unknown in [[probe]]: it has {', '.join(sorted(KEYS))}", path, line)
    for key in ("who", "at", "ask"):
        if not isinstance(table.get(key), str):
            raise CastError(f"'{key}' is missing or not a text in quotes", path, line)
    for key in ("facing", "kind"):
        if not isinstance(table.get(key, ""), str):
            raise CastError(f"'{key}' is {quoted(table[key])}, not a text in quotes", path, line)
    must, must_not = (_terms(table, key, path, line) for key in ("must", "must_not"))
    if not must and not must_not:
        raise CastError("a probe needs 'must' or 'must_not', or it could never fail", path, line)
    try:
        facing = table.get("facing")
        return Probe(
            who=story.character(table["who"]).name,
            at=story.moment(table["at"]),
            ask=table["ask"],
            facing=None if facing is None else story.character(facing).name,
            must=must,
            must_not=must_not,
            kind=table.get("kind", ""),
        )
    except StoryError as error:
        raise CastError(str(error), path, line) from error


def _terms(table: dict[str, Any], key: str, path: Path, line: int) -> tuple[str, ...]:
    terms = table.get(key, [])
    if not isinstance(terms, list) or not all(isinstance(term, str) and term.strip() for term in terms):
        raise CastError(f"'{key}' must be a list of terms", path, line)
    return tuple(terms)
