"""What a Fountain script says to its writers alone: boneyards `/* */` and notes `[[ ]]`, cut out before all else.

A boneyard goes over any number of lines and leaves an empty line where it took a whole one. A note ends with its
paragraph: it goes over a blank line only where that holds two spaces. Without its end it is no note. A line that is
all note is not there at all, so that a note within a speech does not end it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from understudy.formats.screenplay import ScreenplayElement

__all__ = ["BONEYARD", "NOTE", "ScriptLine", "UnclosedBoneyard", "script_lines"]

BONEYARD = "cut out (boneyard)"
NOTE = "a note"
CLOSED_NOTE = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
LONGEST_NOTE = 200  # lines


class UnclosedBoneyard(Exception):
    """The file ends in a boneyard that began in `line`."""

    def __init__(self, line: int) -> None:
        super().__init__(r"this /* is never closed by a */: close it, or write /\* where no boneyard is meant", line)
        self.line = line


class ScriptLine(NamedTuple):
    """A line without its comments, and how many source lines its words come from."""

    number: int
    text: str
    units: int

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def script_lines(lines: Iterable[tuple[int, str]]) -> Iterator[ScriptLine | ScreenplayElement]:
    """The lines of a script, and apart from them what is not read."""
    return _without_notes(_without_boneyards(lines))


def _without_boneyards(lines: Iterable[tuple[int, str]]) -> Iterator[ScriptLine | ScreenplayElement]:
    began: int | None = None
    for number, line in lines:
        units = 1 if line.strip() else 0
        if began is None and "/*" not in line:
            yield ScriptLine(number, line, units)
            continue
        left: list[str] = []
        cut: list[str] = []
        at = 0
        while at <= len(line):
            mark = "/*" if began is None else "*/"
            found = line.find(mark, at)
            end = len(line) if found < 0 else found
            (left if began is None else cut).append(line[at:end])
            if found < 0:
                break
            began, at = (number if began is None else None), found + len(mark)
        text = "".join(left)
        text_units = units if text.strip() else 0
        if units:
            yield ScreenplayElement("unread", " ".join(cut).strip(), number, units - text_units, key=BONEYARD)
        yield ScriptLine(number, text if text_units else "", text_units)
    if began is not None:
        raise UnclosedBoneyard(began)


def _without_notes(lines: Iterator[ScriptLine | ScreenplayElement]) -> Iterator[ScriptLine | ScreenplayElement]:
    ahead: deque[ScriptLine | ScreenplayElement] = deque()
    while True:
        item = ahead.popleft() if ahead else next(lines, None)
        if item is None:
            return
        if isinstance(item, ScreenplayElement) or "[[" not in item.text:
            yield item
        else:
            yield from _cut_notes(item, lines, ahead)


def _cut_notes(
    first: ScriptLine, lines: Iterator[ScriptLine | ScreenplayElement], ahead: deque[ScriptLine | ScreenplayElement]
) -> Iterator[ScriptLine | ScreenplayElement]:
    """A line with notes in it, with the lines over which they go on, as one line without them."""
    parts = [first]
    while parts[-1].text.rfind("[[") > parts[-1].text.rfind("]]"):
        rest = _rest_of_note(lines, ahead)
        if not rest:
            break
        parts += rest
    whole = "\n".join(part.text for part in parts)
    end = whole.rfind("]]") + 2 if "]]" in whole else 0
    notes = CLOSED_NOTE.findall(whole, 0, end)
    words = (CLOSED_NOTE.sub(_line_ends, whole[:end]) + whole[end:]).split("\n")
    units = sum(part.units for part, left in zip(parts, words) if left.strip())
    note_units = sum(part.units for part in parts) - units
    for note in notes:
        yield ScreenplayElement("unread", " ".join(note.split()), first.number, note_units, key=NOTE)
        note_units = 0
    if units:
        yield ScriptLine(first.number, "".join(words), units)


def _line_ends(note: re.Match[str]) -> str:
    return "\n" * note[0].count("\n")


def _rest_of_note(
    lines: Iterator[ScriptLine | ScreenplayElement], ahead: deque[ScriptLine | ScreenplayElement]
) -> list[ScriptLine]:
    """The lines up to the one in which a note ends, taken from those to come; none where it does not end."""
    for index in range(LONGEST_NOTE):
        if index == len(ahead):
            item = next(lines, None)
            if item is None:
                return []
            ahead.append(item)
        item = ahead[index]
        if isinstance(item, ScreenplayElement) or (len(item.text) < 2 and item.is_blank):
            return []
        if "]]" in item.text:
            inner = [ahead.popleft() for _ in range(index + 1)]
            return [line for line in inner if isinstance(line, ScriptLine)]
    return []
