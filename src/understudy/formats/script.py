r"""Understudy's own script form: what an author keeps in git, and what `export --format folder` writes.

    # part 1: Low Water                     a heading a level, with the level's own name, number and title
    ## chapter 2: The Keys
    ### scene 1: The chandlery, evening     the deepest heading begins a scene; its title is the setting
    Present: Ines Vale, Tobias Rook         who is there from the start, silent ones included
    [Rain. The lamp smokes.]                a description; `[Ines enters.]` and `[Ines leaves.]` move people
    INES: It was on the hook at noon.
    TOBIAS (not looking up): Was it.        an aside stays in the text
        An indented line goes on with what stands above it.
    % A comment.

`Present exactly:` instead of `Present:` says that who comes and goes is noted apart, by `+ Name, Name` (from the
next line on) and `- Name` (up to the last line), and not to be gathered from directions. A backslash takes the
meaning from any character of a name that would have one: `Salt \and Sons: Good morning.`
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from understudy.sources import (
    CastEntry,
    Description,
    Event,
    Heading,
    Movement,
    Opening,
    Reader,
    SceneStart,
    Speech,
    Unread,
)
from understudy.sources.directions import comings_and_goings
from understudy.sources.source import SourceFile
from understudy.story.types import Character

HEADING = re.compile(r"(#+)\s+([^\W\d_]+)\s+(\d+)\s*(?:[:：]\s*(.*))?")
PRESENT = re.compile(r"Present( exactly)?:\s*(.*)", re.IGNORECASE)
LABEL = r"(?:\\.|[^:：\\\[\]()（）#%])+?"
SPEECH = re.compile(rf"({LABEL})\s*([(（][^)）]*[)）])?\s*[:：](?:\s+|$)(.*)")
MOVED = re.compile(r"([+-])\s+(.*)")
AND = re.compile(r"\s*(?<!\\),\s*|\s+(?:and|&)\s+", re.IGNORECASE)
COMMA = re.compile(r"\s*(?<!\\),\s*")
ESCAPED = re.compile(r"\\(.)")

LONGEST_NUMBER = 9


def levels_of(source: SourceFile) -> tuple[str, ...]:
    """The names of the levels, by the depth of their headings; a first light pass over the file."""
    names: dict[int, str] = {}
    for number, line in SourceFile(source.path).lines():
        if line.startswith("#") and (match := HEADING.fullmatch(line.strip())):
            depth, name = len(match[1]), match[2].lower()
            if names.setdefault(depth, name) != name:
                raise source.error(f"a {names[depth]} was expected at this depth, not a {name}", number)
            if depth > 1 and depth - 1 not in names:
                raise source.error(f"a heading of depth {depth} has none of depth {depth - 1} above it", number)
    return (*(names[depth] for depth in sorted(names)), "line")


def events(source: SourceFile) -> Iterator[Event]:
    levels = levels_of(source)
    yield Opening(levels)
    yield from _ScriptParser(source, depth=len(levels) - 1).events()


class _ScriptParser:
    """One pass over the lines; a block (speech, description, scene head) is given out when the next one begins."""

    def __init__(self, source: SourceFile, depth: int) -> None:
        self.source, self.depth = source, depth
        self.position: tuple[int, ...] = ()
        self.exactly = False
        self.block: list[str] = []
        self.began = 0
        self.listed: set[str] = set()

    def events(self) -> Iterator[Event]:
        for number, line in self.source.lines():
            if not line.strip():
                continue
            goes_on = self.block and (line[0].isspace() or self._inside_brackets() or self._completes_head(line))
            if goes_on:
                self.block.append(line.strip())
                continue
            yield from self._close()
            self.block, self.began = [line.strip()], number
        yield from self._close()

    def _inside_brackets(self) -> bool:
        return self.block[0].startswith("[") and not self.block[-1].endswith("]")

    def _completes_head(self, line: str) -> bool:
        """A `Present:` line belongs to the scene heading right above it."""
        return len(self.block) == 1 and self.block[0].startswith("#") and PRESENT.fullmatch(line.strip()) is not None

    def _close(self) -> Iterator[Event]:
        if not self.block:
            return
        first, units, at = self.block[0], len(self.block), self.source.at(self.began)
        text = " ".join(self.block)
        if match := HEADING.fullmatch(first):
            yield from self._heading(match, units)
        elif text.startswith("["):
            if not text.endswith("]"):
                raise self.source.error("this [ is never closed by a ]", self.began)
            said = text[1:-1].strip()
            yield Description(at, said, () if self.exactly else comings_and_goings(said), units)
        elif first.startswith("%"):
            yield Unread(at, text, "a comment", units)
        elif self.exactly and (match := MOVED.fullmatch(text)):
            names = _names(match[2])
            entering = match[1] == "+"
            yield Movement(at, names if entering else (), () if entering else names, units)
        elif (match := SPEECH.fullmatch(text)) and match[3].strip():
            said = f"{match[2]} {match[3]}" if match[2] else match[3]
            speakers = tuple(_plain(name) for name in AND.split(match[1].strip()) if name.strip())
            yield Speech(at, speakers, said.strip(), units)
        else:
            yield Unread(at, text, "neither a speech, a [description] nor a heading", units)
        self.block = []

    def _heading(self, match: re.Match[str], units: int) -> Iterator[Event]:
        at = self.source.at(self.began)
        if len(match[3]) > LONGEST_NUMBER:
            raise self.source.error(f"a {match[2].lower()} numbered with over {LONGEST_NUMBER} digits", self.began)
        depth, number, title = len(match[1]), int(match[3]), (match[4] or "").strip()
        if len(self.position) < depth - 1:
            raise self.source.error("this heading skips a level", self.began)
        self.position = (*self.position[: depth - 1], number)
        if depth < self.depth:
            yield Heading(at, title, self.position, units)
            return
        present: tuple[str, ...] = ()
        self.exactly = False
        if len(self.block) > 1 and (listed := PRESENT.fullmatch(" ".join(self.block[1:]))):
            self.exactly, present = listed[1] is not None, _names(listed[2])
        for name in present:
            if name not in self.listed:  # somebody who never speaks is in the cast all the same
                self.listed.add(name)
                yield CastEntry(at, Character(name))
        yield SceneStart(at, title, present, number, units)


def _names(text: str) -> tuple[str, ...]:
    return tuple(_plain(name) for name in COMMA.split(text.strip()) if name.strip())


def _plain(name: str) -> str:
    return ESCAPED.sub(r"\1", name.strip())


READER = Reader("script", events)
