"""What the formats of screenplays share: their elements, how they count time, and the events they become.

Sections are levels of time where all of one depth say so alike (`# Act 1: Setup`, `# ACT II`) and count upward. Scene
numbers are used where every scene has a whole one and they count upward; else (1, 1A, 2) scenes are counted.

A cue with the dialogue, parentheticals and lyrics under it is a speech, its parentheticals kept in the text like a
script's asides. A scene heading begins a scene. Transitions and the title page are headings that do not move time, and
so are sections that are no levels of time. What stands before the first section of a level is number 0 of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from understudy.formats.transcript.labels import TranscriptStatistics
from understudy.sources import Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.directions import comings_and_goings
from understudy.sources.names import DeclaredNames
from understudy.sources.source import SourceFile
from understudy.text import roman_number

ElementKind: TypeAlias = Literal[
    "title entry",
    "heading",
    "action",
    "centered",
    "cue",
    "forced cue",
    "parenthetical",
    "dialogue",
    "lyric",
    "song",
    "transition",
    "section",
    "unread",
]


class ScreenplayElement(NamedTuple):
    """One element in plain words (no marks): a paragraph of action, a cue, a scene heading.

    What is sung under a cue is a lyric; without a cue it is a song.
    """

    kind: ElementKind
    text: str
    line: int
    units: int = 1
    number: str = ""
    """Of a scene, as written."""
    depth: int = 0
    """Of a section."""
    key: str = ""
    """Of an entry of the title page; of what is not read, the reason."""


CUE = re.compile(r"((?:\\.|[^()^\\])+?)\s*((?:(?<!\\)\([^()]*\)\s*)*)(\^)?")
"""A name, what is said about it in brackets, and the mark of dual dialogue."""

LONGEST_CUE = 500

SPOKEN = frozenset(("parenthetical", "dialogue", "lyric"))
"""What belongs to the cue above it."""

DEEPEST = 6
"""Of sections."""

SCENE_HEADING = re.compile(r"(?:INT\.?/EXT|EXT\.?/INT|INT|EXT|EST|I/E|E/I)[. ]", re.IGNORECASE)

TITLE_KEYS = frozenset(
    (
        *("title", "subtitle", "series", "show", "season", "episode", "episode title", "project", "production"),
        *("credit", "author", "authors", "written by", "writer", "writers", "created by", "story by", "source"),
        *("based on", "notes", "note", "draft date", "draft", "date", "revision", "version", "contact", "email"),
        *("contact info", "address", "phone", "copyright", "format", "font", "language", "lang", "genre", "logline"),
        *("tl", "tc", "tr", "cc", "bl", "br", "header", "footer", "watermark", "scenes are"),
        *("titel", "titre", "título", "titolo", "autor", "auteur", "autore"),
    )
)
"""Keys by one of which a title page begins; what comes after it may have any."""


SECTION = re.compile(r"([^\W\d_]+)\s+(\d{1,9}|[ivxlc]+|[a-z]+)\s*(?:[:：.–—-]\s*(.*))?", re.IGNORECASE)
SCENE_ONLY = re.compile(r"scene\s+(\d{1,9})", re.IGNORECASE)
LARGEST_ROMAN = 39  # `# Part C` is no hundredth part
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
CONTENT = SPOKEN | {"action", "centered", "cue", "forced cue", "song"}


@dataclass(frozen=True, slots=True)
class ScreenplayOutline:
    """How a screenplay counts time, and what it is called."""

    levels: tuple[str, ...] = ("scene", "line")
    numbered: bool = False
    title: str | None = None

    @property
    def depth(self) -> int:
        """Sections of at most this depth are levels of time."""
        return len(self.levels) - 2


@dataclass(slots=True)
class _SceneNumbers:
    """Do the scenes count upward, if sections down to `depth` are levels?"""

    depth: int
    last: int = -1
    in_scene: bool = False
    upward: bool = True

    def add(self, number: int | None) -> None:
        self.upward = self.upward and number is not None and number > self.last
        self.last, self.in_scene = number or 0, True

    def add_section(self, depth: int) -> None:
        if depth <= self.depth:
            self.last, self.in_scene = -1, False


@dataclass(slots=True)
class _SectionLevels:
    """The name of the level that the sections of each depth have in common; None where they have none."""

    names: dict[int, str | None] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def add(self, depth: int, text: str) -> None:
        numbered = numbered_section(text)
        name, number = (None, 0) if numbered is None else numbered[:2]
        if self.names.setdefault(depth, name) != name or number <= self.last.get(depth, -1):
            self.names[depth] = None
        self.last = {outer: last for outer, last in self.last.items() if outer < depth} | {depth: number}

    def levels(self) -> tuple[str, ...]:
        levels: list[str] = []
        while (name := self.names.get(len(levels) + 1)) is not None and name not in (*levels, "scene", "line"):
            levels.append(name)
        return tuple(levels)


def outline_of(elements: Iterable[ScreenplayElement]) -> ScreenplayOutline:
    """The first pass over a screenplay."""
    title: str | None = None
    scene_level = "scene"
    headings = False
    sections = _SectionLevels()
    numbers = [_SceneNumbers(depth) for depth in range(DEEPEST + 1)]
    for element in elements:
        if element.kind == "section":
            sections.add(element.depth, element.text)
            for count in numbers:
                count.add_section(element.depth)
        elif element.kind == "heading":
            headings, (_, number) = True, setting_and_number(element)
            for count in numbers:
                count.add(number)
        elif element.kind in CONTENT:
            for count in numbers:
                if not count.in_scene:
                    count.add(0)
        elif element.kind == "title entry" and element.key.casefold() == "title":
            title = title or " ".join(element.text.split()) or None
        elif element.kind == "title entry" and element.key.casefold() == "scenes are":
            scene_level = element.text.strip().casefold() or scene_level
    levels = sections.levels()
    return ScreenplayOutline((*levels, scene_level, "line"), headings and numbers[len(levels)].upward, title)


def setting_and_number(element: ScreenplayElement) -> tuple[str, int | None]:
    """`INT. KITCHEN #3#` is scene 3, set in the kitchen; `.SCENE 3` is scene 3 and does not say where it is set."""
    if element.number:
        plain = element.number.rstrip(".")
        return element.text, int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 9 else None
    if only := SCENE_ONLY.fullmatch(element.text):
        return "", int(only[1])
    return element.text, None


def numbered_section(text: str) -> tuple[str, int, str] | None:
    """(level, number, title) of a section such as `Act 2`, `ACT II`, `Part two: The Keys`."""
    match = SECTION.fullmatch(text.strip())
    number = None if match is None else _numeral(match[2].casefold())
    return None if match is None or number is None else (match[1].casefold(), number, (match[3] or "").strip())


def _numeral(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    number = WORDS.index(text) if text in WORDS else roman_number(text)
    return None if number is None or number > LARGEST_ROMAN else number


LONGEST = 1_000_000  # characters of a speech or paragraph


def screenplay_events(
    source: SourceFile, elements_of: Callable[[SourceFile], Iterable[ScreenplayElement]]
) -> Iterator[Event]:
    """The stream of events of one file, after a first pass over it."""
    outline = outline_of(elements_of(source.reopened()))
    yield Opening(outline.levels, outline.title)
    builder = _EventBuilder(source, outline)
    for element in elements_of(source):
        yield from builder.add(element)
    yield from builder.close_speech()


class _EventBuilder:
    """What is open at the current position: the section, the scene, the speech."""

    def __init__(self, source: SourceFile, outline: ScreenplayOutline) -> None:
        self._source, self._outline = source, outline
        self._position: tuple[int, ...] = ()
        self._in_scene = False
        self._cue: ScreenplayElement | None = None
        self._speech: list[ScreenplayElement] = []
        self._size = 0
        self._declared = DeclaredNames()
        self._labels = TranscriptStatistics()

    def add(self, element: ScreenplayElement) -> Iterator[Event]:
        at = self._source.at(element.line)
        if element.kind == "unread":  # a note in the midst of a speech does not end it
            yield Unread(at, element.text, element.key, element.units)
            return
        element = element._replace(text=" ".join(element.text.split()))
        if self._cue is not None and element.kind in SPOKEN:
            self._check_size(element)
            self._speech.append(element)
            return
        yield from self.close_speech()
        self._size = 0
        self._check_size(element)
        match element.kind:
            case "title entry":
                titled = element.key.casefold() == "title"
                yield Heading(at, element.text if titled else f"{element.key}: {element.text}", units=element.units)
            case "transition":
                yield Heading(at, element.text, units=element.units)
            case "section":
                yield from self._section(element)
            case "heading":
                setting, number = setting_and_number(element)
                yield from self._enter_section(element)
                self._in_scene = True
                yield SceneStart(at, setting, number=number if self._outline.numbered else None, units=element.units)
            case "cue" | "forced cue":
                self._cue = element
            case _:
                yield from self._enter_scene(element)
                yield Description(at, element.text, comings_and_goings(element.text), element.units)

    def close_speech(self) -> Iterator[Event]:
        """The speech that is open, if any, with what was written under its cue."""
        cue, self._cue = self._cue, None
        if cue is None:
            return
        at = self._source.at(cue.line)
        units = cue.units + sum(element.units for element in self._speech)
        text = " ".join(element.text for element in self._speech if element.text)
        self._speech = []
        if not text:
            yield Unread(at, cue.text, "a cue without words", units)
            return
        yield from self._enter_scene(cue)
        if cue.kind == "cue":
            yield Speech(at, self._labels.speakers(cue.text), text, units)
            return
        yield from self._declared.entries(at, cue.text)  # a forced cue is spelt as it is meant
        yield Speech(at, (cue.text,), text, units)

    def _section(self, element: ScreenplayElement) -> Iterator[Event]:
        at = self._source.at(element.line)
        numbered = numbered_section(element.text)
        if element.depth > self._outline.depth or numbered is None:
            yield Heading(at, element.text, units=element.units)
            return
        outer = element.depth - 1
        self._position = (*self._position[:outer], *(0,) * (outer - len(self._position)), numbered[1])
        self._in_scene = False
        yield Heading(at, numbered[2], self._position, element.units)

    def _enter_section(self, element: ScreenplayElement) -> Iterator[Event]:
        """What stands before the first section of a level is in number 0 of it."""
        missing = self._outline.depth - len(self._position)
        if missing:
            self._position = (*self._position, *(0,) * missing)
            yield Heading(self._source.at(element.line), "", self._position, units=0)

    def _enter_scene(self, element: ScreenplayElement) -> Iterator[Event]:
        if not self._in_scene:
            yield from self._enter_section(element)
            self._in_scene = True
            yield SceneStart(self._source.at(element.line), "", number=0 if self._outline.numbered else None, units=0)

    def _check_size(self, element: ScreenplayElement) -> None:
        self._size += len(element.text)
        if self._size > LONGEST:
            message = f"more than {LONGEST:,} characters in one piece: this is no screenplay"
            raise self._source.error(message, element.line)
