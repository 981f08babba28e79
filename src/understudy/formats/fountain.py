"""Screenplays in Fountain (https://fountain.io/syntax), the plain text that screenwriting programs share.

    Title: The Quarrel                     the title page: keys and values, before the first blank line
    # Act 1: Before Dark                   a section
    = They fall out.                       a synopsis
    INT. KITCHEN - NIGHT #1#               a scene heading and its number; `.ANYWHERE` is forced
    The kettle sings.                      action; `!ACTION` is forced, `> THE END <` is centered
    ODILE (O.S.)                           a cue: capitals, a blank line above and none below; `@Odile` is forced
    (softly)                               a parenthetical
    You sold the piano.                    dialogue, up to a line that is blank (two spaces in it: dialogue goes on)
    ~Where is it now?                      a lyric
    CUT TO:                                a transition; `> FADE OUT` is forced
    ===                                    a page break
    /* cut */ [[ a note ]]                 said to the writers alone, and not read

Our own parser and not a library: those for Python keep no line numbers, read the whole file at once, and are a few
hundred lines themselves.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO, NamedTuple

from understudy.formats.export import check_speech, heading_line, scenes_with_headings
from understudy.formats.screenplay import (
    CUE,
    DEEPEST,
    LONGEST_CUE,
    SCENE_HEADING,
    SPOKEN,
    TITLE_KEYS,
    ScreenplayElement,
    screenplay_events,
)
from understudy.sources import Reader
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story
from understudy.story.types import Scene


def _elements(source: SourceFile) -> Iterator[ScreenplayElement]:
    try:
        yield from fountain_elements(source.lines())
    except UnclosedBoneyard as error:
        raise source.error(*error.args) from error


READER = Reader("fountain", partial(screenplay_events, elements_of=_elements))


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


# Lines as elements of a screenplay.

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


# Boneyards `/* */` and notes `[[ ]]`, cut out before all else.
#
# A boneyard goes over any number of lines and leaves an empty line where it took a whole one. A note ends with its
# paragraph: it goes over a blank line only where that holds two spaces. Without its end it is no note. A line that is
# all note is not there at all, so that a note within a speech does not end it.

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
    items = _without_boneyards(lines)
    ahead: deque[ScriptLine | ScreenplayElement] = deque()
    while (item := ahead.popleft() if ahead else next(items, None)) is not None:
        if isinstance(item, ScreenplayElement) or "[[" not in item.text:
            yield item
        else:
            yield from _cut_notes(item, items, ahead)


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
            mark_at = line.find(mark, at)
            end = len(line) if mark_at < 0 else mark_at
            (left if began is None else cut).append(line[at:end])
            if mark_at < 0:
                break
            began, at = (number if began is None else None), mark_at + len(mark)
        text = "".join(left)
        text_units = units if text.strip() else 0
        if units:
            yield ScreenplayElement("unread", " ".join(cut).strip(), number, units - text_units, key=BONEYARD)
        yield ScriptLine(number, text if text_units else "", text_units)
    if began is not None:
        raise UnclosedBoneyard(began)


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
    words = (CLOSED_NOTE.sub(lambda note: "\n" * note[0].count("\n"), whole[:end]) + whole[end:]).split("\n")
    units = sum(part.units for part, left in zip(parts, words) if left.strip())
    note_units = sum(part.units for part in parts) - units
    for note in notes:
        yield ScreenplayElement("unread", " ".join(note.split()), first.number, note_units, key=NOTE)
        note_units = 0
    if units:
        yield ScriptLine(first.number, "".join(words), units)


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


# A story as a screenplay, which reads back as the same scenes and lines.
#
#     # act 1: Before Dark                   a level above scenes is a section
#     .A kitchen at night #1#                a setting is forced unless it is an INT. or EXT.; without one, `.SCENE 1`
#     !(The kettle sings.)                   a description is action, forced where it could be taken for something else
#     @Odile                                 a cue is forced, so that a name keeps its spelling
#     (softly)                               an aside at the start of a speech is a parenthetical
#
# A backslash stands before every character that would mean something where it stands. Who is present without speaking,
# facts and ties have no place in Fountain: `export_folder` writes these.

MEANING = r"[*_\[\]()^@!.>~=#]"
ESCAPED = re.compile(rf"(?<!\\)(\\*+)({MEANING})")
BEGINS = ("@", "!", ">", "~", "=", "#")
INTERIOR = re.compile(r"(?:INT|EXT|EST|INT\./EXT|INT/EXT|I/E)\.? \S")
INTERIOR_LIKE = re.compile(r"(?:INT|EXT|EST|I/E|E/I)\b", re.IGNORECASE)
ASIDE = re.compile(r"(\([^()]*\)) (\S.*)")


def export_fountain(story: Story, stream: IO[str]) -> int:
    """Write the story; returns how many lines it has."""
    check_speech(story)
    stream.write(f"Title: {_escaped(story.title)}\n")
    if story.levels[-2] != "scene":
        stream.write(f"Scenes are: {story.levels[-2]}\n")
    for scene, headings in scenes_with_headings(story):
        for numbers, title in headings:
            stream.write(f"\n{heading_line(story, numbers, _escaped(title))}\n")
        _write_scene(scene, stream)
    return story.count()[1]


def _write_scene(scene: Scene, stream: IO[str]) -> None:
    number = scene.moment.numbers[-1]
    if not scene.setting:
        stream.write(f"\n.SCENE {number}\n")
    elif INTERIOR.match(scene.setting):
        stream.write(f"\n{_escaped(scene.setting)} #{number}#\n")
    else:
        escape = "\\" if scene.setting[0] == "." else ""
        stream.write(f"\n.{escape}{_escaped(scene.setting)} #{number}#\n")
    for line in scene.lines:
        if line.speaker is None:
            stream.write(f"\n{_action(line.text)}\n")
        else:
            stream.write(f"\n@{_cue(line.speaker)}\n{_dialogue(line.text)}\n")


def _action(text: str) -> str:
    is_plain = text[:1].isalpha() and any(letter.islower() for letter in text) and not INTERIOR_LIKE.match(text)
    return _escaped(text) if is_plain else "!" + _escaped(text)


def _dialogue(text: str) -> str:
    if aside := ASIDE.fullmatch(text):
        return f"{_escaped(aside[1])}\n{_spoken(aside[2])}"
    return _spoken(text)


def _spoken(text: str) -> str:
    begins_element = text[:1] in BEGINS or (text[:1] == "." and text[1:2] != ".")
    return ("\\" if begins_element else "") + _escaped(text)


def _cue(name: str) -> str:
    return ESCAPED.sub(lambda match: 2 * match[1] + ("\\" if match[2] in "*_[()^" else "") + match[2], name)


def _escaped(text: str) -> str:
    """Text in which asterisks, underscores and doubled brackets are no marks, and backslashes stay what they are."""

    def escape(match: re.Match[str]) -> str:
        opens_note = match[2] == "[" and text[match.start() - 1 : match.start()] == "[" and not match[1]
        return 2 * match[1] + ("\\" if match[2] in "*_" or opens_note else "") + match[2]

    return ESCAPED.sub(escape, text)
