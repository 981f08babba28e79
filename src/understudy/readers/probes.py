"""`probes.toml`: what a named character must, and must not, say at a moment.

    [[probe]]
    who = "Ines Vale"
    at = "2.3"
    facing = "Tobias Rook"
    ask = "Where is the brass key?"
    must = ["hook", "drawer"]          one of these is said
    must_not = ["lighthouse"]          none of these is said
    kind = "object"

`ask` may be a list of messages that are put in turn, in one conversation. A violation is a `must_not` term in any of
the answers, or no `must` term in the last one where one is required.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import CastError, StoryError
from understudy.story import Moment
from understudy.storyfile import Story
from understudy.storyfile.toml_file import load_toml, quoted

__all__ = ["Probe", "is_said", "read_probes"]

KEYS = {"who", "at", "facing", "ask", "must", "must_not", "kind"}


@dataclass(frozen=True, slots=True)
class Probe:
    """One question, what is said before it, and the terms by which the answers are judged."""

    who: str
    at: Moment
    ask: str
    facing: str | None = None
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    kind: str = ""
    before: tuple[str, ...] = ()
    """Messages put before `ask` in the same conversation, in turn."""

    def violation(self, answer: str, earlier: Sequence[str] = ()) -> str | None:
        """What is wrong with an answer, or with one of the earlier answers of the conversation; None if nothing is."""
        for text in (*earlier, answer):
            for term in self.must_not:
                if is_said(term, text):
                    return f"says '{term}'"
        if self.must and not self.says_required(answer):
            return f"says none of {', '.join(repr(term) for term in self.must)}"
        return None

    def says_required(self, answer: str) -> bool:
        """Is one of the `must` terms in the answer?"""
        return any(is_said(term, answer) for term in self.must)


def is_said(term: str, text: str) -> bool:
    """Does a text contain a term, as whole words, whatever the case and the form of the apostrophe?"""
    term, text = (written.replace("\u2019", "'") for written in (term, text))
    if term.isascii():
        return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE) is not None
    return term in text


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
    messages = table.get("ask")
    if isinstance(messages, list):
        if not messages or not all(isinstance(message, str) and message.strip() for message in messages):
            raise CastError("'ask' must be a text in quotes, or a list of texts that are put in turn", path, line)
        table = table | {"ask": messages[-1]}
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
            before=tuple(messages[:-1]) if isinstance(messages, list) else (),
        )
    except StoryError as error:
        raise CastError(str(error), path, line) from error


def _terms(table: dict[str, Any], key: str, path: Path, line: int) -> tuple[str, ...]:
    terms = table.get(key, [])
    if not isinstance(terms, list) or not all(isinstance(term, str) and term.strip() for term in terms):
        raise CastError(f"'{key}' must be a list of terms", path, line)
    return tuple(terms)
