"""How a screenplay counts time, told from a first pass over it.

Sections are levels of time where all of one depth say so alike (`# Act 1: Setup`, `# ACT II`) and count upward. Scene
numbers are used where every scene has a whole one and they count upward; else (1, 1A, 2) scenes are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

__all__ = [
    "CUE",
    "DEEPEST",
    "LONGEST_CUE",
    "SPOKEN",
    "ElementKind",
    "ScreenplayElement",
    "ScreenplayOutline",
    "numbered_section",
    "outline_of",
    "setting_and_number",
]

# The elements of a screenplay, as its formats have them: cue, dialogue, action, scene heading.

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

    What is sung under a cue is a lyric; what nobody is named for is a song.
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


SECTION = re.compile(r"([^\W\d_]+)\s+(\d{1,9}|[ivxlc]+|[a-z]+)\s*(?:[:：.–—-]\s*(.*))?", re.IGNORECASE)
SCENE_ONLY = re.compile(r"scene\s+(\d{1,9})", re.IGNORECASE)
ROMAN = re.compile(r"(x{0,3})(ix|iv|v?i{0,3})", re.IGNORECASE)
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
    if text in WORDS:
        return WORDS.index(text)
    match = ROMAN.fullmatch(text)
    if match is None:
        return None
    ones = match[2]
    return 10 * len(match[1]) + {"ix": 9, "iv": 4}.get(ones, 5 * ones.count("v") + ones.count("i"))
