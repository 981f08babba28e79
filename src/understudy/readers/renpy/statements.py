"""The statements of a Ren'Py script, with the strings in them.

A statement is a line, and goes on in the next as long as a string or a bracket is open. Its block are the statements
below that are indented more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from understudy.readers.source import SourceFile

__all__ = ["STRING", "RenpyStatement", "paragraphs", "statements", "without_tags"]

STRING = (
    r"(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)"
)
MARK = re.compile(r"\\.|\"\"\"|'''|[\"'`#()\[\]{}]")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
TAG = re.compile(r"\{\{|\[\[|%%|\{[^{}]*\}")
NEW_LINE_TAGS = ("{p", "{w", "{vspace")  # after these the text goes on as a new sentence
EMPTY_LINE = re.compile(r"\n[^\S\n]*\n\s*")
MOST_CHARACTERS = 1_000_000
TAB = 8


@dataclass(frozen=True, slots=True)
class RenpyStatement:
    """Its first line, how far that is indented, its text without that, and how many non-blank lines it has."""

    number: int
    indent: int
    text: str
    units: int

    @property
    def word(self) -> str:
        """The word it begins with."""
        return self.text.split(None, 1)[0].rstrip(":") if self.text else ""

    @property
    def has_block(self) -> bool:
        return self.text.rstrip().endswith(":")


def statements(source: SourceFile) -> Iterator[RenpyStatement]:
    """All statements of a script, comments among them."""
    open_marks = _OpenMarks()
    lines: list[str] = []
    first = units = length = 0
    for number, line in source.lines():
        blank = not line or line.isspace()
        if not lines and blank:
            continue
        if not lines:
            first = number
        lines.append(line)
        units += not blank
        length += len(line)
        open_marks.scan(line)
        if length > MOST_CHARACTERS:
            break
        if not open_marks:
            yield _statement(first, lines, units)
            lines, units, length = [], 0, 0
    if lines:
        raise source.error(f"{open_marks} opens in this statement and is never closed", first)


def _statement(number: int, lines: list[str], units: int) -> RenpyStatement:
    expanded = lines[0].expandtabs(TAB)
    text = "\n".join(lines).strip()
    return RenpyStatement(number, len(expanded) - len(expanded.lstrip()), text, units)


class _OpenMarks:
    """The string or the brackets that are open at the end of a line."""

    def __init__(self) -> None:
        self.quote: str | None = None
        self.depth = 0

    def __bool__(self) -> bool:
        return self.quote is not None or self.depth > 0

    def __str__(self) -> str:
        return f"a string ({self.quote})" if self.quote else "a bracket"

    def scan(self, line: str) -> None:
        for match in MARK.finditer(line):
            mark = match[0]
            if self.quote is not None:
                if mark == self.quote or (len(self.quote) == 1 and mark[0] == self.quote):
                    self.quote = None
            elif mark == "#":
                return
            elif mark[0] in "\"'`":
                self.quote = mark
            elif mark in "([{":
                self.depth += 1
            elif mark in ")]}":
                self.depth = max(self.depth - 1, 0)


def paragraphs(string: str) -> Iterator[tuple[int, int, str]]:
    """What a string says: (lines below its first, lines, text) of its paragraphs, where it has three quotes."""
    width = 3 if string[:3] in ('"""', "'''") else 1
    inner = string[width:-width]
    if width == 1:
        yield 0, inner.count("\n") + 1, without_tags(inner)
        return
    start = 0
    for end in [*EMPTY_LINE.finditer(inner), None]:
        piece = inner[start : end.start() if end else len(inner)]
        if piece.strip():
            before = inner[: start + len(piece) - len(piece.lstrip())].count("\n")
            yield before, piece.strip().count("\n") + 1, without_tags(piece)
        start = end.end() if end else start


def without_tags(text: str) -> str:
    """The words alone: text tags such as {i} and {w=1} taken off, escapes read, in one line; `[names]` stay."""
    plain = ESCAPE.sub(lambda match: " " if match[1] in "n \n" else match[1], text)
    return " ".join(TAG.sub(_untagged, plain).split())


def _untagged(match: re.Match[str]) -> str:
    mark = match[0]
    if mark in ("{{", "[[", "%%"):
        return mark[0]
    return " " if mark.startswith(NEW_LINE_TAGS) else ""
