"""The Fountain reader: how a script is told from a transcript and from prose, and its events.

Fountain has no signature. What tells it is cues: names in capitals on lines of their own with what is said below, where
a transcript has `Name: text` and prose has neither. Scene headings and a title page weigh with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from understudy.formats.fountain.comments import ScriptLine, UnclosedBoneyard, script_lines
from understudy.formats.screenplay import (
    CUE,
    DEEPEST,
    LONGEST_CUE,
    SCENE_HEADING,
    SPOKEN,
    TITLE_KEYS,
    ScreenplayElement,
    outline_of,
    screenplay_events,
)
from understudy.sources.events import Event, Reader
from understudy.sources.source import SourceFile

__all__ = ["PAGE_BREAK", "READER", "SYNOPSIS", "events", "fountain_elements", "plain"]


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file, after a first pass over it."""
    outline = outline_of(_elements(source.reopened()))
    yield from screenplay_events(source, outline, _elements(source))


def _elements(source: SourceFile) -> Iterator[ScreenplayElement]:
    try:
        yield from fountain_elements(source.lines())
    except UnclosedBoneyard as error:
        raise source.error(*error.args) from error


READER = Reader("fountain", events)


# Fountain's marks within a line: `*italics*`, `**bold**`, `***both***`, `_underlined_`, and `\*`, which is no mark.
#
# A mark opens where no space follows it and closes where none stands before it; `_` does neither within a word. What
# is opened and never closed in its line is an asterisk or underscore like any other: `He dialed *69.`
#
# A backslash takes the meaning from a character that has one (`ESCAPABLE`); a backslash right before such a backslash
# is one too, so that any text can be written. Elsewhere a backslash is a backslash.

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


# Fountain's lines as the elements of a screenplay (https://fountain.io/syntax).
#
#   Title: The Quarrel                     the title page: keys and values, before the first blank line
#   # Act 1: Before Dark                   a section
#   = They fall out.                       a synopsis
#   INT. KITCHEN - NIGHT #1#               a scene heading and its number; `.ANYWHERE` is forced
#   The kettle sings.                      action; `!ACTION` is forced, `> THE END <` is centered
#   ODILE (O.S.)                           a cue: capitals, a blank line above and none below; `@Odile` is forced
#   (softly)                               a parenthetical
#   You sold the piano.                    dialogue, up to a line that is blank (two spaces in it: dialogue goes on)
#   ~Where is it now?                      a lyric
#   CUT TO:                                a transition; `> FADE OUT` is forced
#   ===                                    a page break
#
# Our own parser and not a library: those for Python keep no line numbers, read the whole file at once, and are a few
# hundred lines themselves.

PAGE_BREAK = "a page break"
SYNOPSIS = "a synopsis"

ENTRY = re.compile(r"([^\W\d_][\w /-]{0,40}?)\s*:\s*(.*)")
INDENTED = re.compile(r"\t| {2,}\S| {3,}")
FORCED_HEADING = re.compile(r"\.[^.\s]")
SCENE_NUMBER = re.compile(r"(?<!\S)#([\w.-]+)#\s*$")
SECTION = re.compile(r"(#+)(?:\s+(\S.*)|([^#\s\d].*))")
BREAK = re.compile(r"={3,}")
FADE = re.compile(r"FADE (?:IN|OUT|TO BLACK|TO WHITE)[:.]?|(?:SMASH )?CUT TO BLACK[:.]?")

DIALOGUE = SPOKEN | {"cue", "forced cue"}


def fountain_elements(lines: Iterable[tuple[int, str]]) -> Iterator[ScreenplayElement]:
    """The elements of numbered lines; paragraphs of action and of dialogue are one each."""
    parser = _ElementParser()
    for item, before_blank in _with_next(script_lines(lines)):
        if isinstance(item, ScreenplayElement):
            yield item
        else:
            yield from parser.add(item, before_blank)
    yield from parser.close()


def _with_next(
    items: Iterable[ScriptLine | ScreenplayElement],
) -> Iterator[tuple[ScriptLine | ScreenplayElement, bool]]:
    """Each line with whether the next one is blank (or there is none)."""
    last: ScriptLine | None = None
    for item in items:
        if isinstance(item, ScreenplayElement):
            yield item, False
            continue
        if last is not None:
            yield last, item.is_blank
        last = item
    if last is not None:
        yield last, True


