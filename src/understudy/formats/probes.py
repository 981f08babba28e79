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
the answers; the last one must say one of the `must` terms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import StoryError
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import TableParser, TomlTable
from understudy.story.types import Moment

__all__ = ["Probe", "is_said", "read_probes"]

KEYS = {"probe": {"who", "at", "facing", "ask", "must", "must_not", "kind"}}


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
        """The forbidden term that an answer, or an earlier one of the conversation, says; None if none does."""
        for text in (*earlier, answer):
            for term in self.must_not:
                if is_said(term, text):
                    return f"says '{term}'"
        return None

    def fault(self, answer: str, earlier: Sequence[str] = ()) -> str | None:
        """A violation, or that no required term is said; None where the answer is as it must be."""
        if violation := self.violation(answer, earlier):
            return violation
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
    parser = _ProbeParser(path)
    return tuple(parser.probe(table, story, line) for line, table in parser.tables("probe"))


class _ProbeParser(TableParser):
    KEYS = KEYS

    def probe(self, table: TomlTable, story: Story, line: int) -> Probe:
        messages = table.get("ask")
        if isinstance(messages, list):
            if not messages or not all(isinstance(message, str) and message.strip() for message in messages):
                raise self.error("'ask' must be a text in quotes, or a list of texts that are put in turn", line)
            table = table | {"ask": messages[-1]}
        who, at, ask = (self.required_text(table, key, line) for key in ("who", "at", "ask"))
        facing, kind = self.optional_text(table, "facing", line), self.optional_text(table, "kind", line)
        must, must_not = self._terms(table, "must", line), self._terms(table, "must_not", line)
        if not must and not must_not:
            raise self.error("a probe needs 'must' or 'must_not', or it could never fail", line)
        try:
            return Probe(
                who=story.character(who).name,
                at=story.moment(at),
                ask=ask,
                facing=story.character(facing).name if "facing" in table else None,
                must=must,
                must_not=must_not,
                kind=kind,
                before=tuple(messages[:-1]) if isinstance(messages, list) else (),
            )
        except StoryError as error:
            raise self.error(str(error), line) from error

    def _terms(self, table: TomlTable, key: str, line: int) -> tuple[str, ...]:
        terms = table.get(key, [])
        if not isinstance(terms, list) or not all(isinstance(term, str) and term.strip() for term in terms):
            raise self.error(f"'{key}' must be a list of terms", line)
        return tuple(terms)
