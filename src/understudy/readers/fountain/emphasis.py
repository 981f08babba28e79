r"""Fountain's marks within a line: `*italics*`, `**bold**`, `***both***`, `_underlined_`, and `\*`, which is no mark.

A mark opens where no space follows it and closes where none stands before it; `_` does neither within a word. What is
opened and never closed in its line is an asterisk or underscore like any other: `He dialed *69.`

A backslash takes the meaning from a character that has one (`ESCAPABLE`); a backslash right before such a backslash is
one too, so that any text can be written. Elsewhere a backslash is a backslash.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["ESCAPABLE", "plain"]

ESCAPABLE = frozenset(r"*_[]()^@!.>~=#")
MARK = re.compile(r"\\++|\*++|_")


class _Mark(NamedTuple):
    """A run of marks: where it lies in the text's pieces, and whether it may open and close."""

    piece: int
    opens: bool
    closes: bool


def plain(line: str) -> str:
    """A line as it is read: marks of emphasis off, escaped characters as themselves."""
    if not MARK.search(line):
        return line
    pieces: list[str] = []
    marks: list[_Mark] = []
    at = 0
    while match := MARK.search(line, at):
        pieces.append(line[at : match.start()])
        run, at = match[0], match.end()
        if run[0] == "\\":
            if line[at : at + 1] in ESCAPABLE:
                escapes = len(run) % 2
                pieces.append("\\" * (len(run) // 2) + line[at : at + escapes])
                at += escapes
            else:
                pieces.append(run)
            continue
        before, after = line[match.start() - 1 : match.start()], line[at : at + 1]
        inside_word = run == "_" and before.isalnum() and after.isalnum()
        marks.append(
            _Mark(
                len(pieces),
                bool(after) and not after.isspace() and not inside_word,
                bool(before) and not before.isspace() and not inside_word,
            )
        )
        pieces.append(run)
    pieces.append(line[at:])
    for piece in _paired(pieces, marks):
        pieces[piece] = ""
    return "".join(pieces)


def _paired(pieces: list[str], marks: list[_Mark]) -> list[int]:
    """The marks that open or close something. A pair takes the meaning from what was opened within it."""
    opened: dict[str, list[int]] = {}
    paired: list[int] = []
    for mark in marks:
        run = pieces[mark.piece]
        if len(run) > 3:
            continue
        waiting = opened.setdefault(run, [])
        if mark.closes and waiting:
            opening = waiting.pop()
            paired += (opening, mark.piece)
            for others in opened.values():
                while others and others[-1] > opening:
                    others.pop()
        elif mark.opens:
            waiting.append(mark.piece)
    return paired