class _ElementParser:
    """One pass over the lines; a paragraph is given out when the next element begins."""

    def __init__(self) -> None:
        self._open: ScreenplayElement | None = None
        self._texts: list[str] = []
        self._units = 0
        self._in_dialogue = False
        self._after_blank = True
        self._at_start = True
        self._in_title_page = False

    def add(self, line: ScriptLine, before_blank: bool) -> Iterator[ScreenplayElement]:
        if line.is_blank:
            if self._in_dialogue and len(line.text) >= 2 and not before_blank:
                return  # dialogue goes on after a line of two spaces
            yield from self.close()
            self._in_dialogue = self._in_title_page = False
            self._after_blank = True
        elif self._is_in_title_page(line, before_blank):
            entry = None if INDENTED.match(line.text) else ENTRY.fullmatch(line.text.rstrip())
            yield from self._add(entry and ScreenplayElement("title entry", entry[2], 0, key=entry[1]), line)
        else:
            yield from self._add(self._element(line.text.strip(), before_blank), line)

    def close(self) -> Iterator[ScreenplayElement]:
        if self._open is not None:
            yield self._open._replace(text="\n".join(self._texts), units=self._units)
            self._open = None

    def _add(self, element: ScreenplayElement | None, line: ScriptLine) -> Iterator[ScreenplayElement]:
        """Without an element, or with more of the open paragraph, the line goes on with what is open."""
        if element is None:
            self._texts.append(plain(line.text.strip()))
            self._units += line.units
            return
        yield from self.close()
        self._open, self._texts, self._units = element._replace(line=line.number), [plain(element.text)], line.units

    def _is_in_title_page(self, line: ScriptLine, before_blank: bool) -> bool:
        if not (self._at_start or self._in_title_page):
            return False
        entry = ENTRY.fullmatch(line.text.rstrip())
        if INDENTED.match(line.text):
            inside = self._in_title_page
        elif entry is None:
            inside = False
        else:
            known = entry[1].casefold() in TITLE_KEYS
            inside = known or (self._in_title_page and bool(entry[2] or not before_blank))
        self._at_start, self._in_title_page = False, inside
        self._after_blank = True
        return inside

    def _element(self, text: str, before_blank: bool) -> ScreenplayElement | None:
        """The element that a line begins; None where it goes on with the paragraph above it."""
        begins, self._after_blank = self._after_blank, False
        element = self._marked(text, begins) or self._unmarked(text, begins, before_blank)
        self._in_dialogue = element.kind in DIALOGUE
        if element.kind in ("heading", "section", "transition", "unread"):
            self._after_blank = True
        goes_on = element.kind in ("action", "dialogue") and not begins and text[0] != "!"
        return None if goes_on and self._open is not None and self._open.kind == element.kind else element

    def _marked(self, text: str, begins: bool) -> ScreenplayElement | None:
        """What the first character says, where it says something."""
        first, rest = text[0], text[1:].strip()
        if first == "!":
            return ScreenplayElement("action", rest, 0)
        if first == "~":
            return ScreenplayElement("lyric" if self._in_dialogue else "song", rest, 0)
        if self._in_dialogue:
            return None
        if first == "." and begins and FORCED_HEADING.match(text):
            return _heading(rest)
        if first == "@" and begins and 0 < len(rest) <= LONGEST_CUE:
            cue = CUE.fullmatch(rest)
            return ScreenplayElement("forced cue", cue[1] if cue else rest, 0)
        if first == ">":
            is_centered = rest.endswith("<")
            return ScreenplayElement("centered" if is_centered else "transition", rest.rstrip("<").strip(), 0)
        if first == "=":
            return ScreenplayElement("unread", text, 0, key=PAGE_BREAK if BREAK.fullmatch(text) else SYNOPSIS)
        if section := SECTION.fullmatch(text):
            return ScreenplayElement("section", section[2] or section[3], 0, depth=min(len(section[1]), DEEPEST))
        return None

    def _unmarked(self, text: str, begins: bool, before_blank: bool) -> ScreenplayElement:
        if self._in_dialogue:
            return ScreenplayElement("parenthetical" if text[0] == "(" and text[-1] == ")" else "dialogue", text, 0)
        if begins and SCENE_HEADING.match(text):
            return _heading(text)
        if begins and ((text.endswith("TO:") and text.isupper()) or (before_blank and FADE.fullmatch(text))):
            return ScreenplayElement("transition", text, 0)
        if begins and not before_blank and len(text) <= LONGEST_CUE:
            cue = CUE.fullmatch(text)
            if cue and cue[1].isupper() and not cue[1].endswith(":"):
                return ScreenplayElement("cue", cue[1], 0)
        return ScreenplayElement("action", text, 0)


def _heading(text: str) -> ScreenplayElement:
    if number := SCENE_NUMBER.search(text):
        return ScreenplayElement("heading", text[: number.start()].strip(), 0, number=number[1])
    return ScreenplayElement("heading", text, 0)
